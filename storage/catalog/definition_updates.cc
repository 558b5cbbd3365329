// UpdateTable, TagTable and UntagTable: changes of a definition.

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/catalog/definition_checks.h"
#include "storage/values/utf8.h"

namespace itemdb::storage {
namespace {

// A throughput that is set already is refused (SEM-095). `owner`: "the table" or "the index NAME". `kind`:
// "table" or "index".
absl::Status CheckChanges(const v1::ProvisionedThroughput& current, const v1::ProvisionedThroughput& wanted,
                          const std::string& owner, const std::string& kind) {
  if (current.read_capacity_units() != wanted.read_capacity_units() ||
      current.write_capacity_units() != wanted.write_capacity_units())
    return absl::OkStatus();
  const auto units = [&](const std::string& name, int64_t value) {
    return "Current " + name + " provisioned for the " + kind + ": " + std::to_string(value) +
           ". Requested " + name + ": " + std::to_string(value) + ". ";
  };
  return ValidationError(
      "SEM-095", "The provisioned throughput for " + owner +
                     " will not change. The requested value equals the current value. " +
                     units("ReadCapacityUnits", wanted.read_capacity_units()) +
                     units("WriteCapacityUnits", wanted.write_capacity_units()) +
                     "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request "
                     "higher limits.");
}

// Sets the throughput of table and indexes from the request, and checks it against the billing mode.
absl::Status UpdateThroughput(const v1::UpdateTableRequest& request, v1::TableDescription* definition) {
  if (!v1::BillingMode_IsValid(request.billing_mode()))
    return Invalid("SEM-093", "BillingMode must be PROVISIONED or PAY_PER_REQUEST");
  if (request.billing_mode() != v1::BILLING_MODE_UNSPECIFIED)
    definition->set_billing_mode(request.billing_mode());
  const bool provisioned = definition->billing_mode() == v1::BILLING_MODE_PROVISIONED;
  const absl::Status throughput_error =
      Invalid("SEM-093", "ProvisionedThroughput must not be given when BillingMode is PAY_PER_REQUEST",
              kThroughputNotAllowed);
  if (request.has_provisioned_throughput()) {
    if (!provisioned) return throughput_error;
    if (definition->has_provisioned_throughput())
      ITEMDB_RETURN_IF_ERROR(CheckChanges(definition->provisioned_throughput(),
                                          request.provisioned_throughput(), "the table", "table"));
    *definition->mutable_provisioned_throughput() = request.provisioned_throughput();
  }

  for (const auto& update : request.global_secondary_index_throughputs()) {
    auto* indexes = definition->mutable_global_secondary_indexes();
    auto index = std::find_if(indexes->begin(), indexes->end(),
                              [&update](const auto& i) { return i.index_name() == update.index_name(); });
    if (index == indexes->end()) return NoIndexError(*definition, update.index_name());
    if (!update.has_provisioned_throughput() && !update.has_on_demand_throughput() &&
        !update.has_warm_throughput()) {
      return Invalid("SEM-095", "ProvisionedThroughput, OnDemandThroughput or WarmThroughput of index " +
                                    update.index_name() + " must be given");
    }
    if (update.has_provisioned_throughput()) {
      if (!provisioned) return throughput_error;
      if (index->has_provisioned_throughput())
        ITEMDB_RETURN_IF_ERROR(CheckChanges(index->provisioned_throughput(), update.provisioned_throughput(),
                                            "the index " + update.index_name(), "index"));
      *index->mutable_provisioned_throughput() = update.provisioned_throughput();
    }
    ITEMDB_RETURN_IF_ERROR(ApplySettings(update, &*index));
  }
  // Each billing mode clears the throughput of the other.
  if (!provisioned) definition->clear_provisioned_throughput();
  const bool to_provisioned = request.billing_mode() == v1::BILLING_MODE_PROVISIONED;
  if (to_provisioned) definition->clear_on_demand_throughput();
  ITEMDB_RETURN_IF_ERROR(CheckThroughput("table " + definition->table_name(), provisioned,
                                         definition->has_provisioned_throughput(),
                                         definition->provisioned_throughput()));
  for (auto& index : *definition->mutable_global_secondary_indexes()) {
    if (!provisioned) index.clear_provisioned_throughput();
    if (to_provisioned) index.clear_on_demand_throughput();
    ITEMDB_RETURN_IF_ERROR(CheckThroughput("index " + index.index_name(), provisioned,
                                           index.has_provisioned_throughput(),
                                           index.provisioned_throughput()));
  }
  return absl::OkStatus();
}

absl::Status OnlyOperationError(const std::string& member) {
  return ValidationError("SEM-095", member + " must be the only operation in the request");
}

// Which changes one request may make together (SEM-095): those of throughput, and with PAY_PER_REQUEST those
// of the stream. Warm throughput of a table and of its indexes counts as one. A write fence, and a view type
// without a stream, which are ours, may come with everything.
absl::Status CheckTogether(const v1::UpdateTableRequest& request) {
  const auto& index_throughputs = request.global_secondary_index_throughputs();
  const bool of_indexes =
      std::any_of(index_throughputs.begin(), index_throughputs.end(), [&request](const auto& update) {
        return !request.has_warm_throughput() || update.has_provisioned_throughput() ||
               update.has_on_demand_throughput();
      });
  const bool throughput = request.billing_mode() != v1::BILLING_MODE_UNSPECIFIED ||
                          request.has_provisioned_throughput() || request.has_on_demand_throughput() ||
                          of_indexes;
  const bool stream = request.has_stream_enabled();
  const bool global_indexes = !request.global_secondary_index_creations().empty() ||
                              !request.global_secondary_index_deletions().empty();
  const bool vector_indexes =
      !request.vector_index_creations().empty() || !request.vector_index_deletions().empty();
  // The first of these that is there is named.
  const std::pair<const char*, bool> alone[] = {
      {"SSESpecification", request.has_sse_specification()},
      {"TableClass", request.table_class() != v1::TABLE_CLASS_UNSPECIFIED},
      {"DeletionProtectionEnabled", request.has_deletion_protection_enabled()},
      {"WarmThroughput", request.has_warm_throughput()},
      {global_indexes ? "GlobalSecondaryIndexUpdates" : "VectorIndexUpdates",
       global_indexes || vector_indexes}};
  int operations = throughput || stream ? 1 : 0;
  const char* first = nullptr;
  for (const auto& [member, is_there] : alone) {
    if (!is_there) continue;
    ++operations;
    if (first == nullptr) first = member;
  }
  if (first != nullptr && operations > 1) return OnlyOperationError(first);
  const bool only_on_demand = request.billing_mode() == v1::BILLING_MODE_PAY_PER_REQUEST &&
                              !request.has_provisioned_throughput() && !of_indexes;
  if (stream && throughput && !only_on_demand) return OnlyOperationError("StreamSpecification");
  return absl::OkStatus();
}

// An index is named once in a request (SEM-095).
absl::Status CheckIndexesNamedOnce(const v1::UpdateTableRequest& request) {
  std::set<std::string> named;
  const auto add = [&named](const std::string& name) {
    if (named.insert(name).second) return absl::OkStatus();
    return Invalid(
        "SEM-095", "index " + name + " is named twice",
        "Only one global secondary index update per index is allowed simultaneously. Index: " + name);
  };
  for (const auto& index : request.global_secondary_index_creations())
    ITEMDB_RETURN_IF_ERROR(add(index.index_name()));
  for (const std::string& name : request.global_secondary_index_deletions())
    ITEMDB_RETURN_IF_ERROR(add(name));
  for (const auto& index : request.global_secondary_index_throughputs())
    ITEMDB_RETURN_IF_ERROR(add(index.index_name()));
  return absl::OkStatus();
}

// Sets which images change records carry and whether the Streams API shows them (SEM-098, SEM-101).
absl::Status UpdateStream(const v1::UpdateTableRequest& request, v1::TableDescription* definition) {
  const v1::StreamViewType view = request.stream_view_type();
  const bool has_view = view != v1::STREAM_VIEW_TYPE_UNSPECIFIED;
  if (!v1::StreamViewType_IsValid(view))
    return Invalid("SEM-101", "StreamViewType must be KEYS_ONLY, NEW_IMAGE, OLD_IMAGE or NEW_AND_OLD_IMAGES");
  if (request.has_stream_enabled() && request.stream_enabled() == definition->stream_enabled()) {
    const bool enabled = definition->stream_enabled();
    return WithServiceText((enabled ? "Table already has an enabled stream: TableName: "
                                    : "Table has no stream to disable: TableName: ") +
                               definition->table_name(),
                           Invalid("SEM-098", std::string("the stream of table ") + definition->table_name() +
                                                  " is already " + (enabled ? "enabled" : "disabled")));
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

// Takes the first character from `text`, which is valid UTF-8 and not empty.
wint_t TakeCharacter(std::string_view* text) {
  const auto first = static_cast<unsigned char>(text->front());
  const size_t more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
  wint_t character = more == 0 ? first : first & (0x3F >> more);
  for (size_t i = 1; i <= more; ++i)
    character = character << 6 | (static_cast<unsigned char>((*text)[i]) & 0x3F);
  text->remove_prefix(more + 1);
  return character;
}

// Whether a tag may have the character: letters and digits of any script, spaces and + - = . _ : / @ (OP-08).
bool IsTagCharacter(wint_t character) {
  if (character < 0x80) {
    const char c = static_cast<char>(character);
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("+-=._:/@ ").find(c) != std::string_view::npos;
  }
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return unicode == nullptr || iswalnum_l(character, unicode) != 0 || iswspace_l(character, unicode) != 0;
}

bool HasTagCharacters(std::string_view text) {
  if (!IsValidUtf8(text)) return false;
  while (!text.empty()) {
    if (!IsTagCharacter(TakeCharacter(&text))) return false;
  }
  return true;
}

// Of a SHA-256 as text.
constexpr size_t kPassDigits = 64;

bool AreEqual(const v1::WriteFence& left, const v1::WriteFence& right) {
  return left.endpoint() == right.endpoint() && left.moved() == right.moved() &&
         left.pass_sha256() == right.pass_sha256();
}

// Movers that change a fence after each other must not undo what they do not know of.
absl::Status CheckFenceIsExpected(const v1::UpdateTableRequest& request,
                                  const v1::TableDescription& definition) {
  if (!request.has_expected_write_fence()) return absl::OkStatus();
  if (!request.has_write_fence())
    return Invalid("SEM-095", "expected_write_fence is only for a request with write_fence");
  const v1::WriteFence& present = definition.write_fence();
  if (AreEqual(present, request.expected_write_fence()) || AreEqual(present, request.write_fence()))
    return absl::OkStatus();
  return MakeError(absl::StatusCode::kFailedPrecondition, kReasonConditionalCheckFailed,
                   "table " + definition.table_name() + " has " +
                       (present.endpoint().empty() ? std::string("no fence of writes")
                                                   : "a fence of writes to " + present.endpoint()) +
                       ", which is not the expected one: another mover changed it");
}

// Sets or lifts the fence of the table's items.
absl::Status UpdateWriteFence(const v1::WriteFence& fence, v1::TableDescription* definition) {
  if (fence.endpoint().empty()) {
    if (fence.moved() || !fence.pass_sha256().empty()) {
      return Invalid("SEM-095",
                     "WriteFence of table " + definition->table_name() +
                         (fence.moved() ? " says that the table has moved" : " has a pass_sha256") +
                         "; it must name the endpoint");
    }
    definition->clear_write_fence();
    return absl::OkStatus();
  }
  if (fence.endpoint().size() > kMaxFenceEndpointBytes || !IsValidUtf8(fence.endpoint())) {
    return Invalid("SEM-095", "the endpoint of WriteFence must be UTF-8 of at most " +
                                  std::to_string(kMaxFenceEndpointBytes) + " bytes; it has " +
                                  std::to_string(fence.endpoint().size()));
  }
  const std::string& pass = fence.pass_sha256();
  if (!pass.empty() &&
      (pass.size() != kPassDigits || pass.find_first_not_of("0123456789abcdef") != std::string::npos)) {
    return Invalid("SEM-095", "pass_sha256 of WriteFence must be " + std::to_string(kPassDigits) +
                                  " hexadecimal digits in lower case, the SHA-256 of a secret, or empty");
  }
  *definition->mutable_write_fence() = fence;
  return absl::OkStatus();
}

// Names that begin with aws: are the service's own, in any case of the letters.
absl::Status CheckNotReserved(const std::string& key) {
  if (!absl::StartsWithIgnoreCase(key, "aws:")) return absl::OkStatus();
  return ValidationError("OP-08", "Tag Key cannot be prefixed with aws:, Key: " + key);
}

}  // namespace

absl::StatusOr<v1::TableDescription> UpdatedDefinition(v1::TableDescription definition,
                                                       const v1::UpdateTableRequest& request) {
  const bool throughput = request.billing_mode() != v1::BILLING_MODE_UNSPECIFIED ||
                          request.has_provisioned_throughput() ||
                          !request.global_secondary_index_throughputs().empty();
  const bool settings = request.table_class() != v1::TABLE_CLASS_UNSPECIFIED ||
                        request.has_sse_specification() || request.has_warm_throughput() ||
                        request.on_demand_throughput().has_max_read_request_units() ||
                        request.on_demand_throughput().has_max_write_request_units();
  const bool indexes = !request.global_secondary_index_creations().empty() ||
                       !request.global_secondary_index_deletions().empty() ||
                       !request.vector_index_creations().empty() || !request.vector_index_deletions().empty();
  if (!throughput && !settings && !indexes && !request.has_deletion_protection_enabled() &&
      request.stream_view_type() == v1::STREAM_VIEW_TYPE_UNSPECIFIED && !request.has_stream_enabled() &&
      !request.has_write_fence()) {
    return WithServiceText(
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
        "GlobalSecondaryIndexUpdates, "
        "SSESpecification, ReplicaUpdates, TableClass, DeletionProtectionEnabled, OnDemandThroughput or "
        "WarmThroughput is required",
        Invalid("SEM-095",
                "at least one of BillingMode, ProvisionedThroughput, index throughputs, an index to "
                "create or delete, DeletionProtectionEnabled, StreamEnabled, StreamViewType, TableClass, "
                "SSESpecification, OnDemandThroughput, WarmThroughput and WriteFence must be given"));
  }
  ITEMDB_RETURN_IF_ERROR(CheckIndexesNamedOnce(request));
  ITEMDB_RETURN_IF_ERROR(CheckTogether(request));
  RaiseWarmThroughput(&definition);
  if (indexes) ITEMDB_RETURN_IF_ERROR(ApplyIndexChanges(request, &definition));
  ITEMDB_RETURN_IF_ERROR(ApplySettings(request, &definition));
  if (throughput) ITEMDB_RETURN_IF_ERROR(UpdateThroughput(request, &definition));
  // Not with PROVISIONED.
  ITEMDB_RETURN_IF_ERROR(CheckVectorIndexesTogether(definition));
  if (request.has_deletion_protection_enabled())
    definition.set_deletion_protection_enabled(request.deletion_protection_enabled());
  ITEMDB_RETURN_IF_ERROR(UpdateStream(request, &definition));
  ITEMDB_RETURN_IF_ERROR(CheckFenceIsExpected(request, definition));
  if (request.has_write_fence()) ITEMDB_RETURN_IF_ERROR(UpdateWriteFence(request.write_fence(), &definition));
  RaiseWarmThroughput(&definition);
  return definition;
}

absl::StatusOr<v1::TableDescription> TaggedDefinition(v1::TableDescription definition,
                                                      const v1::TagTableRequest& request) {
  if (request.tags().empty())
    return ValidationError("OP-08", "Atleast one Tag needs to be provided as Input.");
  std::map<std::string, std::string> tags = TagsOf(definition);
  std::set<std::string> named;
  for (const v1::Tag& tag : request.tags()) {
    if (!named.insert(tag.key()).second)
      return ValidationError("OP-08", "Duplicate Tag Keys provided as input: " + tag.key());
    if (tag.key().empty() || CharactersIn(tag.key()) > kMaxTagKeyCharacters) {
      return Invalid("OP-08", "a tag key must be 1 to " + std::to_string(kMaxTagKeyCharacters) +
                                  " characters long; one has " + std::to_string(CharactersIn(tag.key())));
    }
    if (CharactersIn(tag.value()) > kMaxTagValueCharacters) {
      return Invalid("OP-08", "the value of the tag " + tag.key() + " has " +
                                  std::to_string(CharactersIn(tag.value())) + " characters; at most " +
                                  std::to_string(kMaxTagValueCharacters) + " are allowed");
    }
    if (!HasTagCharacters(tag.key()))
      return ValidationError("OP-08", "The Tag Key provided is invalid, Key: " + tag.key());
    if (!HasTagCharacters(tag.value()))
      return ValidationError("OP-08", "The Tag Value provided is invalid, Value: " + tag.value());
    ITEMDB_RETURN_IF_ERROR(CheckNotReserved(tag.key()));
    tags[tag.key()] = tag.value();
  }
  if (tags.size() > kMaxTags) {
    return DetailedError("OP-08", "Number of Tags exceed the current limit for the provided ResourceArn",
                         ": table " + definition.table_name() + " would have " + std::to_string(tags.size()) +
                             " tags; at most " + std::to_string(kMaxTags) + " are allowed");
  }
  SetTags(tags, &definition);
  return definition;
}

absl::StatusOr<v1::TableDescription> UntaggedDefinition(v1::TableDescription definition,
                                                        const v1::UntagTableRequest& request) {
  if (request.tag_keys().empty())
    return ValidationError("OP-08", "Atleast one Tag Key needs to be provided as Input.");
  std::map<std::string, std::string> tags = TagsOf(definition);
  for (const std::string& key : request.tag_keys()) {
    ITEMDB_RETURN_IF_ERROR(CheckNotReserved(key));
    tags.erase(key);
  }
  SetTags(tags, &definition);
  return definition;
}

}  // namespace itemdb::storage
