#include "tools/table_json.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "itemdb/value.h"
#include "tools/exit_codes.h"

namespace itemdb::tools {
namespace {

using Kind = JsonValue::Kind;

// ---- names ---------------------------------------------------------------------------------------

template <typename E>
struct Named {
  std::string_view name;
  E value;
};

constexpr Named<ScalarAttributeType> kAttributeTypes[] = {{"S", ScalarAttributeType::kString},
                                                          {"N", ScalarAttributeType::kNumber},
                                                          {"B", ScalarAttributeType::kBinary}};
constexpr Named<KeyType> kKeyTypes[] = {{"HASH", KeyType::kHash}, {"RANGE", KeyType::kRange}};
constexpr Named<ProjectionType> kProjectionTypes[] = {{"KEYS_ONLY", ProjectionType::kKeysOnly},
                                                      {"INCLUDE", ProjectionType::kInclude},
                                                      {"ALL", ProjectionType::kAll}};
constexpr Named<BillingMode> kBillingModes[] = {{"PROVISIONED", BillingMode::kProvisioned},
                                                {"PAY_PER_REQUEST", BillingMode::kPayPerRequest}};
constexpr Named<StreamViewType> kStreamViewTypes[] = {
    {"KEYS_ONLY", StreamViewType::kKeysOnly},
    {"NEW_IMAGE", StreamViewType::kNewImage},
    {"OLD_IMAGE", StreamViewType::kOldImage},
    {"NEW_AND_OLD_IMAGES", StreamViewType::kNewAndOldImages}};

template <typename E>
std::string_view Find(std::span<const Named<E>> names, E value) {
  for (const Named<E>& named : names) {
    if (named.value == value) return named.name;
  }
  return "UNKNOWN";
}

// ---- reading members -----------------------------------------------------------------------------

// A member AWS has and itemdb does not offer, and what to say about it.
struct NotOffered {
  std::string_view name;
  std::string_view why;
};

constexpr NotOffered kTableNotOffered[] = {
    {"LocalSecondaryIndexes",
     "local secondary indexes are not offered yet; GlobalSecondaryIndexes are strongly "
     "consistent here and can have the same keys"},
    {"Tags", "tags are not offered yet"},
    {"TableClass", "there is one class of storage"},
    {"SSESpecification", "encryption at rest is the file system's part"},
    {"DeletionProtectionEnabled", "deletion protection is not offered yet"},
    {"OnDemandThroughput", "throughput is not limited"},
    {"WarmThroughput", "throughput is not limited"},
    {"ResourcePolicy", "there are no resource policies"},
    {"VectorIndexes", "vector indexes are not offered yet"},
    {"GlobalTableSourceArn", "there are no global tables"},
    {"GlobalTableSettingsReplicationMode", "there are no global tables"},
};
constexpr NotOffered kIndexNotOffered[] = {
    {"OnDemandThroughput", "throughput is not limited"},
    {"WarmThroughput", "throughput is not limited"},
};

// Reads the members of one object and remembers the first thing that is wrong; after that it returns
// defaults, so that callers read straight through and ask for the status once.
class MemberReader {
 public:
  // `path` is what errors call the object, for example "GlobalSecondaryIndexes[0]"; empty for the document.
  MemberReader(const JsonValue& json, std::string path) : json_(json), path_(std::move(path)) {
    if (json.kind != Kind::kObject) {
      Fail(absl::StrFormat("%s must be an object, not %s", path_.empty() ? "the document" : path_,
                           std::string(KindName(json.kind))));
    }
  }

  // Refuses every member not in `allowed`.
  void Allow(const std::vector<std::string_view>& allowed, std::span<const NotOffered> not_offered = {}) {
    for (const auto& [name, value] : json_.members) {
      if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
      for (const NotOffered& member : not_offered) {
        if (member.name == name) Fail(absl::StrFormat("%s: %s", PathOf(name), std::string(member.why)));
      }
      Fail(absl::StrFormat(
          "unknown member %s%s; allowed are %s", JsonString(name), path_.empty() ? "" : " in " + path_,
          absl::StrJoin(allowed, ", ", [](std::string* out, std::string_view part) { out->append(part); })));
    }
  }

  // The member of that kind; null when it is missing or of another kind. Missing is an error when `required`.
  const JsonValue* Member(std::string_view name, Kind kind, bool required) {
    const JsonValue* value = json_.FindOrNull(name);
    if (value == nullptr) {
      if (required) Fail(absl::StrFormat("%s is missing", PathOf(name)));
      return nullptr;
    }
    if (value->kind == kind) return value;
    Fail(absl::StrFormat("%s must be %s, not %s", PathOf(name), std::string(KindName(kind)),
                         std::string(KindName(value->kind))));
    return nullptr;
  }

  std::string RequiredString(std::string_view name) {
    const JsonValue* value = Member(name, Kind::kString, true);
    return value == nullptr ? "" : value->text;
  }

  int64_t RequiredInt64(std::string_view name) {
    const JsonValue* value = Member(name, Kind::kNumber, true);
    if (value == nullptr) return 0;
    absl::StatusOr<Number> number = Number::Parse(value->text);
    absl::StatusOr<int64_t> integer = number.ok() ? number->ToInt64() : number.status();
    if (integer.ok()) return *integer;
    Fail(absl::StrFormat("%s must be a whole number of 64 bits, not %s", PathOf(name), value->text));
    return 0;
  }

  // One of AWS' names; `fallback` when the member is missing, which is an error without one.
  template <typename E, size_t N>
  E Enum(std::string_view name, const Named<E> (&names)[N], std::optional<E> fallback = std::nullopt) {
    const JsonValue* value = Member(name, Kind::kString, !fallback.has_value());
    if (value == nullptr) return fallback.value_or(names[0].value);
    for (const Named<E>& named : names) {
      if (named.name == value->text) return named.value;
    }
    Fail(absl::StrFormat("%s is %s; allowed are %s", PathOf(name), JsonString(value->text),
                         absl::StrJoin(names, ", ", [](std::string* out, const Named<E>& named) {
                           out->append(named.name);
                         })));
    return names[0].value;
  }

  // Calls `read` with a reader for each object of an array.
  template <typename T, typename Read>
  std::vector<T> Objects(std::string_view name, bool required, Read read) {
    std::vector<T> values;
    const JsonValue* array = Member(name, Kind::kArray, required);
    for (size_t i = 0; array != nullptr && i < array->elements.size(); ++i) {
      MemberReader reader(array->elements[i], absl::StrFormat("%s[%d]", PathOf(name), i));
      values.push_back(read(reader));
      Adopt(reader);
    }
    return values;
  }

  // Calls `read` with a reader for an object member, when it is there.
  template <typename T, typename Read>
  std::optional<T> Object(std::string_view name, bool required, Read read) {
    const JsonValue* object = Member(name, Kind::kObject, required);
    if (object == nullptr) return std::nullopt;
    MemberReader reader(*object, PathOf(name));
    T value = read(reader);
    Adopt(reader);
    return value;
  }

  std::vector<std::string> Strings(std::string_view name) {
    std::vector<std::string> strings;
    const JsonValue* array = Member(name, Kind::kArray, false);
    for (size_t i = 0; array != nullptr && i < array->elements.size(); ++i) {
      const JsonValue& element = array->elements[i];
      if (element.kind != Kind::kString) {
        Fail(absl::StrFormat("%s[%d] must be a string, not %s", PathOf(name), i,
                             std::string(KindName(element.kind))));
      }
      strings.push_back(element.text);
    }
    return strings;
  }

  bool RequiredBool(std::string_view name) {
    const JsonValue* value = Member(name, Kind::kBool, true);
    return value != nullptr && value->boolean;
  }

  bool Has(std::string_view name) const { return json_.FindOrNull(name) != nullptr; }

  std::string PathOf(std::string_view name) const {
    return path_.empty() ? std::string(name) : absl::StrFormat("%s.%s", path_, std::string(name));
  }

  void Fail(const std::string& message) {
    if (status_.ok()) status_ = UsageError("the CreateTable document: " + message);
  }

  const absl::Status& status() const { return status_; }

 private:
  void Adopt(const MemberReader& inner) {
    if (status_.ok()) status_ = inner.status_;
  }

  const JsonValue& json_;
  std::string path_;
  absl::Status status_;
};

// ---- reading the parts ---------------------------------------------------------------------------

AttributeDefinition ReadAttributeDefinition(MemberReader& reader) {
  reader.Allow({"AttributeName", "AttributeType"});
  return {.attribute_name = reader.RequiredString("AttributeName"),
          .attribute_type = reader.Enum("AttributeType", kAttributeTypes)};
}

KeySchemaElement ReadKeySchemaElement(MemberReader& reader) {
  reader.Allow({"AttributeName", "KeyType"});
  return {.attribute_name = reader.RequiredString("AttributeName"),
          .key_type = reader.Enum("KeyType", kKeyTypes)};
}

ProvisionedThroughput ReadThroughput(MemberReader& reader) {
  reader.Allow({"ReadCapacityUnits", "WriteCapacityUnits"});
  return {.read_capacity_units = reader.RequiredInt64("ReadCapacityUnits"),
          .write_capacity_units = reader.RequiredInt64("WriteCapacityUnits")};
}

Projection ReadProjection(MemberReader& reader) {
  reader.Allow({"ProjectionType", "NonKeyAttributes"});
  return {.projection_type = reader.Enum("ProjectionType", kProjectionTypes),
          .non_key_attributes = reader.Strings("NonKeyAttributes")};
}

GlobalSecondaryIndex ReadIndex(MemberReader& reader) {
  reader.Allow({"IndexName", "KeySchema", "Projection", "ProvisionedThroughput"}, kIndexNotOffered);
  GlobalSecondaryIndex index;
  index.index_name = reader.RequiredString("IndexName");
  index.key_schema = reader.Objects<KeySchemaElement>("KeySchema", true, ReadKeySchemaElement);
  index.projection = reader.Object<Projection>("Projection", true, ReadProjection).value_or(Projection{});
  index.provisioned_throughput =
      reader.Object<ProvisionedThroughput>("ProvisionedThroughput", false, ReadThroughput);
  return index;
}

StreamViewType ReadStreamSpecification(MemberReader& reader) {
  reader.Allow({"StreamEnabled", "StreamViewType"});
  if (!reader.RequiredBool("StreamEnabled")) {
    if (reader.Has("StreamViewType")) {
      reader.Fail(reader.PathOf("StreamViewType") + " is allowed only with StreamEnabled true");
    }
    return StreamViewType::kKeysOnly;
  }
  return reader.Enum("StreamViewType", kStreamViewTypes);
}

// ---- writing -------------------------------------------------------------------------------------

JsonValue Text(std::string_view text) { return JsonValue::String(std::string(text)); }

JsonValue KeySchemaToJson(const std::vector<KeySchemaElement>& key_schema) {
  JsonValue array = JsonValue::Array();
  for (const KeySchemaElement& element : key_schema) {
    array.elements.push_back(JsonValue::Object()
                                 .Add("AttributeName", Text(element.attribute_name))
                                 .Add("KeyType", Text(NameOf(element.key_type))));
  }
  return array;
}

JsonValue ThroughputToJson(const ProvisionedThroughput& throughput) {
  return JsonValue::Object()
      .Add("ReadCapacityUnits", JsonValue::Number(throughput.read_capacity_units))
      .Add("WriteCapacityUnits", JsonValue::Number(throughput.write_capacity_units));
}

JsonValue ProjectionToJson(const Projection& projection) {
  JsonValue object = JsonValue::Object().Add("ProjectionType", Text(NameOf(projection.projection_type)));
  if (!projection.non_key_attributes.empty()) {
    JsonValue names = JsonValue::Array();
    for (const std::string& name : projection.non_key_attributes) names.elements.push_back(Text(name));
    object.Add("NonKeyAttributes", std::move(names));
  }
  return object;
}

JsonValue IndexToJson(const IndexDescription& index) {
  JsonValue object = JsonValue::Object()
                         .Add("IndexName", Text(index.definition.index_name))
                         .Add("IndexStatus", Text(NameOf(index.index_status)))
                         .Add("KeySchema", KeySchemaToJson(index.definition.key_schema))
                         .Add("Projection", ProjectionToJson(index.definition.projection));
  if (index.definition.provisioned_throughput.has_value()) {
    object.Add("ProvisionedThroughput", ThroughputToJson(*index.definition.provisioned_throughput));
  }
  object.Add("ItemCount", JsonValue::Number(index.item_count))
      .Add("IndexSizeBytes", JsonValue::Number(index.index_size_bytes));
  return object;
}

}  // namespace

std::string_view NameOf(ScalarAttributeType type) { return Find<ScalarAttributeType>(kAttributeTypes, type); }
std::string_view NameOf(KeyType type) { return Find<KeyType>(kKeyTypes, type); }
std::string_view NameOf(ProjectionType type) { return Find<ProjectionType>(kProjectionTypes, type); }
std::string_view NameOf(BillingMode mode) { return Find<BillingMode>(kBillingModes, mode); }
std::string_view NameOf(StreamViewType type) { return Find<StreamViewType>(kStreamViewTypes, type); }
std::string_view NameOf(TableStatus status) { return status == TableStatus::kActive ? "ACTIVE" : "UNKNOWN"; }

absl::StatusOr<TableDefinition> TableDefinitionFromJson(const JsonValue& json) {
  MemberReader reader(json, "");
  reader.Allow({"TableName", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode",
                "ProvisionedThroughput", "StreamSpecification"},
               kTableNotOffered);
  TableDefinition table;
  table.table_name = reader.RequiredString("TableName");
  table.attribute_definitions =
      reader.Objects<AttributeDefinition>("AttributeDefinitions", true, ReadAttributeDefinition);
  table.key_schema = reader.Objects<KeySchemaElement>("KeySchema", true, ReadKeySchemaElement);
  table.global_secondary_indexes =
      reader.Objects<GlobalSecondaryIndex>("GlobalSecondaryIndexes", false, ReadIndex);
  table.billing_mode = reader.Enum<BillingMode>("BillingMode", kBillingModes, BillingMode::kProvisioned);
  table.provisioned_throughput =
      reader.Object<ProvisionedThroughput>("ProvisionedThroughput", false, ReadThroughput);
  table.stream_view_type =
      reader.Object<StreamViewType>("StreamSpecification", false, ReadStreamSpecification)
          .value_or(StreamViewType::kKeysOnly);
  if (!reader.status().ok()) return reader.status();
  return table;
}

absl::StatusOr<TableDefinition> ParseTableDefinition(std::string_view text) {
  absl::StatusOr<JsonValue> json = ParseJson(text);
  if (!json.ok()) return UsageError("the CreateTable document: " + std::string(json.status().message()));
  return TableDefinitionFromJson(*json);
}

JsonValue TableToJson(const TableDescription& table) {
  const TableDefinition& definition = table.definition;
  JsonValue attributes = JsonValue::Array();
  for (const AttributeDefinition& attribute : definition.attribute_definitions) {
    attributes.elements.push_back(JsonValue::Object()
                                      .Add("AttributeName", Text(attribute.attribute_name))
                                      .Add("AttributeType", Text(NameOf(attribute.attribute_type))));
  }
  JsonValue object =
      JsonValue::Object()
          .Add("TableName", Text(definition.table_name))
          .Add("TableStatus", Text(NameOf(table.table_status)))
          .Add("TableId", Text(table.table_id))
          .Add("StorageId", JsonValue::Number(table.storage_id))
          .Add("CreationDateTime",
               Text(absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", table.creation_time, absl::UTCTimeZone())))
          .Add("AttributeDefinitions", std::move(attributes))
          .Add("KeySchema", KeySchemaToJson(definition.key_schema))
          .Add("BillingModeSummary",
               JsonValue::Object().Add("BillingMode", Text(NameOf(definition.billing_mode))));
  if (definition.provisioned_throughput.has_value()) {
    object.Add("ProvisionedThroughput", ThroughputToJson(*definition.provisioned_throughput));
  }
  if (!table.indexes.empty()) {
    JsonValue indexes = JsonValue::Array();
    for (const IndexDescription& index : table.indexes) indexes.elements.push_back(IndexToJson(index));
    object.Add("GlobalSecondaryIndexes", std::move(indexes));
  }
  object
      .Add("StreamSpecification", JsonValue::Object()
                                      .Add("StreamEnabled", JsonValue::Bool(true))
                                      .Add("StreamViewType", Text(NameOf(definition.stream_view_type))))
      .Add("ItemCount", JsonValue::Number(table.item_count))
      .Add("TableSizeBytes", JsonValue::Number(table.table_size_bytes));
  return object;
}

}  // namespace itemdb::tools
