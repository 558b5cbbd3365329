#include "tools/json/table_json.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "itemdb/value.h"
#include "tools/base/exit_codes.h"
#include "tools/json/member_reader.h"

namespace itemdb::tools {
namespace {

// ---- names ---------------------------------------------------------------------------------------

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
constexpr Named<TableClass> kTableClasses[] = {
    {"STANDARD", TableClass::kStandard},
    {"STANDARD_INFREQUENT_ACCESS", TableClass::kStandardInfrequentAccess}};

constexpr Named<VectorDistanceFunction> kDistanceFunctions[] = {
    {"COSINE", VectorDistanceFunction::kCosine},
    {"EUCLIDEAN", VectorDistanceFunction::kEuclidean},
    {"DOT_PRODUCT", VectorDistanceFunction::kDotProduct}};
constexpr Named<SearchSchemaElementType> kSearchSchemaElementTypes[] = {
    {"HASH", SearchSchemaElementType::kHash}, {"INLINE_FILTER", SearchSchemaElementType::kInlineFilter}};

constexpr Named<TableStatus> kTableStatuses[] = {{"ACTIVE", TableStatus::kActive},
                                                 {"CREATING", TableStatus::kCreating},
                                                 {"UPDATING", TableStatus::kUpdating},
                                                 {"DELETING", TableStatus::kDeleting}};

template <typename E>
std::string_view Find(std::span<const Named<E>> names, E value) {
  for (const Named<E>& named : names) {
    if (named.value == value) return named.name;
  }
  return "UNKNOWN";
}

// ---- reading -------------------------------------------------------------------------------------

constexpr char kDocument[] = "the CreateTable document";

// Every database has this ARN before the names of its tables, as for DynamoDB local.
constexpr char kArnOfTables[] = "arn:aws:dynamodb:local:000000000000:table/";

constexpr NotOffered kTableNotOffered[] = {
    {"ResourcePolicy", "there are no resource policies"},
    {"GlobalTableSourceArn", "there are no global tables"},
    {"GlobalTableSettingsReplicationMode", "there are no global tables"},
};

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

SseSpecification ReadSse(MemberReader& reader) {
  reader.Allow({"Enabled", "SSEType", "KMSMasterKeyId"});
  return {.enabled = reader.OptionalBool("Enabled"),
          .sse_type = reader.OptionalString("SSEType"),
          .kms_master_key_id = reader.OptionalString("KMSMasterKeyId")};
}

OnDemandThroughput ReadOnDemand(MemberReader& reader) {
  reader.Allow({"MaxReadRequestUnits", "MaxWriteRequestUnits"});
  return {.max_read_request_units = reader.OptionalInt64("MaxReadRequestUnits"),
          .max_write_request_units = reader.OptionalInt64("MaxWriteRequestUnits")};
}

WarmThroughput ReadWarm(MemberReader& reader) {
  reader.Allow({"ReadUnitsPerSecond", "WriteUnitsPerSecond"});
  return {.read_units_per_second = reader.OptionalInt64("ReadUnitsPerSecond"),
          .write_units_per_second = reader.OptionalInt64("WriteUnitsPerSecond")};
}

GlobalSecondaryIndex ReadIndex(MemberReader& reader) {
  reader.Allow({"IndexName", "KeySchema", "Projection", "ProvisionedThroughput", "OnDemandThroughput",
                "WarmThroughput"});
  GlobalSecondaryIndex index;
  index.index_name = reader.RequiredString("IndexName");
  index.key_schema = reader.Objects<KeySchemaElement>("KeySchema", true, ReadKeySchemaElement);
  index.projection = reader.Object<Projection>("Projection", true, ReadProjection).value_or(Projection{});
  index.provisioned_throughput =
      reader.Object<ProvisionedThroughput>("ProvisionedThroughput", false, ReadThroughput);
  index.on_demand_throughput = reader.Object<OnDemandThroughput>("OnDemandThroughput", false, ReadOnDemand);
  index.warm_throughput = reader.Object<WarmThroughput>("WarmThroughput", false, ReadWarm);
  return index;
}

LocalSecondaryIndex ReadLocalIndex(MemberReader& reader) {
  reader.Allow({"IndexName", "KeySchema", "Projection"});
  LocalSecondaryIndex index;
  index.index_name = reader.RequiredString("IndexName");
  index.key_schema = reader.Objects<KeySchemaElement>("KeySchema", true, ReadKeySchemaElement);
  index.projection = reader.Object<Projection>("Projection", true, ReadProjection).value_or(Projection{});
  return index;
}

std::string ReadVectorAttribute(MemberReader& reader) {
  reader.Allow({"AttributeName"});
  return reader.RequiredString("AttributeName");
}

SearchSchemaElement ReadSearchSchemaElement(MemberReader& reader) {
  reader.Allow({"AttributeName", "SearchSchemaElementType"});
  return {.attribute_name = reader.RequiredString("AttributeName"),
          .type = reader.Enum("SearchSchemaElementType", kSearchSchemaElementTypes)};
}

VectorIndex ReadVectorIndex(MemberReader& reader) {
  reader.Allow(
      {"IndexName", "VectorAttribute", "Dimensions", "DistanceFunction", "Projection", "SearchSchema"});
  VectorIndex index;
  index.index_name = reader.RequiredString("IndexName");
  index.vector_attribute =
      reader.Object<std::string>("VectorAttribute", true, ReadVectorAttribute).value_or("");
  index.dimensions = reader.RequiredInt64("Dimensions");
  index.distance_function = reader.Enum("DistanceFunction", kDistanceFunctions);
  index.projection = reader.Object<Projection>("Projection", true, ReadProjection).value_or(Projection{});
  index.search_schema = reader.Objects<SearchSchemaElement>("SearchSchema", false, ReadSearchSchemaElement);
  return index;
}

std::pair<std::string, std::string> ReadTag(MemberReader& reader) {
  reader.Allow({"Key", "Value"});
  return {reader.RequiredString("Key"), reader.RequiredString("Value")};
}

// Empty if StreamEnabled is false.
std::optional<StreamViewType> ReadStreamSpecification(MemberReader& reader) {
  reader.Allow({"StreamEnabled", "StreamViewType"});
  if (!reader.RequiredBool("StreamEnabled")) {
    if (reader.Has("StreamViewType")) {
      reader.Fail(reader.PathOf("StreamViewType") + " is allowed only with StreamEnabled true");
    }
    return std::nullopt;
  }
  return reader.Enum("StreamViewType", kStreamViewTypes);
}

// ---- descriptions as requests --------------------------------------------------------------------

void Remove(JsonValue& object, std::initializer_list<std::string_view> names) {
  std::erase_if(object.members, [names](const auto& member) {
    return std::find(names.begin(), names.end(), member.first) != names.end();
  });
}

// The member `inner` of the object `name`; null if there is none.
const JsonValue* Inner(const JsonValue& object, std::string_view name, std::string_view inner) {
  const JsonValue* outer = object.FindOrNull(name);
  return outer == nullptr ? nullptr : outer->FindOrNull(inner);
}

// Throughput of 0 and 0 is how a description says that there is none.
void KeepThroughput(JsonValue& object, bool on_demand) {
  const JsonValue* read = Inner(object, "ProvisionedThroughput", "ReadCapacityUnits");
  if (on_demand || (read != nullptr && read->text == "0")) Remove(object, {"ProvisionedThroughput"});
  for (auto& [name, value] : object.members) {
    if (name == "ProvisionedThroughput")
      Remove(value, {"LastIncreaseDateTime", "LastDecreaseDateTime", "NumberOfDecreasesToday"});
    if (name == "WarmThroughput") Remove(value, {"Status"});
  }
}

// What DescribeTable returns, as the request that creates the same table. Another document is returned as it
// is.
JsonValue RequestOfDescription(const JsonValue& json) {
  const JsonValue* table = json.FindOrNull("Table");
  JsonValue request = table != nullptr && json.members.size() == 1 ? *table : json;
  if (request.FindOrNull("TableStatus") == nullptr) return json;
  const JsonValue* mode = Inner(request, "BillingModeSummary", "BillingMode");
  const std::string billing = mode == nullptr ? "PROVISIONED" : mode->text;
  const JsonValue* table_class = Inner(request, "TableClassSummary", "TableClass");
  const JsonValue* sse_status = Inner(request, "SSEDescription", "Status");
  const JsonValue* enabled = Inner(request, "StreamSpecification", "StreamEnabled");
  JsonValue added = JsonValue::Object().Add("BillingMode", billing);
  if (table_class != nullptr) added.Add("TableClass", table_class->text);
  if (sse_status != nullptr) {
    JsonValue sse = JsonValue::Object().Add("Enabled", sse_status->text == "ENABLED");
    const JsonValue* type = Inner(request, "SSEDescription", "SSEType");
    const JsonValue* key = Inner(request, "SSEDescription", "KMSMasterKeyArn");
    if (type != nullptr) sse.Add("SSEType", type->text);
    if (key != nullptr) sse.Add("KMSMasterKeyId", key->text);
    added.Add("SSESpecification", std::move(sse));
  }
  if (enabled != nullptr && !enabled->boolean) Remove(request, {"StreamSpecification"});
  Remove(request, {"TableStatus", "TableId", "StorageId", "TableArn", "CreationDateTime", "ItemCount",
                   "TableSizeBytes", "BillingModeSummary", "TableClassSummary", "SSEDescription",
                   "LatestStreamLabel", "LatestStreamArn", "RestoreSummary", "WriteFence"});
  const bool on_demand = billing == "PAY_PER_REQUEST";
  KeepThroughput(request, on_demand);
  for (auto& [name, indexes] : request.members) {
    if (name != "GlobalSecondaryIndexes" && name != "LocalSecondaryIndexes" && name != "VectorIndexes")
      continue;
    for (JsonValue& index : indexes.elements) {
      Remove(index, {"IndexStatus", "Backfilling", "Build", "ItemCount", "IndexSizeBytes", "IndexArn",
                     "SkippedItemCount"});
      KeepThroughput(index, on_demand);
    }
  }
  for (auto& [name, value] : added.members) request.Add(name, std::move(value));
  return request;
}

// ---- writing -------------------------------------------------------------------------------------

JsonValue KeySchemaToJson(const std::vector<KeySchemaElement>& key_schema) {
  JsonValue array = JsonValue::Array();
  for (const KeySchemaElement& element : key_schema) {
    array.elements.push_back(JsonValue::Object()
                                 .Add("AttributeName", element.attribute_name)
                                 .Add("KeyType", NameOf(element.key_type)));
  }
  return array;
}

JsonValue ThroughputToJson(const ProvisionedThroughput& throughput) {
  return JsonValue::Object()
      .Add("ReadCapacityUnits", throughput.read_capacity_units)
      .Add("WriteCapacityUnits", throughput.write_capacity_units);
}

// DescribeTable's SSEDescription, whose members differ from the request's SSESpecification.
JsonValue SseToJson(const SseSpecification& sse) {
  JsonValue object = JsonValue::Object().Add("Status", sse.enabled ? "ENABLED" : "DISABLED");
  if (!sse.sse_type.empty()) object.Add("SSEType", sse.sse_type);
  if (!sse.kms_master_key_id.empty()) object.Add("KMSMasterKeyArn", sse.kms_master_key_id);
  return object;
}

// An object of read and write units; a missing value is left out.
JsonValue UnitsToJson(std::string_view read_name, std::optional<int64_t> read, std::string_view write_name,
                      std::optional<int64_t> write) {
  JsonValue object = JsonValue::Object();
  if (read.has_value()) object.Add(std::string(read_name), *read);
  if (write.has_value()) object.Add(std::string(write_name), *write);
  return object;
}

// Throughput settings of a table or an index that itemdb only stores and returns.
template <typename Definition>
void AddOtherThroughputs(const Definition& table, JsonValue* object) {
  if (const std::optional<OnDemandThroughput>& units = table.on_demand_throughput; units.has_value()) {
    object->Add("OnDemandThroughput", UnitsToJson("MaxReadRequestUnits", units->max_read_request_units,
                                                  "MaxWriteRequestUnits", units->max_write_request_units));
  }
  if (const std::optional<WarmThroughput>& units = table.warm_throughput; units.has_value()) {
    object->Add("WarmThroughput", UnitsToJson("ReadUnitsPerSecond", units->read_units_per_second,
                                              "WriteUnitsPerSecond", units->write_units_per_second));
  }
}

// Settings that itemdb only stores and returns.
void AddSettings(const TableDefinition& table, JsonValue* object) {
  object->Add("TableClassSummary", JsonValue::Object().Add("TableClass", NameOf(table.table_class)));
  if (table.sse_specification.has_value()) {
    object->Add("SSEDescription", SseToJson(*table.sse_specification));
  }
  AddOtherThroughputs(table, object);
}

JsonValue ProjectionToJson(const Projection& projection) {
  JsonValue object = JsonValue::Object().Add("ProjectionType", NameOf(projection.projection_type));
  if (!projection.non_key_attributes.empty()) {
    object.Add("NonKeyAttributes", projection.non_key_attributes);
  }
  return object;
}

JsonValue LocalIndexToJson(const LocalIndexDescription& index) {
  return JsonValue::Object()
      .Add("IndexName", index.definition.index_name)
      .Add("KeySchema", KeySchemaToJson(index.definition.key_schema))
      .Add("Projection", ProjectionToJson(index.definition.projection))
      .Add("ItemCount", index.item_count)
      .Add("IndexSizeBytes", index.index_size_bytes);
}

JsonValue SearchSchemaToJson(const std::vector<SearchSchemaElement>& schema) {
  JsonValue array = JsonValue::Array();
  for (const SearchSchemaElement& element : schema) {
    array.elements.push_back(
        JsonValue::Object()
            .Add("AttributeName", element.attribute_name)
            .Add("SearchSchemaElementType",
                 Find<SearchSchemaElementType>(kSearchSchemaElementTypes, element.type)));
  }
  return array;
}

// StreamViewType is shown also without a stream if change records have images.
JsonValue StreamToJson(const TableDefinition& definition) {
  JsonValue stream = JsonValue::Object().Add("StreamEnabled", definition.stream_enabled);
  if (definition.stream_enabled || definition.stream_view_type != StreamViewType::kKeysOnly) {
    stream.Add("StreamViewType", NameOf(definition.stream_view_type));
  }
  return stream;
}

}  // namespace

JsonValue BuildToJson(const IndexBuild& build) {
  constexpr std::pair<IndexBuild::Phase, std::string_view> kPhases[] = {
      {IndexBuild::Phase::kWaiting, "WAITING"},
      {IndexBuild::Phase::kScanning, "SCANNING"},
      {IndexBuild::Phase::kWriting, "WRITING"},
      {IndexBuild::Phase::kCatchingUp, "CATCHING_UP"}};
  std::string_view phase = "UNKNOWN";
  for (const auto& [value, name] : kPhases) {
    if (value == build.phase) phase = name;
  }
  JsonValue object = JsonValue::Object()
                         .Add("Phase", phase)
                         .Add("Done", build.done)
                         .Add("Total", build.total)
                         .Add("PerSecond", build.per_second)
                         .Add("SecondsLeft", absl::ToInt64Seconds(build.time_left))
                         .Add("SkippedItemCount", build.skipped_items);
  if (!build.last_error.empty()) object.Add("LastError", build.last_error);
  return object;
}

JsonValue IndexToJson(const IndexDescription& index) {
  JsonValue object = JsonValue::Object()
                         .Add("IndexName", index.definition.index_name)
                         .Add("IndexStatus", NameOf(index.index_status))
                         .Add("KeySchema", KeySchemaToJson(index.definition.key_schema))
                         .Add("Projection", ProjectionToJson(index.definition.projection));
  if (index.index_status == TableStatus::kCreating) object.Add("Backfilling", true);
  if (index.build.has_value()) object.Add("Build", BuildToJson(*index.build));
  if (index.definition.provisioned_throughput.has_value()) {
    object.Add("ProvisionedThroughput", ThroughputToJson(*index.definition.provisioned_throughput));
  }
  AddOtherThroughputs(index.definition, &object);
  object.Add("ItemCount", index.item_count).Add("IndexSizeBytes", index.index_size_bytes);
  if (index.skipped_items > 0) object.Add("SkippedItemCount", index.skipped_items);
  return object;
}

JsonValue VectorIndexToJson(const VectorIndexDescription& index) {
  const VectorIndex& definition = index.definition;
  JsonValue object =
      JsonValue::Object()
          .Add("IndexName", definition.index_name)
          .Add("IndexStatus", NameOf(index.index_status))
          .Add("VectorAttribute", JsonValue::Object().Add("AttributeName", definition.vector_attribute))
          .Add("Dimensions", definition.dimensions)
          .Add("DistanceFunction",
               Find<VectorDistanceFunction>(kDistanceFunctions, definition.distance_function))
          .Add("Projection", ProjectionToJson(definition.projection));
  if (!definition.search_schema.empty())
    object.Add("SearchSchema", SearchSchemaToJson(definition.search_schema));
  if (index.index_status == TableStatus::kCreating) object.Add("Backfilling", true);
  if (index.build.has_value()) object.Add("Build", BuildToJson(*index.build));
  object.Add("ItemCount", index.item_count).Add("IndexSizeBytes", index.index_size_bytes);
  if (index.skipped_items > 0) object.Add("SkippedItemCount", index.skipped_items);
  return object;
}

JsonValue TagsToJson(const std::map<std::string, std::string>& tags) {
  JsonValue array = JsonValue::Array();
  for (const auto& [key, value] : tags) {
    array.elements.push_back(JsonValue::Object().Add("Key", key).Add("Value", value));
  }
  return array;
}

std::string_view NameOf(ScalarAttributeType type) { return Find<ScalarAttributeType>(kAttributeTypes, type); }
std::string_view NameOf(KeyType type) { return Find<KeyType>(kKeyTypes, type); }
std::string_view NameOf(ProjectionType type) { return Find<ProjectionType>(kProjectionTypes, type); }
std::string_view NameOf(BillingMode mode) { return Find<BillingMode>(kBillingModes, mode); }
std::string_view NameOf(StreamViewType type) { return Find<StreamViewType>(kStreamViewTypes, type); }
std::string_view NameOf(TableClass table_class) { return Find<TableClass>(kTableClasses, table_class); }
std::string_view NameOf(TableStatus status) { return Find<TableStatus>(kTableStatuses, status); }

absl::StatusOr<TableDefinition> TableDefinitionFromJson(const JsonValue& document) {
  const JsonValue json = RequestOfDescription(document);
  MemberReader reader(json, kDocument);
  reader.Allow(
      {"TableName", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode",
       "ProvisionedThroughput", "StreamSpecification", "LocalSecondaryIndexes", "DeletionProtectionEnabled",
       "Tags", "VectorIndexes", "TableClass", "SSESpecification", "OnDemandThroughput", "WarmThroughput"},
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
  const std::optional<StreamViewType> stream =
      reader.Object<std::optional<StreamViewType>>("StreamSpecification", false, ReadStreamSpecification)
          .value_or(std::nullopt);
  table.stream_enabled = stream.has_value();
  table.stream_view_type = stream.value_or(StreamViewType::kKeysOnly);
  table.local_secondary_indexes =
      reader.Objects<LocalSecondaryIndex>("LocalSecondaryIndexes", false, ReadLocalIndex);
  table.vector_indexes = reader.Objects<VectorIndex>("VectorIndexes", false, ReadVectorIndex);
  table.deletion_protection_enabled = reader.OptionalBool("DeletionProtectionEnabled");
  table.table_class = reader.Enum<TableClass>("TableClass", kTableClasses, TableClass::kStandard);
  table.sse_specification = reader.Object<SseSpecification>("SSESpecification", false, ReadSse);
  table.on_demand_throughput = reader.Object<OnDemandThroughput>("OnDemandThroughput", false, ReadOnDemand);
  table.warm_throughput = reader.Object<WarmThroughput>("WarmThroughput", false, ReadWarm);
  for (auto& [key, value] : reader.Objects<std::pair<std::string, std::string>>("Tags", false, ReadTag)) {
    if (!table.tags.emplace(key, value).second) reader.Fail("Tags name " + JsonString(key) + " twice");
  }
  if (!reader.status().ok()) return reader.status();
  return table;
}

absl::StatusOr<TableDefinition> ParseTableDefinition(std::string_view text) {
  absl::StatusOr<JsonValue> json = ParseJson(text);
  if (!json.ok()) return UsageError(std::string(kDocument) + ": " + std::string(json.status().message()));
  return TableDefinitionFromJson(*json);
}

JsonValue TableToJson(const TableDescription& table) {
  const TableDefinition& definition = table.definition;
  JsonValue attributes = JsonValue::Array();
  for (const AttributeDefinition& attribute : definition.attribute_definitions) {
    attributes.elements.push_back(JsonValue::Object()
                                      .Add("AttributeName", attribute.attribute_name)
                                      .Add("AttributeType", NameOf(attribute.attribute_type)));
  }
  JsonValue object =
      JsonValue::Object()
          .Add("TableName", definition.table_name)
          .Add("TableStatus", NameOf(table.table_status))
          .Add("TableArn", kArnOfTables + definition.table_name)
          .Add("TableId", table.table_id)
          .Add("StorageId", table.storage_id)
          .Add("CreationDateTime",
               absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", table.creation_time, absl::UTCTimeZone()))
          .Add("AttributeDefinitions", std::move(attributes))
          .Add("KeySchema", KeySchemaToJson(definition.key_schema))
          .Add("BillingModeSummary", JsonValue::Object().Add("BillingMode", NameOf(definition.billing_mode)));
  if (definition.provisioned_throughput.has_value()) {
    object.Add("ProvisionedThroughput", ThroughputToJson(*definition.provisioned_throughput));
  }
  if (!table.indexes.empty()) {
    JsonValue indexes = JsonValue::Array();
    for (const IndexDescription& index : table.indexes) indexes.elements.push_back(IndexToJson(index));
    object.Add("GlobalSecondaryIndexes", std::move(indexes));
  }
  if (!table.local_indexes.empty()) {
    JsonValue indexes = JsonValue::Array();
    for (const LocalIndexDescription& index : table.local_indexes) {
      indexes.elements.push_back(LocalIndexToJson(index));
    }
    object.Add("LocalSecondaryIndexes", std::move(indexes));
  }
  if (!table.vector_indexes.empty()) {
    JsonValue indexes = JsonValue::Array();
    for (const VectorIndexDescription& index : table.vector_indexes)
      indexes.elements.push_back(VectorIndexToJson(index));
    object.Add("VectorIndexes", std::move(indexes));
  }
  AddSettings(definition, &object);
  if (!definition.tags.empty()) object.Add("Tags", TagsToJson(definition.tags));
  object.Add("DeletionProtectionEnabled", definition.deletion_protection_enabled)
      .Add("StreamSpecification", StreamToJson(definition));
  if (!table.latest_stream_label.empty()) {
    object.Add("LatestStreamLabel", table.latest_stream_label)
        .Add("LatestStreamArn",
             kArnOfTables + definition.table_name + "/stream/" + table.latest_stream_label);
  }
  if (table.write_fence.has_value()) {
    JsonValue fence = JsonValue::Object()
                          .Add("Endpoint", table.write_fence->endpoint)
                          .Add("Moved", table.write_fence->moved);
    if (!table.write_fence->pass_sha256.empty()) fence.Add("PassSha256", table.write_fence->pass_sha256);
    object.Add("WriteFence", std::move(fence));
  }
  if (table.restore.has_value()) {
    object.Add("RestoreSummary",
               JsonValue::Object()
                   .Add("SourceBackupArn", table.restore->source_backup_arn)
                   .Add("SourceTableArn", table.restore->source_table_arn)
                   .Add("RestoreDateTime", absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ",
                                                            table.restore->restore_time, absl::UTCTimeZone()))
                   .Add("RestoreInProgress", true)
                   .Add("ItemsRestored", table.restore->items_restored)
                   .Add("ItemsTotal", table.restore->items_total));
  }
  object.Add("ItemCount", table.item_count).Add("TableSizeBytes", table.table_size_bytes);
  return object;
}

}  // namespace itemdb::tools
