#include "tools/moving/target_features.h"

#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"

namespace itemdb::tools {
namespace {

GlobalSecondaryIndex IndexWithThreeKeyAttributes() {
  return {
      .index_name = "three",
      .key_schema = {{.attribute_name = "a", .key_type = KeyType::kHash},
                     {.attribute_name = "b", .key_type = KeyType::kRange},
                     {.attribute_name = "c", .key_type = KeyType::kRange}},
      // An engine that wants it must not be misunderstood.
      .provisioned_throughput = ProvisionedThroughput{.read_capacity_units = 1, .write_capacity_units = 1}};
}

// Without the endpoint at its beginning, and not too long: several are one message.
std::string Shortened(std::string said, const std::string& endpoint) {
  constexpr size_t kMost = 120;
  if (said.starts_with(endpoint + " ")) said.erase(0, endpoint.size() + 1);
  if (said.size() <= kMost) return said;
  size_t size = kMost;
  while ((static_cast<unsigned char>(said[size]) & 0xC0) == 0x80) --size;
  return said.substr(0, size) + "...";
}

}  // namespace

TargetFeatures::TargetFeatures(const Side& target)
    : target_(target), table_name_(absl::StrFormat("itemdb_no_such_table_%08x", std::random_device()())) {}

absl::Status TargetFeatures::Try(Feature feature) const {
  const Client& client = target_.client();
  const CallOptions call = target_.call();
  UpdateTableRequest update{.table_name = table_name_};
  switch (feature) {
    case Feature::kStream:
      update.stream_enabled = true;
      update.stream_view_type = StreamViewType::kKeysOnly;
      break;
    case Feature::kDeletionProtection:
      update.deletion_protection_enabled = true;
      break;
    case Feature::kTableClass:
      update.table_class = TableClass::kStandardInfrequentAccess;
      break;
    case Feature::kEncryption:
      update.sse_specification = SseSpecification{.enabled = true};
      break;
    case Feature::kOnDemandThroughput:
      update.on_demand_throughput =
          OnDemandThroughput{.max_read_request_units = 1, .max_write_request_units = 1};
      break;
    case Feature::kIndexKeysOfSeveralAttributes:
      update.create_global_secondary_index = IndexWithThreeKeyAttributes();
      update.attribute_definitions = {
          {.attribute_name = "a", .attribute_type = ScalarAttributeType::kString},
          {.attribute_name = "b", .attribute_type = ScalarAttributeType::kString},
          {.attribute_name = "c", .attribute_type = ScalarAttributeType::kString}};
      break;
    case Feature::kTimeToLive:
      return client
          .UpdateTimeToLive({.table_name = table_name_, .enabled = true, .attribute_name = "expires"}, call)
          .status();
    case Feature::kVectorIndexes:
      return client
          .SearchVectors({.table_name = table_name_, .index_name = "vectors", .search_vector = {1, 0}}, call)
          .status();
    case Feature::kTransactWriteItems: {
      TransactWriteItemsRequest request;
      request.actions = {TransactPut{.table_name = table_name_, .item = {{"pk", "a"}}}};
      return client.TransactWriteItems(request, call).status();
    }
    case Feature::kTransactGetItems: {
      TransactGetItemsRequest request;
      request.gets = {{.table_name = table_name_, .key = {{"pk", "a"}}}};
      return client.TransactGetItems(request, call).status();
    }
  }
  return client.UpdateTable(update, call).status();
}

absl::StatusOr<std::string> TargetFeatures::Ask(Feature feature) {
  if (const auto known = answers_.find(feature); known != answers_.end()) return known->second;
  // Without the words that Side adds.
  absl::Status own_words;
  const absl::Status said = target_.Try([&] { return own_words = Try(feature); });
  const bool got_no_answer = absl::IsUnavailable(said) || absl::IsDeadlineExceeded(said) ||
                             absl::IsCancelled(said) || absl::IsUnauthenticated(said);
  if (got_no_answer) return said;
  // Other answers, such as that the key may not call it, do not say that it is not there.
  const bool lacks_it = absl::IsUnimplemented(said) || absl::IsInvalidArgument(said);
  return answers_[feature] = lacks_it ? std::string(own_words.message()) : "";
}

absl::StatusOr<bool> TargetFeatures::HasOperation(const std::string& operation) {
  if (target_.is_itemd()) return true;
  std::string lacking;
  if (operation == "TransactWriteItems") {
    ITEMDB_ASSIGN_OR_RETURN(lacking, Ask(Feature::kTransactWriteItems));
  } else if (operation == "TransactGetItems") {
    ITEMDB_ASSIGN_OR_RETURN(lacking, Ask(Feature::kTransactGetItems));
  }
  return lacking.empty();
}

absl::StatusOr<std::string> TargetFeatures::LackingFor(const TableDescription& table,
                                                       const std::string& time_to_live_attribute) {
  if (target_.is_itemd()) return "";
  const TableDefinition& definition = table.definition;
  const std::string& name = definition.table_name;
  struct Use {
    Feature feature;
    bool is_used;
    std::string words;
    // In the source, so that it is not used any more.
    std::string remedy;
  };
  const std::string update = "itemctl table update " + name + " ";
  std::vector<Use> uses = {
      {Feature::kTimeToLive, !time_to_live_attribute.empty(), "time to live", "itemctl ttl disable " + name},
      {Feature::kStream, definition.stream_enabled, "a stream", update + "--no-stream-enabled"},
      {Feature::kDeletionProtection, definition.deletion_protection_enabled, "deletion protection",
       update + "--no-deletion-protection-enabled"},
      {Feature::kTableClass, definition.table_class == TableClass::kStandardInfrequentAccess,
       "the table class STANDARD_INFREQUENT_ACCESS", update + "--table-class STANDARD"},
      {Feature::kEncryption,
       definition.sse_specification.has_value() && definition.sse_specification->enabled,
       "a setting of encryption", update + "--sse-type DISABLED"},
      {Feature::kOnDemandThroughput, definition.on_demand_throughput.has_value(), "an on-demand throughput",
       update + "--on-demand-throughput -1,-1"},
  };
  for (const GlobalSecondaryIndex& index : definition.global_secondary_indexes)
    uses.push_back({Feature::kIndexKeysOfSeveralAttributes, index.key_schema.size() > 2,
                    "the index " + index.index_name + ", whose key has more than two attributes",
                    "itemctl index drop " + name + " " + index.index_name});
  for (const VectorIndex& index : definition.vector_indexes)
    uses.push_back(
        {Feature::kVectorIndexes, true, "the vector index " + index.index_name, "delete it by UpdateTable"});
  std::vector<std::string> lacking;
  for (const Use& use : uses) {
    if (!use.is_used) continue;
    ITEMDB_ASSIGN_OR_RETURN(const std::string said, Ask(use.feature));
    if (!said.empty())
      lacking.push_back(
          absl::StrCat(use.words, " (", use.remedy, "; it says: ", Shortened(said, target_.endpoint()), ")"));
  }
  if (lacking.empty()) return "";
  return absl::StrCat("the target ", target_.endpoint(), " lacks what table ", name,
                      " has: ", absl::StrJoin(lacking, "; "),
                      ": change the source so, or move to a target that has it");
}

}  // namespace itemdb::tools
