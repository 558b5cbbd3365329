#include "client/convert.h"

#include "absl/time/time.h"
#include "client/enum_table.h"
#include "common/status_macros.h"

namespace itemdb {
namespace {

constexpr std::pair<ScalarAttributeType, v1::ScalarAttributeType> kAttributeTypes[] = {
    {ScalarAttributeType::kString, v1::SCALAR_ATTRIBUTE_TYPE_S},
    {ScalarAttributeType::kNumber, v1::SCALAR_ATTRIBUTE_TYPE_N},
    {ScalarAttributeType::kBinary, v1::SCALAR_ATTRIBUTE_TYPE_B}};
constexpr std::pair<ProjectionType, v1::ProjectionType> kProjectionTypes[] = {
    {ProjectionType::kKeysOnly, v1::PROJECTION_TYPE_KEYS_ONLY},
    {ProjectionType::kInclude, v1::PROJECTION_TYPE_INCLUDE},
    {ProjectionType::kAll, v1::PROJECTION_TYPE_ALL}};
constexpr std::pair<StreamViewType, v1::StreamViewType> kStreamViewTypes[] = {
    {StreamViewType::kKeysOnly, v1::STREAM_VIEW_TYPE_KEYS_ONLY},
    {StreamViewType::kNewImage, v1::STREAM_VIEW_TYPE_NEW_IMAGE},
    {StreamViewType::kOldImage, v1::STREAM_VIEW_TYPE_OLD_IMAGE},
    {StreamViewType::kNewAndOldImages, v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES}};
constexpr std::pair<TableStatus, v1::TableStatus> kTableStatuses[] = {
    {TableStatus::kActive, v1::TABLE_STATUS_ACTIVE},
    {TableStatus::kCreating, v1::TABLE_STATUS_CREATING},
    {TableStatus::kUpdating, v1::TABLE_STATUS_UPDATING},
    {TableStatus::kDeleting, v1::TABLE_STATUS_DELETING}};
constexpr std::pair<IndexBuild::Phase, v1::IndexBuild::Phase> kBuildPhases[] = {
    {IndexBuild::Phase::kWaiting, v1::IndexBuild::PHASE_WAITING},
    {IndexBuild::Phase::kScanning, v1::IndexBuild::PHASE_SCANNING},
    {IndexBuild::Phase::kWriting, v1::IndexBuild::PHASE_WRITING},
    {IndexBuild::Phase::kCatchingUp, v1::IndexBuild::PHASE_CATCHING_UP}};
constexpr std::pair<VectorDistanceFunction, v1::VectorDistanceFunction> kDistanceFunctions[] = {
    {VectorDistanceFunction::kCosine, v1::VECTOR_DISTANCE_FUNCTION_COSINE},
    {VectorDistanceFunction::kEuclidean, v1::VECTOR_DISTANCE_FUNCTION_EUCLIDEAN},
    {VectorDistanceFunction::kDotProduct, v1::VECTOR_DISTANCE_FUNCTION_DOT_PRODUCT}};
constexpr std::pair<TimeToLiveStatus, v1::TimeToLiveStatus> kTimeToLiveStatuses[] = {
    {TimeToLiveStatus::kEnabling, v1::TIME_TO_LIVE_STATUS_ENABLING},
    {TimeToLiveStatus::kEnabled, v1::TIME_TO_LIVE_STATUS_ENABLED},
    {TimeToLiveStatus::kDisabled, v1::TIME_TO_LIVE_STATUS_DISABLED},
    {TimeToLiveStatus::kDisabled, v1::TIME_TO_LIVE_STATUS_UNSPECIFIED}};
constexpr std::pair<ContributorInsightsStatus, v1::ContributorInsightsStatus> kInsightsStatuses[] = {
    {ContributorInsightsStatus::kEnabled, v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLED},
    {ContributorInsightsStatus::kDisabled, v1::CONTRIBUTOR_INSIGHTS_STATUS_DISABLED},
    {ContributorInsightsStatus::kEnabling, v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLING},
    {ContributorInsightsStatus::kDisabling, v1::CONTRIBUTOR_INSIGHTS_STATUS_DISABLING},
    {ContributorInsightsStatus::kFailed, v1::CONTRIBUTOR_INSIGHTS_STATUS_FAILED}};
constexpr std::pair<ChangeKind, v1::ChangeKind> kChangeKinds[] = {
    {ChangeKind::kInsert, v1::CHANGE_KIND_INSERT},
    {ChangeKind::kModify, v1::CHANGE_KIND_MODIFY},
    {ChangeKind::kRemove, v1::CHANGE_KIND_REMOVE},
    {ChangeKind::kCreateTable, v1::CHANGE_KIND_CREATE_TABLE},
    {ChangeKind::kDeleteTable, v1::CHANGE_KIND_DELETE_TABLE},
    {ChangeKind::kUpdateTable, v1::CHANGE_KIND_UPDATE_TABLE}};

IndexBuild BuildFromProto(const v1::IndexBuild& build) {
  return {.phase = ValueOf(kBuildPhases, build.phase(), IndexBuild::Phase::kUnknown),
          .done = build.done(),
          .total = build.total(),
          .per_second = build.per_second(),
          .time_left = absl::Seconds(build.seconds_left()),
          .skipped_items = build.skipped_items(),
          .last_error = build.last_error()};
}

template <typename Elements>
void KeySchemaToProto(const std::vector<KeySchemaElement>& key_schema, Elements* elements) {
  for (const KeySchemaElement& element : key_schema) {
    v1::KeySchemaElement* message = elements->Add();
    message->set_attribute_name(element.attribute_name);
    message->set_key_type(element.key_type == KeyType::kHash ? v1::KEY_TYPE_HASH : v1::KEY_TYPE_RANGE);
  }
}

template <typename Elements>
std::vector<KeySchemaElement> KeySchemaFromProto(const Elements& elements) {
  std::vector<KeySchemaElement> key_schema;
  for (const v1::KeySchemaElement& message : elements) {
    key_schema.push_back(
        {.attribute_name = message.attribute_name(),
         .key_type = message.key_type() == v1::KEY_TYPE_HASH ? KeyType::kHash : KeyType::kRange});
  }
  return key_schema;
}

void ProjectionToProto(const Projection& projection, v1::Projection* message) {
  message->set_projection_type(ProtoOf(kProjectionTypes, projection.projection_type));
  for (const std::string& name : projection.non_key_attributes) message->add_non_key_attributes(name);
}

Projection ProjectionFromProto(const v1::Projection& message) {
  return {.projection_type = ValueOf(kProjectionTypes, message.projection_type(), ProjectionType::kAll),
          .non_key_attributes = {message.non_key_attributes().begin(), message.non_key_attributes().end()}};
}

void ThroughputToProto(const ProvisionedThroughput& throughput, v1::ProvisionedThroughput* message) {
  message->set_read_capacity_units(throughput.read_capacity_units);
  message->set_write_capacity_units(throughput.write_capacity_units);
}

// Nothing if both are 0: DynamoDB shows a table without throughput as 0 and 0.
std::optional<ProvisionedThroughput> ThroughputFromProto(const v1::ProvisionedThroughput& message) {
  if (message.read_capacity_units() == 0 && message.write_capacity_units() == 0) return std::nullopt;
  return ProvisionedThroughput{.read_capacity_units = message.read_capacity_units(),
                               .write_capacity_units = message.write_capacity_units()};
}

v1::TableClass ClassToProto(TableClass table_class) {
  return table_class == TableClass::kStandard ? v1::TABLE_CLASS_STANDARD
                                              : v1::TABLE_CLASS_STANDARD_INFREQUENT_ACCESS;
}

template <typename Settings, typename Message>
void EncryptionToProto(const Settings& settings, Message* message) {
  if (!settings.sse_specification.has_value()) return;
  v1::SseSpecification* sse = message->mutable_sse_specification();
  sse->set_enabled(settings.sse_specification->enabled);
  sse->set_sse_type(settings.sse_specification->sse_type);
  sse->set_kms_master_key_id(settings.sse_specification->kms_master_key_id);
}

void OnDemandToProto(const OnDemandThroughput& wanted, v1::OnDemandThroughput* units) {
  if (wanted.max_read_request_units) units->set_max_read_request_units(*wanted.max_read_request_units);
  if (wanted.max_write_request_units) units->set_max_write_request_units(*wanted.max_write_request_units);
}

// On-demand and warm throughput of a table or an index; the daemon only stores them.
template <typename Settings, typename Message>
void SomeThroughputToProto(const Settings& settings, Message* message) {
  if (settings.on_demand_throughput.has_value())
    OnDemandToProto(*settings.on_demand_throughput, message->mutable_on_demand_throughput());
  if (settings.warm_throughput.has_value()) {
    v1::WarmThroughput* units = message->mutable_warm_throughput();
    const WarmThroughput& wanted = *settings.warm_throughput;
    if (wanted.read_units_per_second) units->set_read_units_per_second(*wanted.read_units_per_second);
    if (wanted.write_units_per_second) units->set_write_units_per_second(*wanted.write_units_per_second);
  }
}

v1::WriteFence FenceToProto(const WriteFence& fence) {
  v1::WriteFence message;
  message.set_endpoint(fence.endpoint);
  message.set_moved(fence.moved);
  message.set_pass_sha256(fence.pass_sha256);
  return message;
}

// The settings that the daemon only stores, from a definition or from an UpdateTableRequest.
template <typename Settings, typename Message>
void SettingsToProto(const Settings& settings, Message* message) {
  EncryptionToProto(settings, message);
  SomeThroughputToProto(settings, message);
}

template <typename Message, typename Definition>
void SomeThroughputFromProto(const Message& message, Definition* definition) {
  if (message.has_on_demand_throughput()) {
    const v1::OnDemandThroughput& units = message.on_demand_throughput();
    OnDemandThroughput& kept = definition->on_demand_throughput.emplace();
    if (units.has_max_read_request_units()) kept.max_read_request_units = units.max_read_request_units();
    if (units.has_max_write_request_units()) kept.max_write_request_units = units.max_write_request_units();
  }
  if (message.has_warm_throughput()) {
    const v1::WarmThroughput& units = message.warm_throughput();
    WarmThroughput& kept = definition->warm_throughput.emplace();
    if (units.has_read_units_per_second()) kept.read_units_per_second = units.read_units_per_second();
    if (units.has_write_units_per_second()) kept.write_units_per_second = units.write_units_per_second();
  }
}

void SettingsFromProto(const v1::TableDescription& message, TableDefinition* definition) {
  if (message.table_class() == v1::TABLE_CLASS_STANDARD_INFREQUENT_ACCESS)
    definition->table_class = TableClass::kStandardInfrequentAccess;
  if (message.has_sse_specification()) {
    definition->sse_specification =
        SseSpecification{.enabled = message.sse_specification().enabled(),
                         .sse_type = message.sse_specification().sse_type(),
                         .kms_master_key_id = message.sse_specification().kms_master_key_id()};
  }
  SomeThroughputFromProto(message, definition);
}

IndexDescription IndexFromProto(const v1::GlobalSecondaryIndexDescription& message) {
  IndexDescription index;
  index.definition.index_name = message.index_name();
  index.definition.key_schema = KeySchemaFromProto(message.key_schema());
  index.definition.projection = ProjectionFromProto(message.projection());
  index.definition.provisioned_throughput = ThroughputFromProto(message.provisioned_throughput());
  SomeThroughputFromProto(message, &index.definition);
  index.index_status = ValueOf(kTableStatuses, message.index_status(), TableStatus::kUnknown);
  if (message.has_build()) index.build = BuildFromProto(message.build());
  index.skipped_items = message.skipped_items();
  index.storage_id = message.storage_id();
  index.item_count = message.item_count();
  index.index_size_bytes = message.index_size_bytes();
  return index;
}

LocalIndexDescription IndexFromProto(const v1::LocalSecondaryIndexDescription& message) {
  return {.definition = {.index_name = message.index_name(),
                         .key_schema = KeySchemaFromProto(message.key_schema()),
                         .projection = ProjectionFromProto(message.projection())},
          .storage_id = message.storage_id(),
          .item_count = message.item_count(),
          .index_size_bytes = message.index_size_bytes()};
}

VectorIndexDescription IndexFromProto(const v1::VectorIndexDescription& message) {
  VectorIndexDescription index;
  VectorIndex& definition = index.definition;
  definition.index_name = message.index_name();
  definition.vector_attribute = message.vector_attribute();
  definition.dimensions = message.dimensions();
  definition.distance_function =
      ValueOf(kDistanceFunctions, message.distance_function(), VectorDistanceFunction::kCosine);
  definition.projection = ProjectionFromProto(message.projection());
  for (const v1::SearchSchemaElement& element : message.search_schema()) {
    definition.search_schema.push_back(
        {.attribute_name = element.attribute_name(),
         .type = element.search_schema_element_type() == v1::SEARCH_SCHEMA_ELEMENT_TYPE_HASH
                     ? SearchSchemaElementType::kHash
                     : SearchSchemaElementType::kInlineFilter});
  }
  index.index_status = ValueOf(kTableStatuses, message.index_status(), TableStatus::kUnknown);
  if (message.has_build()) index.build = BuildFromProto(message.build());
  index.skipped_items = message.skipped_items();
  index.storage_id = message.storage_id();
  index.item_count = message.item_count();
  index.index_size_bytes = message.index_size_bytes();
  return index;
}

v1::BillingMode ModeToProto(BillingMode mode) {
  return mode == BillingMode::kProvisioned ? v1::BILLING_MODE_PROVISIONED : v1::BILLING_MODE_PAY_PER_REQUEST;
}

template <typename Tags>
void TagsToProto(const std::map<std::string, std::string>& tags, Tags* messages) {
  for (const auto& [key, value] : tags) {
    v1::Tag* added = messages->Add();
    added->set_key(key);
    added->set_value(value);
  }
}

void IndexToProto(const GlobalSecondaryIndex& index, v1::GlobalSecondaryIndex* message) {
  message->set_index_name(index.index_name);
  KeySchemaToProto(index.key_schema, message->mutable_key_schema());
  ProjectionToProto(index.projection, message->mutable_projection());
  if (index.provisioned_throughput.has_value()) {
    ThroughputToProto(*index.provisioned_throughput, message->mutable_provisioned_throughput());
  }
  SomeThroughputToProto(index, message);
}

void IndexToProto(const LocalSecondaryIndex& index, v1::LocalSecondaryIndex* message) {
  message->set_index_name(index.index_name);
  KeySchemaToProto(index.key_schema, message->mutable_key_schema());
  ProjectionToProto(index.projection, message->mutable_projection());
}

void IndexToProto(const VectorIndex& index, v1::VectorIndex* message) {
  message->set_index_name(index.index_name);
  message->set_vector_attribute(index.vector_attribute);
  message->set_dimensions(index.dimensions);
  message->set_distance_function(ProtoOf(kDistanceFunctions, index.distance_function));
  ProjectionToProto(index.projection, message->mutable_projection());
  for (const SearchSchemaElement& element : index.search_schema) {
    v1::SearchSchemaElement* added = message->add_search_schema();
    added->set_attribute_name(element.attribute_name);
    added->set_search_schema_element_type(element.type == SearchSchemaElementType::kHash
                                              ? v1::SEARCH_SCHEMA_ELEMENT_TYPE_HASH
                                              : v1::SEARCH_SCHEMA_ELEMENT_TYPE_INLINE_FILTER);
  }
}

template <typename Messages>
void AttributesToProto(const std::vector<AttributeDefinition>& attributes, Messages* messages) {
  for (const AttributeDefinition& attribute : attributes) {
    v1::AttributeDefinition* added = messages->Add();
    added->set_attribute_name(attribute.attribute_name);
    added->set_attribute_type(ProtoOf(kAttributeTypes, attribute.attribute_type));
  }
}

}  // namespace

v1::CreateTableRequest ToProto(const TableDefinition& definition) {
  v1::CreateTableRequest message;
  message.set_table_name(definition.table_name);
  AttributesToProto(definition.attribute_definitions, message.mutable_attribute_definitions());
  KeySchemaToProto(definition.key_schema, message.mutable_key_schema());
  for (const GlobalSecondaryIndex& index : definition.global_secondary_indexes) {
    IndexToProto(index, message.add_global_secondary_indexes());
  }
  for (const LocalSecondaryIndex& index : definition.local_secondary_indexes) {
    IndexToProto(index, message.add_local_secondary_indexes());
  }
  for (const VectorIndex& index : definition.vector_indexes)
    IndexToProto(index, message.add_vector_indexes());
  message.set_billing_mode(ModeToProto(definition.billing_mode));
  if (definition.provisioned_throughput.has_value()) {
    ThroughputToProto(*definition.provisioned_throughput, message.mutable_provisioned_throughput());
  }
  message.set_stream_view_type(ProtoOf(kStreamViewTypes, definition.stream_view_type));
  message.set_stream_enabled(definition.stream_enabled);
  message.set_deletion_protection_enabled(definition.deletion_protection_enabled);
  TagsToProto(definition.tags, message.mutable_tags());
  if (definition.table_class != TableClass::kStandard)
    message.set_table_class(ClassToProto(definition.table_class));
  SettingsToProto(definition, &message);
  return message;
}

v1::UpdateTableRequest ToProto(const UpdateTableRequest& request) {
  v1::UpdateTableRequest message;
  message.set_table_name(request.table_name);
  if (request.billing_mode.has_value()) message.set_billing_mode(ModeToProto(*request.billing_mode));
  if (request.provisioned_throughput.has_value()) {
    ThroughputToProto(*request.provisioned_throughput, message.mutable_provisioned_throughput());
  }
  for (const auto& [index_name, throughput] : request.global_secondary_index_throughputs) {
    v1::GlobalSecondaryIndexThroughput* added = message.add_global_secondary_index_throughputs();
    added->set_index_name(index_name);
    ThroughputToProto(throughput, added->mutable_provisioned_throughput());
  }
  if (request.create_global_secondary_index.has_value())
    IndexToProto(*request.create_global_secondary_index, message.add_global_secondary_index_creations());
  AttributesToProto(request.attribute_definitions, message.mutable_attribute_definitions());
  if (!request.delete_global_secondary_index.empty())
    message.add_global_secondary_index_deletions(request.delete_global_secondary_index);
  if (request.create_vector_index.has_value())
    IndexToProto(*request.create_vector_index, message.add_vector_index_creations());
  if (!request.delete_vector_index.empty()) message.add_vector_index_deletions(request.delete_vector_index);
  if (request.deletion_protection_enabled.has_value()) {
    message.set_deletion_protection_enabled(*request.deletion_protection_enabled);
  }
  if (request.stream_view_type.has_value()) {
    message.set_stream_view_type(ProtoOf(kStreamViewTypes, *request.stream_view_type));
  }
  if (request.stream_enabled.has_value()) message.set_stream_enabled(*request.stream_enabled);
  if (request.table_class.has_value()) message.set_table_class(ClassToProto(*request.table_class));
  if (request.write_fence.has_value()) *message.mutable_write_fence() = FenceToProto(*request.write_fence);
  if (request.expected_write_fence.has_value())
    *message.mutable_expected_write_fence() = FenceToProto(*request.expected_write_fence);
  SettingsToProto(request, &message);
  return message;
}

v1::TagTableRequest ToProto(const TagTableRequest& request) {
  v1::TagTableRequest message;
  message.set_table_name(request.table_name);
  TagsToProto(request.tags, message.mutable_tags());
  return message;
}

v1::RestoreOverrides ToProto(const RestoreOverrides& overrides) {
  v1::RestoreOverrides message;
  if (overrides.billing_mode.has_value()) message.set_billing_mode(ModeToProto(*overrides.billing_mode));
  if (overrides.provisioned_throughput.has_value())
    ThroughputToProto(*overrides.provisioned_throughput, message.mutable_provisioned_throughput());
  if (overrides.on_demand_throughput.has_value())
    OnDemandToProto(*overrides.on_demand_throughput, message.mutable_on_demand_throughput());
  EncryptionToProto(overrides, &message);
  if (overrides.global_secondary_indexes.has_value()) {
    auto* indexes = message.mutable_global_secondary_indexes();
    for (const GlobalSecondaryIndex& index : *overrides.global_secondary_indexes)
      IndexToProto(index, indexes->add_indexes());
  }
  if (overrides.local_secondary_indexes.has_value()) {
    auto* indexes = message.mutable_local_secondary_indexes();
    for (const LocalSecondaryIndex& index : *overrides.local_secondary_indexes)
      IndexToProto(index, indexes->add_indexes());
  }
  if (overrides.vector_indexes.has_value()) {
    auto* indexes = message.mutable_vector_indexes();
    for (const VectorIndex& index : *overrides.vector_indexes) IndexToProto(index, indexes->add_indexes());
  }
  return message;
}

TableDescription FromProto(const v1::TableDescription& message) {
  TableDescription table;
  TableDefinition& definition = table.definition;
  definition.table_name = message.table_name();
  for (const v1::AttributeDefinition& attribute : message.attribute_definitions()) {
    definition.attribute_definitions.push_back(
        {.attribute_name = attribute.attribute_name(),
         .attribute_type =
             ValueOf(kAttributeTypes, attribute.attribute_type(), ScalarAttributeType::kString)});
  }
  definition.key_schema = KeySchemaFromProto(message.key_schema());
  for (const v1::GlobalSecondaryIndexDescription& index : message.global_secondary_indexes()) {
    table.indexes.push_back(IndexFromProto(index));
    definition.global_secondary_indexes.push_back(table.indexes.back().definition);
  }
  for (const v1::LocalSecondaryIndexDescription& index : message.local_secondary_indexes()) {
    table.local_indexes.push_back(IndexFromProto(index));
    definition.local_secondary_indexes.push_back(table.local_indexes.back().definition);
  }
  for (const v1::VectorIndexDescription& index : message.vector_indexes()) {
    table.vector_indexes.push_back(IndexFromProto(index));
    definition.vector_indexes.push_back(table.vector_indexes.back().definition);
  }
  definition.billing_mode = message.billing_mode() == v1::BILLING_MODE_PAY_PER_REQUEST
                                ? BillingMode::kPayPerRequest
                                : BillingMode::kProvisioned;
  definition.provisioned_throughput = ThroughputFromProto(message.provisioned_throughput());
  definition.stream_view_type =
      ValueOf(kStreamViewTypes, message.stream_view_type(), StreamViewType::kKeysOnly);
  definition.stream_enabled = message.stream_enabled();
  definition.deletion_protection_enabled = message.deletion_protection_enabled();
  for (const v1::Tag& tag : message.tags()) definition.tags[tag.key()] = tag.value();
  SettingsFromProto(message, &definition);

  table.table_status = ValueOf(kTableStatuses, message.table_status(), TableStatus::kUnknown);
  table.table_id = message.table_id();
  table.storage_id = message.storage_id();
  table.creation_time = absl::FromUnixMillis(message.creation_time_ms());
  table.item_count = message.item_count();
  table.table_size_bytes = message.table_size_bytes();
  table.latest_stream_label = message.latest_stream_label();
  if (message.has_write_fence()) {
    table.write_fence = WriteFence{.endpoint = message.write_fence().endpoint(),
                                   .moved = message.write_fence().moved(),
                                   .pass_sha256 = message.write_fence().pass_sha256()};
  }
  if (message.has_restore_summary()) {
    const v1::RestoreSummary& summary = message.restore_summary();
    table.restore = RestoreSummary{.source_backup_arn = summary.source_backup_arn(),
                                   .source_table_arn = summary.source_table_arn(),
                                   .restore_time = absl::FromUnixMillis(summary.restore_time_ms()),
                                   .items_restored = summary.items_restored(),
                                   .items_total = summary.items_total()};
  }
  return table;
}

TimeToLiveResult FromProto(const v1::DescribeTimeToLiveReply& message) {
  TimeToLiveResult result{
      .change_sequence = message.change_sequence(),
      .status = ValueOf(kTimeToLiveStatuses, message.time_to_live_status(), TimeToLiveStatus::kUnknown),
      .attribute_name = message.attribute_name(),
      .items_with_time = message.items_with_time(),
      .items_expired = message.items_expired()};
  if (message.has_build()) result.build = BuildFromProto(message.build());
  return result;
}

ContributorInsights FromProto(const v1::ContributorInsightsSummary& message) {
  return {.table_name = message.table_name(),
          .index_name = message.index_name(),
          .status = ValueOf(kInsightsStatuses, message.contributor_insights_status(),
                            ContributorInsightsStatus::kUnknown),
          .mode = message.contributor_insights_mode() == v1::CONTRIBUTOR_INSIGHTS_MODE_THROTTLED_KEYS
                      ? ContributorInsightsMode::kThrottledKeys
                      : ContributorInsightsMode::kAccessedAndThrottledKeys,
          .last_update_time = absl::FromUnixMillis(message.last_update_time_ms())};
}

absl::StatusOr<ChangeRecord> FromProto(const v1::ChangeRecord& message) {
  ChangeRecord record;
  record.change_sequence = message.change_sequence();
  record.commit_time = absl::FromUnixMicros(message.commit_time_us());
  record.table_storage_id = message.table_storage_id();
  record.kind = ValueOf(kChangeKinds, message.kind(), ChangeKind::kUnknown);
  record.commit_first_sequence = message.commit_first_sequence();
  record.commit_last_sequence = message.commit_last_sequence();
  if (message.has_table()) record.table = FromProto(message.table());
  record.expired = message.expired();
  record.discarded = message.discarded();

  struct Image {
    bool present;
    const v1::Item& message;
    std::optional<Item>& item;
  };
  for (const Image& image : {Image{message.has_key(), message.key(), record.key},
                             Image{message.has_old_image(), message.old_image(), record.old_image},
                             Image{message.has_new_image(), message.new_image(), record.new_image}}) {
    if (!image.present) continue;
    ITEMDB_ASSIGN_OR_RETURN(Item item, FromProto(image.message));
    image.item = std::move(item);
  }
  return record;
}

}  // namespace itemdb
