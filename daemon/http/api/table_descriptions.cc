// Writes table descriptions into replies.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "daemon/http/api/table_definitions.h"

namespace itemdb::http {

void WriteKeySchema(const google::protobuf::RepeatedPtrField<v1::KeySchemaElement>& schema,
                    storage::JsonWriter* writer) {
  writer->Name("KeySchema").BeginArray();
  for (const auto& element : schema) {
    writer->BeginObject().Name("AttributeName").String(element.attribute_name());
    writer->Name("KeyType").String(EnumText(element.key_type())).EndObject();
  }
  writer->EndArray();
}

void WriteProjection(const v1::Projection& projection, storage::JsonWriter* writer) {
  writer->Name("Projection").BeginObject();
  writer->Name("ProjectionType").String(EnumText(projection.projection_type()));
  if (!projection.non_key_attributes().empty()) {
    writer->Name("NonKeyAttributes").BeginArray();
    for (const std::string& name : projection.non_key_attributes()) writer->String(name);
    writer->EndArray();
  }
  writer->EndObject();
}

void WriteUnits(const v1::ProvisionedThroughput& throughput, storage::JsonWriter* writer) {
  writer->Name("ProvisionedThroughput").BeginObject();
  writer->Name("ReadCapacityUnits").Integer(throughput.read_capacity_units());
  writer->Name("WriteCapacityUnits").Integer(throughput.write_capacity_units()).EndObject();
}

void WriteEncryption(const v1::TableDescription& table, storage::JsonWriter* writer) {
  if (!table.sse_specification().enabled()) return;
  const v1::SseSpecification& sse = table.sse_specification();
  writer->Name("SSEDescription").BeginObject().Name("Status").String("ENABLED");
  writer->Name("SSEType").String(sse.sse_type().empty() ? "KMS" : sse.sse_type());
  if (!sse.kms_master_key_id().empty()) writer->Name("KMSMasterKeyArn").String(sse.kms_master_key_id());
  writer->EndObject();
}

void WriteStreamSpecification(const v1::TableDescription& table, std::string_view name,
                              storage::JsonWriter* writer) {
  if (!table.stream_enabled()) return;
  writer->Name(name).BeginObject().Name("StreamEnabled").Boolean(true);
  writer->Name("StreamViewType").String(EnumText(table.stream_view_type())).EndObject();
}

void WriteOnDemandThroughput(const v1::OnDemandThroughput& throughput, storage::JsonWriter* writer) {
  writer->Name("OnDemandThroughput").BeginObject();
  if (throughput.has_max_read_request_units())
    writer->Name("MaxReadRequestUnits").Integer(throughput.max_read_request_units());
  if (throughput.has_max_write_request_units())
    writer->Name("MaxWriteRequestUnits").Integer(throughput.max_write_request_units());
  writer->EndObject();
}

namespace {

template <typename Description>
void WriteOnDemand(const Description& description, storage::JsonWriter* writer) {
  if (description.has_on_demand_throughput())
    WriteOnDemandThroughput(description.on_demand_throughput(), writer);
}

// As in the service, a table or index without provisioned throughput has zeros.
void WriteThroughput(const v1::ProvisionedThroughput& throughput, storage::JsonWriter* writer) {
  writer->Name("ProvisionedThroughput").BeginObject().Name("NumberOfDecreasesToday").Integer(0);
  writer->Name("ReadCapacityUnits").Integer(throughput.read_capacity_units());
  writer->Name("WriteCapacityUnits").Integer(throughput.write_capacity_units()).EndObject();
}

// Writes the members that local and global indexes share.
template <typename Index>
void WriteIndex(const std::string& table_arn, const Index& index, storage::JsonWriter* writer) {
  writer->Name("IndexName").String(index.index_name());
  WriteKeySchema(index.key_schema(), writer);
  WriteProjection(index.projection(), writer);
  writer->Name("IndexSizeBytes").Integer(index.index_size_bytes());
  writer->Name("ItemCount").Integer(index.item_count());
  writer->Name("IndexArn").String(absl::StrCat(table_arn, "/index/", index.index_name()));
}

// Writes OnDemandThroughput and WarmThroughput of a table or an index.
template <typename Description>
void WriteOtherThroughputs(const Description& description, std::string_view status,
                           storage::JsonWriter* writer) {
  WriteOnDemand(description, writer);
  if (description.has_warm_throughput()) {
    const v1::WarmThroughput& throughput = description.warm_throughput();
    writer->Name("WarmThroughput").BeginObject();
    if (throughput.has_read_units_per_second())
      writer->Name("ReadUnitsPerSecond").Integer(throughput.read_units_per_second());
    if (throughput.has_write_units_per_second())
      writer->Name("WriteUnitsPerSecond").Integer(throughput.write_units_per_second());
    writer->Name("Status").String(status).EndObject();
  }
}

// Attribute definitions and non-key attributes by name, as the service lists them; indexes stay as they are.
v1::TableDescription WithSortedNames(v1::TableDescription table) {
  auto* definitions = table.mutable_attribute_definitions();
  std::sort(definitions->pointer_begin(), definitions->pointer_end(),
            [](const auto* a, const auto* b) { return a->attribute_name() < b->attribute_name(); });
  const auto sort_projections = [](auto* indexes) {
    for (auto& index : *indexes) {
      auto* names = index.mutable_projection()->mutable_non_key_attributes();
      std::sort(names->begin(), names->end());
    }
  };
  sort_projections(table.mutable_global_secondary_indexes());
  sort_projections(table.mutable_local_secondary_indexes());
  sort_projections(table.mutable_vector_indexes());
  return table;
}

// As DynamoDB, until the index is ACTIVE, but not of indexes that are created with their table (VEC-05).
template <typename Index>
void WriteBackfilling(const v1::TableDescription& table, const Index& index, storage::JsonWriter* writer) {
  if (index.index_status() == v1::TABLE_STATUS_ACTIVE || table.table_status() == v1::TABLE_STATUS_CREATING)
    return;
  writer->Name("Backfilling").Boolean(index.backfilling());
}

// Writes the settings that are stored and returned but have no effect (SEM-099).
void WriteSettings(const v1::TableDescription& table, storage::JsonWriter* writer) {
  // The service does not show the default.
  if (table.table_class() == v1::TABLE_CLASS_STANDARD_INFREQUENT_ACCESS) {
    writer->Name("TableClassSummary").BeginObject();
    writer->Name("TableClass").String(EnumText(table.table_class())).EndObject();
  }
  WriteEncryption(table, writer);
  WriteOtherThroughputs(table, "ACTIVE", writer);
}

// A table that was never on demand has no summary, as in the service.
void WriteBillingMode(const v1::TableDescription& table, storage::JsonWriter* writer) {
  if (table.last_update_to_pay_per_request_time_ms() == 0) return;
  writer->Name("BillingModeSummary").BeginObject();
  writer->Name("BillingMode").String(EnumText(table.billing_mode()));
  writer->Name("LastUpdateToPayPerRequestDateTime").Time(table.last_update_to_pay_per_request_time_ms());
  writer->EndObject();
}

template <typename Index>
void WriteVectorDefinition(const Index& index, storage::JsonWriter* writer) {
  writer->Name("IndexName").String(index.index_name());
  writer->Name("VectorAttribute").BeginObject().Name("AttributeName").String(index.vector_attribute());
  writer->EndObject().Name("Dimensions").Integer(index.dimensions());
  writer->Name("DistanceFunction").String(EnumText(index.distance_function()));
  WriteProjection(index.projection(), writer);
  if (index.search_schema().empty()) return;
  writer->Name("SearchSchema").BeginArray();
  for (const v1::SearchSchemaElement& element : index.search_schema()) {
    writer->BeginObject().Name("AttributeName").String(element.attribute_name());
    writer->Name("SearchSchemaElementType").String(EnumText(element.search_schema_element_type()));
    writer->EndObject();
  }
  writer->EndArray();
}

// Writes the label and ARN of the latest stream, even if it is disabled (SEM-098).
void WriteTableStream(const v1::TableDescription& table, storage::JsonWriter* writer) {
  WriteStreamSpecification(table, "StreamSpecification", writer);
  if (!table.latest_stream_label().empty()) {
    writer->Name("LatestStreamLabel").String(table.latest_stream_label());
    writer->Name("LatestStreamArn").String(StreamArn(table.table_name(), table.latest_stream_label()));
  }
}

// While a table is being restored (PIT-11).
void WriteRestoreSummary(const v1::TableDescription& table, storage::JsonWriter* writer) {
  if (!table.has_restore_summary()) return;
  const v1::RestoreSummary& summary = table.restore_summary();
  writer->Name("RestoreSummary").BeginObject();
  if (!summary.source_backup_arn().empty())
    writer->Name("SourceBackupArn").String(summary.source_backup_arn());
  writer->Name("SourceTableArn").String(summary.source_table_arn());
  writer->Name("RestoreDateTime").Time(summary.restore_time_ms());
  writer->Name("RestoreInProgress").Boolean(true).EndObject();
}

}  // namespace

void WriteOnDemandThroughput(const v1::TableDescription& table, storage::JsonWriter* writer) {
  WriteOnDemand(table, writer);
}

void WriteOnDemandThroughput(const v1::GlobalSecondaryIndexDescription& index, storage::JsonWriter* writer) {
  WriteOnDemand(index, writer);
}

void WriteVectorIndex(const v1::VectorIndex& index, storage::JsonWriter* writer) {
  WriteVectorDefinition(index, writer);
}

void WriteVectorIndex(const v1::VectorIndexDescription& index, storage::JsonWriter* writer) {
  WriteVectorDefinition(index, writer);
}

std::string StreamArn(std::string_view table_name, std::string_view label) {
  return absl::StrCat(TableArn(table_name), "/stream/", std::string(label));
}

void WriteTableDescription(const v1::TableDescription& described, storage::JsonWriter* writer) {
  const v1::TableDescription table = WithSortedNames(described);
  const std::string arn = TableArn(table.table_name());
  writer->BeginObject().Name("AttributeDefinitions").BeginArray();
  for (const auto& definition : table.attribute_definitions()) {
    writer->BeginObject().Name("AttributeName").String(definition.attribute_name());
    writer->Name("AttributeType").String(EnumText(definition.attribute_type())).EndObject();
  }
  writer->EndArray().Name("TableName").String(table.table_name());
  WriteKeySchema(table.key_schema(), writer);
  writer->Name("TableStatus").String(EnumText(table.table_status()));
  writer->Name("CreationDateTime").Time(table.creation_time_ms());
  WriteThroughput(table.provisioned_throughput(), writer);
  writer->Name("TableSizeBytes").Integer(table.table_size_bytes());
  writer->Name("ItemCount").Integer(table.item_count());
  writer->Name("TableArn").String(arn);
  writer->Name("TableId").String(table.table_id());
  WriteBillingMode(table, writer);
  if (!table.local_secondary_indexes().empty()) {
    writer->Name("LocalSecondaryIndexes").BeginArray();
    for (const auto& index : table.local_secondary_indexes()) {
      writer->BeginObject();
      WriteIndex(arn, index, writer);
      writer->EndObject();
    }
    writer->EndArray();
  }
  if (!table.global_secondary_indexes().empty()) {
    writer->Name("GlobalSecondaryIndexes").BeginArray();
    for (const auto& index : table.global_secondary_indexes()) {
      writer->BeginObject();
      WriteIndex(arn, index, writer);
      // An index of a table that is being restored has no status (PIT-11).
      if (!table.has_restore_summary()) {
        writer->Name("IndexStatus").String(EnumText(index.index_status()));
        WriteBackfilling(table, index, writer);
      }
      WriteOtherThroughputs(index, EnumText(index.index_status()), writer);
      WriteThroughput(index.provisioned_throughput(), writer);
      writer->EndObject();
    }
    writer->EndArray();
  }
  if (!table.vector_indexes().empty()) {
    writer->Name("VectorIndexes").BeginArray();
    for (const auto& index : table.vector_indexes()) {
      writer->BeginObject();
      WriteVectorIndex(index, writer);
      if (!table.has_restore_summary()) {
        writer->Name("IndexStatus").String(EnumText(index.index_status()));
        WriteBackfilling(table, index, writer);
      }
      writer->Name("IndexSizeBytes").Integer(index.index_size_bytes());
      writer->Name("ItemCount").Integer(index.item_count());
      writer->Name("IndexArn").String(arn + "/index/" + index.index_name()).EndObject();
    }
    writer->EndArray();
  }
  WriteSettings(table, writer);
  WriteTableStream(table, writer);
  WriteRestoreSummary(table, writer);
  writer->Name("DeletionProtectionEnabled").Boolean(table.deletion_protection_enabled());
  writer->EndObject();
}

void WriteDeletedTable(const v1::TableDescription& table, storage::JsonWriter* writer) {
  writer->BeginObject().Name("TableName").String(table.table_name());
  writer->Name("TableStatus").String(EnumText(table.table_status()));
  WriteThroughput(table.provisioned_throughput(), writer);
  writer->Name("TableSizeBytes").Integer(table.table_size_bytes());
  writer->Name("ItemCount").Integer(table.item_count());
  writer->Name("TableArn").String(TableArn(table.table_name()));
  writer->Name("TableId").String(table.table_id());
  WriteBillingMode(table, writer);
  writer->Name("DeletionProtectionEnabled").Boolean(table.deletion_protection_enabled());
  writer->EndObject();
}

}  // namespace itemdb::http
