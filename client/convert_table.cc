#include "client/convert.h"

#include "absl/time/time.h"

namespace itemdb {
inline namespace client {
namespace {

v1::ScalarAttributeType TypeToProto(ScalarAttributeType type) {
  switch (type) {
    case ScalarAttributeType::kString:
      return v1::SCALAR_ATTRIBUTE_TYPE_S;
    case ScalarAttributeType::kNumber:
      return v1::SCALAR_ATTRIBUTE_TYPE_N;
    case ScalarAttributeType::kBinary:
      return v1::SCALAR_ATTRIBUTE_TYPE_B;
  }
  return v1::SCALAR_ATTRIBUTE_TYPE_UNSPECIFIED;
}

ScalarAttributeType TypeFromProto(v1::ScalarAttributeType type) {
  switch (type) {
    case v1::SCALAR_ATTRIBUTE_TYPE_N:
      return ScalarAttributeType::kNumber;
    case v1::SCALAR_ATTRIBUTE_TYPE_B:
      return ScalarAttributeType::kBinary;
    default:
      return ScalarAttributeType::kString;
  }
}

v1::ProjectionType ProjectionToProto(ProjectionType type) {
  switch (type) {
    case ProjectionType::kKeysOnly:
      return v1::PROJECTION_TYPE_KEYS_ONLY;
    case ProjectionType::kInclude:
      return v1::PROJECTION_TYPE_INCLUDE;
    case ProjectionType::kAll:
      return v1::PROJECTION_TYPE_ALL;
  }
  return v1::PROJECTION_TYPE_UNSPECIFIED;
}

ProjectionType ProjectionFromProto(v1::ProjectionType type) {
  switch (type) {
    case v1::PROJECTION_TYPE_KEYS_ONLY:
      return ProjectionType::kKeysOnly;
    case v1::PROJECTION_TYPE_INCLUDE:
      return ProjectionType::kInclude;
    default:
      return ProjectionType::kAll;
  }
}

v1::StreamViewType ViewToProto(StreamViewType type) {
  switch (type) {
    case StreamViewType::kKeysOnly:
      return v1::STREAM_VIEW_TYPE_KEYS_ONLY;
    case StreamViewType::kNewImage:
      return v1::STREAM_VIEW_TYPE_NEW_IMAGE;
    case StreamViewType::kOldImage:
      return v1::STREAM_VIEW_TYPE_OLD_IMAGE;
    case StreamViewType::kNewAndOldImages:
      return v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES;
  }
  return v1::STREAM_VIEW_TYPE_UNSPECIFIED;
}

StreamViewType ViewFromProto(v1::StreamViewType type) {
  switch (type) {
    case v1::STREAM_VIEW_TYPE_NEW_IMAGE:
      return StreamViewType::kNewImage;
    case v1::STREAM_VIEW_TYPE_OLD_IMAGE:
      return StreamViewType::kOldImage;
    case v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES:
      return StreamViewType::kNewAndOldImages;
    default:
      return StreamViewType::kKeysOnly;
  }
}

TableStatus StatusFromProto(v1::TableStatus status) {
  return status == v1::TABLE_STATUS_ACTIVE ? TableStatus::kActive : TableStatus::kUnknown;
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

void ThroughputToProto(const ProvisionedThroughput& throughput, v1::ProvisionedThroughput* message) {
  message->set_read_capacity_units(throughput.read_capacity_units);
  message->set_write_capacity_units(throughput.write_capacity_units);
}

// Nothing for 0 and 0 too: that is how DynamoDB shows a table without throughput.
std::optional<ProvisionedThroughput> ThroughputFromProto(const v1::ProvisionedThroughput& message) {
  if (message.read_capacity_units() == 0 && message.write_capacity_units() == 0) return std::nullopt;
  return ProvisionedThroughput{.read_capacity_units = message.read_capacity_units(),
                               .write_capacity_units = message.write_capacity_units()};
}

IndexDescription IndexFromProto(const v1::GlobalSecondaryIndexDescription& message) {
  IndexDescription index;
  index.definition.index_name = message.index_name();
  index.definition.key_schema = KeySchemaFromProto(message.key_schema());
  index.definition.projection.projection_type = ProjectionFromProto(message.projection().projection_type());
  index.definition.projection.non_key_attributes.assign(message.projection().non_key_attributes().begin(),
                                                        message.projection().non_key_attributes().end());
  index.definition.provisioned_throughput = ThroughputFromProto(message.provisioned_throughput());
  index.index_status = StatusFromProto(message.index_status());
  index.storage_id = message.storage_id();
  index.item_count = message.item_count();
  index.index_size_bytes = message.index_size_bytes();
  return index;
}

ChangeKind KindFromProto(v1::ChangeKind kind) {
  switch (kind) {
    case v1::CHANGE_KIND_INSERT:
      return ChangeKind::kInsert;
    case v1::CHANGE_KIND_MODIFY:
      return ChangeKind::kModify;
    case v1::CHANGE_KIND_REMOVE:
      return ChangeKind::kRemove;
    case v1::CHANGE_KIND_CREATE_TABLE:
      return ChangeKind::kCreateTable;
    case v1::CHANGE_KIND_DELETE_TABLE:
      return ChangeKind::kDeleteTable;
    default:
      return ChangeKind::kUnknown;
  }
}

}  // namespace

v1::CreateTableRequest ToProto(const TableDefinition& definition) {
  v1::CreateTableRequest message;
  message.set_table_name(definition.table_name);
  for (const AttributeDefinition& attribute : definition.attribute_definitions) {
    v1::AttributeDefinition* added = message.add_attribute_definitions();
    added->set_attribute_name(attribute.attribute_name);
    added->set_attribute_type(TypeToProto(attribute.attribute_type));
  }
  KeySchemaToProto(definition.key_schema, message.mutable_key_schema());
  for (const GlobalSecondaryIndex& index : definition.global_secondary_indexes) {
    v1::GlobalSecondaryIndex* added = message.add_global_secondary_indexes();
    added->set_index_name(index.index_name);
    KeySchemaToProto(index.key_schema, added->mutable_key_schema());
    added->mutable_projection()->set_projection_type(ProjectionToProto(index.projection.projection_type));
    for (const std::string& name : index.projection.non_key_attributes) {
      added->mutable_projection()->add_non_key_attributes(name);
    }
    if (index.provisioned_throughput.has_value()) {
      ThroughputToProto(*index.provisioned_throughput, added->mutable_provisioned_throughput());
    }
  }
  message.set_billing_mode(definition.billing_mode == BillingMode::kProvisioned
                               ? v1::BILLING_MODE_PROVISIONED
                               : v1::BILLING_MODE_PAY_PER_REQUEST);
  if (definition.provisioned_throughput.has_value()) {
    ThroughputToProto(*definition.provisioned_throughput, message.mutable_provisioned_throughput());
  }
  message.set_stream_view_type(ViewToProto(definition.stream_view_type));
  return message;
}

TableDescription FromProto(const v1::TableDescription& message) {
  TableDescription table;
  TableDefinition& definition = table.definition;
  definition.table_name = message.table_name();
  for (const v1::AttributeDefinition& attribute : message.attribute_definitions()) {
    definition.attribute_definitions.push_back({.attribute_name = attribute.attribute_name(),
                                                .attribute_type = TypeFromProto(attribute.attribute_type())});
  }
  definition.key_schema = KeySchemaFromProto(message.key_schema());
  for (const v1::GlobalSecondaryIndexDescription& index : message.global_secondary_indexes()) {
    table.indexes.push_back(IndexFromProto(index));
    definition.global_secondary_indexes.push_back(table.indexes.back().definition);
  }
  definition.billing_mode = message.billing_mode() == v1::BILLING_MODE_PAY_PER_REQUEST
                                ? BillingMode::kPayPerRequest
                                : BillingMode::kProvisioned;
  definition.provisioned_throughput = ThroughputFromProto(message.provisioned_throughput());
  definition.stream_view_type = ViewFromProto(message.stream_view_type());

  table.table_status = StatusFromProto(message.table_status());
  table.table_id = message.table_id();
  table.storage_id = message.storage_id();
  table.creation_time = absl::FromUnixMillis(message.creation_time_ms());
  table.item_count = message.item_count();
  table.table_size_bytes = message.table_size_bytes();
  return table;
}

absl::StatusOr<ChangeRecord> FromProto(const v1::ChangeRecord& message) {
  ChangeRecord record;
  record.change_sequence = message.change_sequence();
  record.commit_time = absl::FromUnixMicros(message.commit_time_us());
  record.table_storage_id = message.table_storage_id();
  record.kind = KindFromProto(message.kind());
  record.commit_first_sequence = message.commit_first_sequence();
  record.commit_last_sequence = message.commit_last_sequence();
  if (message.has_table()) record.table = FromProto(message.table());

  struct Image {
    bool present;
    const v1::Item& message;
    std::optional<Item>& item;
  };
  for (const Image& image : {Image{message.has_key(), message.key(), record.key},
                             Image{message.has_old_image(), message.old_image(), record.old_image},
                             Image{message.has_new_image(), message.new_image(), record.new_image}}) {
    if (!image.present) continue;
    absl::StatusOr<Item> item = FromProto(image.message);
    if (!item.ok()) return item.status();
    image.item = *std::move(item);
  }
  return record;
}

}  // namespace client
}  // namespace itemdb
