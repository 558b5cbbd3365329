// Table class, encryption, on-demand and warm throughput: only checked, stored and shown (SEM-099).

#include <algorithm>

#include "storage/base/limits.h"
#include "storage/catalog/definition_checks.h"

namespace itemdb::storage {
namespace {

// What a table or index on demand can take from its beginning.
constexpr int64_t kOnDemandReadUnits = 12'000;
constexpr int64_t kOnDemandWriteUnits = 4'000;

template <typename Definition>
void Raise(bool provisioned, Definition* definition) {
  const v1::ProvisionedThroughput& set = definition->provisioned_throughput();
  v1::WarmThroughput* warm = definition->mutable_warm_throughput();
  warm->set_read_units_per_second(
      std::max(warm->read_units_per_second(), provisioned ? set.read_capacity_units() : kOnDemandReadUnits));
  warm->set_write_units_per_second(std::max(warm->write_units_per_second(),
                                            provisioned ? set.write_capacity_units() : kOnDemandWriteUnits));
}

absl::Status ApplyTableClass(v1::TableClass table_class, v1::TableDescription* definition) {
  if (!v1::TableClass_IsValid(table_class))
    return Invalid("SEM-099", "TableClass must be STANDARD or STANDARD_INFREQUENT_ACCESS");
  if (table_class != v1::TABLE_CLASS_UNSPECIFIED) definition->set_table_class(table_class);
  return absl::OkStatus();
}

absl::Status ApplySse(const v1::SseSpecification& sse, v1::TableDescription* definition) {
  const std::string& type = sse.sse_type();
  if (!type.empty() && type != "AES256" && type != "KMS")
    return Invalid("SEM-099", "SSEType must be AES256 or KMS; it is '" + type + "'");
  if (!sse.enabled() && (!type.empty() || !sse.kms_master_key_id().empty()))
    return Invalid("SEM-099",
                   "SSEType and KMSMasterKeyId must not be given when SSESpecification is not enabled");
  if (type == "AES256" && !sse.kms_master_key_id().empty())
    return Invalid("SEM-099", "KMSMasterKeyId must not be given when SSEType is AES256");
  if (sse.kms_master_key_id().size() > kMaxKmsKeyIdBytes) {
    return Invalid("SEM-099", "KMSMasterKeyId has " + std::to_string(sse.kms_master_key_id().size()) +
                                  " bytes; at most " + std::to_string(kMaxKmsKeyIdBytes) + " are allowed");
  }
  *definition->mutable_sse_specification() = sse;
  if (sse.enabled() && type.empty()) definition->mutable_sse_specification()->set_sse_type("KMS");
  return absl::OkStatus();
}

// `definition` is a table's or an index's.
template <typename Definition>
absl::Status ApplyOnDemand(const v1::OnDemandThroughput& wanted, Definition* definition) {
  if (!wanted.has_max_read_request_units() && !wanted.has_max_write_request_units())
    return Invalid("SEM-099",
                   "OnDemandThroughput must give MaxReadRequestUnits, MaxWriteRequestUnits or both");
  auto legal = [](int64_t units) { return units >= 1 || units == -1; };
  if ((wanted.has_max_read_request_units() && !legal(wanted.max_read_request_units())) ||
      (wanted.has_max_write_request_units() && !legal(wanted.max_write_request_units()))) {
    return Invalid(
        "SEM-099",
        "MaxReadRequestUnits and MaxWriteRequestUnits of OnDemandThroughput must be at least 1, or -1 for no "
        "bound");
  }
  v1::OnDemandThroughput kept = definition->on_demand_throughput();
  kept.MergeFrom(wanted);
  if (kept.max_read_request_units() == -1) kept.clear_max_read_request_units();
  if (kept.max_write_request_units() == -1) kept.clear_max_write_request_units();
  definition->clear_on_demand_throughput();
  if (kept.ByteSizeLong() > 0) *definition->mutable_on_demand_throughput() = kept;
  return absl::OkStatus();
}

// `owner`: "table" or "index NAME".
template <typename Definition>
absl::Status ApplyWarm(const v1::WarmThroughput& wanted, const std::string& owner, Definition* definition) {
  if (!wanted.has_read_units_per_second() && !wanted.has_write_units_per_second())
    return Invalid("SEM-099", "WarmThroughput must give ReadUnitsPerSecond, WriteUnitsPerSecond or both");
  if ((wanted.has_read_units_per_second() && wanted.read_units_per_second() < 1) ||
      (wanted.has_write_units_per_second() && wanted.write_units_per_second() < 1)) {
    return Invalid("SEM-099",
                   "ReadUnitsPerSecond and WriteUnitsPerSecond of WarmThroughput must be at least 1");
  }
  const v1::WarmThroughput& current = definition->warm_throughput();
  const bool fewer_reads =
      wanted.has_read_units_per_second() && wanted.read_units_per_second() < current.read_units_per_second();
  if (fewer_reads || (wanted.has_write_units_per_second() &&
                      wanted.write_units_per_second() < current.write_units_per_second())) {
    return Invalid("SEM-099", std::string("Requested ") +
                                  (fewer_reads ? "ReadUnitsPerSecond" : "WriteUnitsPerSecond") +
                                  " for WarmThroughput for " + owner +
                                  " is lower than current WarmThroughput, decreasing WarmThroughput is not "
                                  "supported");
  }
  definition->mutable_warm_throughput()->MergeFrom(wanted);
  return absl::OkStatus();
}

template <typename Request, typename Definition>
absl::Status ApplyThroughputs(const Request& request, const std::string& owner, Definition* definition) {
  if (request.has_on_demand_throughput())
    ITEMDB_RETURN_IF_ERROR(ApplyOnDemand(request.on_demand_throughput(), definition));
  if (request.has_warm_throughput())
    ITEMDB_RETURN_IF_ERROR(ApplyWarm(request.warm_throughput(), owner, definition));
  return absl::OkStatus();
}

template <typename Request>
absl::Status Apply(const Request& request, v1::TableDescription* definition) {
  ITEMDB_RETURN_IF_ERROR(ApplyTableClass(request.table_class(), definition));
  if (request.has_sse_specification())
    ITEMDB_RETURN_IF_ERROR(ApplySse(request.sse_specification(), definition));
  return ApplyThroughputs(request, "table", definition);
}

}  // namespace

void RaiseWarmThroughput(bool provisioned, v1::GlobalSecondaryIndexDescription* index) {
  Raise(provisioned, index);
}

void RaiseWarmThroughput(v1::TableDescription* definition) {
  const bool provisioned = definition->billing_mode() == v1::BILLING_MODE_PROVISIONED;
  Raise(provisioned, definition);
  for (auto& index : *definition->mutable_global_secondary_indexes()) Raise(provisioned, &index);
}

absl::Status ApplySettings(const v1::CreateTableRequest& request, v1::TableDescription* definition) {
  RaiseWarmThroughput(definition);
  definition->set_table_class(v1::TABLE_CLASS_STANDARD);
  return Apply(request, definition);
}

absl::Status ApplySettings(const v1::UpdateTableRequest& request, v1::TableDescription* definition) {
  return Apply(request, definition);
}

absl::Status ApplySettings(const v1::GlobalSecondaryIndex& request,
                           v1::GlobalSecondaryIndexDescription* index) {
  return ApplyThroughputs(request, "index " + request.index_name(), index);
}

absl::Status ApplySettings(const v1::GlobalSecondaryIndexThroughput& request,
                           v1::GlobalSecondaryIndexDescription* index) {
  return ApplyThroughputs(request, "index " + request.index_name(), index);
}

}  // namespace itemdb::storage
