// UpdateTable, TagTable and UntagTable: changes of a definition.

#include <algorithm>
#include <map>
#include <set>

#include "storage/base/limits.h"
#include "storage/catalog/definition_checks.h"

namespace itemdb::storage {
namespace {

// Sets the throughput of table and indexes from the request, and checks it against the billing mode.
absl::Status UpdateThroughput(const v1::UpdateTableRequest& request, v1::TableDescription* definition) {
  if (!v1::BillingMode_IsValid(request.billing_mode()))
    return Invalid("SEM-093", "BillingMode must be PROVISIONED or PAY_PER_REQUEST");
  if (request.billing_mode() != v1::BILLING_MODE_UNSPECIFIED)
    definition->set_billing_mode(request.billing_mode());
  const bool provisioned = definition->billing_mode() == v1::BILLING_MODE_PROVISIONED;
  const absl::Status throughput_error =
      Invalid("SEM-093", "ProvisionedThroughput must not be given when BillingMode is PAY_PER_REQUEST");
  if (request.has_provisioned_throughput()) {
    if (!provisioned) return throughput_error;
    *definition->mutable_provisioned_throughput() = request.provisioned_throughput();
  }

  std::set<std::string> named;
  for (const auto& update : request.global_secondary_index_throughputs()) {
    if (!named.insert(update.index_name()).second)
      return Invalid("SEM-095", "index " + update.index_name() + " is named twice");
    auto* indexes = definition->mutable_global_secondary_indexes();
    auto index = std::find_if(indexes->begin(), indexes->end(),
                              [&update](const auto& i) { return i.index_name() == update.index_name(); });
    if (index == indexes->end())
      return ValidationError("SEM-039",
                             "The table does not have the specified index: " + update.index_name());
    if (!update.has_provisioned_throughput() && !update.has_on_demand_throughput() &&
        !update.has_warm_throughput()) {
      return Invalid("SEM-095", "ProvisionedThroughput, OnDemandThroughput or WarmThroughput of index " +
                                    update.index_name() + " must be given");
    }
    if (update.has_provisioned_throughput()) {
      if (!provisioned) return throughput_error;
      *index->mutable_provisioned_throughput() = update.provisioned_throughput();
    }
    ITEMDB_RETURN_IF_ERROR(ApplySettings(update, &*index));
  }
  // PAY_PER_REQUEST clears the throughput of the earlier billing mode.
  if (!provisioned) definition->clear_provisioned_throughput();
  ITEMDB_RETURN_IF_ERROR(CheckThroughput("table " + definition->table_name(), provisioned,
                                         definition->has_provisioned_throughput(),
                                         definition->provisioned_throughput()));
  for (auto& index : *definition->mutable_global_secondary_indexes()) {
    if (!provisioned) index.clear_provisioned_throughput();
    ITEMDB_RETURN_IF_ERROR(CheckThroughput("index " + index.index_name(), provisioned,
                                           index.has_provisioned_throughput(),
                                           index.provisioned_throughput()));
  }
  return absl::OkStatus();
}

// Sets which images change records carry and whether the Streams API shows them (SEM-098, SEM-101).
absl::Status UpdateStream(const v1::UpdateTableRequest& request, v1::TableDescription* definition) {
  const v1::StreamViewType view = request.stream_view_type();
  const bool has_view = view != v1::STREAM_VIEW_TYPE_UNSPECIFIED;
  if (!v1::StreamViewType_IsValid(view))
    return Invalid("SEM-101", "StreamViewType must be KEYS_ONLY, NEW_IMAGE, OLD_IMAGE or NEW_AND_OLD_IMAGES");
  if (request.has_stream_enabled() && request.stream_enabled() == definition->stream_enabled()) {
    return Invalid("SEM-098", std::string("the stream of table ") + definition->table_name() +
                                  " is already " + (definition->stream_enabled() ? "enabled" : "disabled"));
  }
  if (request.has_stream_enabled() && request.stream_enabled() != has_view) {
    return Invalid("SEM-098",
                   "StreamViewType must be given when StreamEnabled is true, and not when it is false");
  }
  if (has_view && definition->stream_enabled() && view != definition->stream_view_type())
    return Invalid("SEM-098", "StreamViewType cannot be changed while the stream of table " +
                                  definition->table_name() + " is enabled: disable it first");
  if (has_view) definition->set_stream_view_type(view);
  if (!request.has_stream_enabled()) return absl::OkStatus();
  definition->set_stream_enabled(request.stream_enabled());
  if (!request.stream_enabled()) definition->set_stream_view_type(v1::STREAM_VIEW_TYPE_KEYS_ONLY);
  return absl::OkStatus();
}

std::map<std::string, std::string> TagsOf(const v1::TableDescription& definition) {
  std::map<std::string, std::string> tags;
  for (const v1::Tag& tag : definition.tags()) tags.emplace(tag.key(), tag.value());
  return tags;
}

void SetTags(const std::map<std::string, std::string>& tags, v1::TableDescription* definition) {
  definition->clear_tags();
  for (const auto& [key, value] : tags) {
    v1::Tag* tag = definition->add_tags();
    tag->set_key(key);
    tag->set_value(value);
  }
}

size_t CharactersIn(const std::string& text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; });
}

}  // namespace

absl::StatusOr<v1::TableDescription> UpdatedDefinition(v1::TableDescription definition,
                                                       const v1::UpdateTableRequest& request) {
  const bool throughput = request.billing_mode() != v1::BILLING_MODE_UNSPECIFIED ||
                          request.has_provisioned_throughput() ||
                          !request.global_secondary_index_throughputs().empty();
  const bool settings = request.table_class() != v1::TABLE_CLASS_UNSPECIFIED ||
                        request.has_sse_specification() || request.has_on_demand_throughput() ||
                        request.has_warm_throughput();
  const bool indexes = !request.global_secondary_index_creations().empty() ||
                       !request.global_secondary_index_deletions().empty();
  if (!throughput && !settings && !indexes && !request.has_deletion_protection_enabled() &&
      request.stream_view_type() == v1::STREAM_VIEW_TYPE_UNSPECIFIED && !request.has_stream_enabled()) {
    return Invalid("SEM-095",
                   "at least one of BillingMode, ProvisionedThroughput, index throughputs, an index to "
                   "create or delete, DeletionProtectionEnabled, StreamEnabled, StreamViewType, TableClass, "
                   "SSESpecification, OnDemandThroughput and WarmThroughput must be given");
  }
  if (throughput && indexes) {
    return Invalid("SEM-095",
                   "one request may change throughput, create an index or delete one, not several of these");
  }
  if (indexes) ITEMDB_RETURN_IF_ERROR(ApplyIndexChanges(request, &definition));
  ITEMDB_RETURN_IF_ERROR(ApplySettings(request, &definition));
  if (throughput) ITEMDB_RETURN_IF_ERROR(UpdateThroughput(request, &definition));
  if (request.has_deletion_protection_enabled())
    definition.set_deletion_protection_enabled(request.deletion_protection_enabled());
  ITEMDB_RETURN_IF_ERROR(UpdateStream(request, &definition));
  return definition;
}

absl::StatusOr<v1::TableDescription> TaggedDefinition(v1::TableDescription definition,
                                                      const v1::TagTableRequest& request) {
  if (request.tags().empty()) return Invalid("OP-08", "Tags must name at least one tag");
  std::map<std::string, std::string> tags = TagsOf(definition);
  std::set<std::string> named;
  for (const v1::Tag& tag : request.tags()) {
    if (!named.insert(tag.key()).second)
      return Invalid("OP-08", "the tag key " + tag.key() + " is given twice");
    if (tag.key().empty() || CharactersIn(tag.key()) > kMaxTagKeyCharacters) {
      return Invalid("OP-08", "a tag key must be 1 to " + std::to_string(kMaxTagKeyCharacters) +
                                  " characters long; one has " + std::to_string(CharactersIn(tag.key())));
    }
    if (CharactersIn(tag.value()) > kMaxTagValueCharacters) {
      return Invalid("OP-08", "the value of the tag " + tag.key() + " has " +
                                  std::to_string(CharactersIn(tag.value())) + " characters; at most " +
                                  std::to_string(kMaxTagValueCharacters) + " are allowed");
    }
    tags[tag.key()] = tag.value();
  }
  if (tags.size() > kMaxTags) {
    return Invalid("OP-08", "table " + definition.table_name() + " would have " +
                                std::to_string(tags.size()) + " tags; at most " + std::to_string(kMaxTags) +
                                " are allowed");
  }
  SetTags(tags, &definition);
  return definition;
}

absl::StatusOr<v1::TableDescription> UntaggedDefinition(v1::TableDescription definition,
                                                        const v1::UntagTableRequest& request) {
  if (request.tag_keys().empty()) return Invalid("OP-08", "TagKeys must name at least one tag");
  std::map<std::string, std::string> tags = TagsOf(definition);
  for (const std::string& key : request.tag_keys()) tags.erase(key);
  SetTags(tags, &definition);
  return definition;
}

}  // namespace itemdb::storage
