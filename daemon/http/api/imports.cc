#include "daemon/http/api/imports.h"

#include "daemon/http/api/table_definitions.h"
#include "itemdb/v1/imports.pb.h"

namespace itemdb::http::json {
namespace {

using storage::Database;

// ---- requests

absl::StatusOr<v1::ImportTableRequest> ReadImportTable(const JsonObject& object) {
  v1::ImportTableRequest request;
  const JsonObject source = AsObject(*MemberOf(object, "S3BucketSource"));
  request.mutable_s3_bucket_source()->set_s3_bucket(std::string(TextOf(source, "S3Bucket")));
  request.mutable_s3_bucket_source()->set_s3_key_prefix(std::string(TextOf(source, "S3KeyPrefix")));
  request.mutable_s3_bucket_source()->set_s3_bucket_owner(std::string(TextOf(source, "S3BucketOwner")));
  request.set_input_format(EnumOf<v1::InputFormat>(object, "InputFormat"));
  request.set_input_compression_type(EnumOf<v1::InputCompressionType>(object, "InputCompressionType"));
  request.set_client_token(std::string(TextOf(object, "ClientToken")));
  if (const auto options = MemberOf(object, "InputFormatOptions"); options.has_value()) {
    if (const auto csv = MemberOf(AsObject(*options), "Csv"); csv.has_value()) {
      const JsonObject members = AsObject(*csv);
      request.mutable_csv_options()->set_delimiter(std::string(TextOf(members, "Delimiter")));
      if (const auto names = MemberOf(members, "HeaderList"); names.has_value()) {
        for (const JsonElement name : AsArray(*names))
          request.mutable_csv_options()->add_header_list(std::string(TextOf(name)));
      }
    }
  }
  ITEMDB_ASSIGN_OR_RETURN(*request.mutable_table_creation_parameters(),
                          ReadCreateTable(AsObject(*MemberOf(object, "TableCreationParameters"))));
  return request;
}

absl::StatusOr<v1::DescribeImportRequest> ReadDescribeImport(const JsonObject& object) {
  v1::DescribeImportRequest request;
  request.set_import_arn(std::string(TextOf(object, "ImportArn")));
  return request;
}

absl::StatusOr<v1::ListImportsRequest> ReadListImports(const JsonObject& object) {
  v1::ListImportsRequest request;
  request.set_table_arn(std::string(TextOf(object, "TableArn")));
  if (const auto size = NumberOf(object, "PageSize"); size.has_value())
    request.set_page_size(static_cast<int32_t>(*size));
  request.set_next_token(std::string(TextOf(object, "NextToken")));
  if (HasMember(object, "NextToken") && request.next_token().empty())
    return storage::ValidationError("IMP-22", "Invalid Request: Provided nextToken is invalid");
  return request;
}

// ---- replies

void WriteTableParameters(const v1::CreateTableRequest& table, storage::JsonWriter* writer) {
  writer->Name("TableCreationParameters").BeginObject().Name("TableName").String(table.table_name());
  writer->Name("AttributeDefinitions").BeginArray();
  for (const v1::AttributeDefinition& attribute : table.attribute_definitions()) {
    writer->BeginObject().Name("AttributeName").String(attribute.attribute_name());
    writer->Name("AttributeType").String(EnumText(attribute.attribute_type())).EndObject();
  }
  writer->EndArray();
  WriteKeySchema(table.key_schema(), writer);
  if (table.billing_mode() != v1::BILLING_MODE_UNSPECIFIED)
    writer->Name("BillingMode").String(EnumText(table.billing_mode()));
  if (table.has_provisioned_throughput()) WriteUnits(table.provisioned_throughput(), writer);
  if (table.has_on_demand_throughput()) WriteOnDemandThroughput(table.on_demand_throughput(), writer);
  if (table.has_sse_specification()) {
    const v1::SseSpecification& sse = table.sse_specification();
    writer->Name("SSESpecification").BeginObject().Name("Enabled").Boolean(sse.enabled());
    if (!sse.sse_type().empty()) writer->Name("SSEType").String(sse.sse_type());
    if (!sse.kms_master_key_id().empty()) writer->Name("KMSMasterKeyId").String(sse.kms_master_key_id());
    writer->EndObject();
  }
  if (!table.global_secondary_indexes().empty()) {
    writer->Name("GlobalSecondaryIndexes").BeginArray();
    for (const v1::GlobalSecondaryIndex& index : table.global_secondary_indexes()) {
      writer->BeginObject().Name("IndexName").String(index.index_name());
      WriteKeySchema(index.key_schema(), writer);
      WriteProjection(index.projection(), writer);
      if (index.has_provisioned_throughput()) WriteUnits(index.provisioned_throughput(), writer);
      if (index.has_on_demand_throughput()) WriteOnDemandThroughput(index.on_demand_throughput(), writer);
      writer->EndObject();
    }
    writer->EndArray();
  }
  if (!table.vector_indexes().empty()) {
    writer->Name("VectorIndexes").BeginArray();
    for (const v1::VectorIndex& index : table.vector_indexes()) {
      writer->BeginObject();
      WriteVectorIndex(index, writer);
      writer->EndObject();
    }
    writer->EndArray();
  }
  writer->EndObject();
}

// Writes the members that ImportTableDescription and ImportSummary share.
void WriteImportSummary(const v1::ImportDescription& import, storage::JsonWriter* writer) {
  writer->Name("ImportArn").String(import.import_arn());
  writer->Name("ImportStatus").String(EnumText(import.import_status()));
  writer->Name("TableArn").String(import.table_arn());
  // The service's group of log lines about imports. There is none here (IMP-23).
  writer->Name("CloudWatchLogGroupArn")
      .String("arn:aws:logs:local:000000000000:log-group:/aws-dynamodb/imports:*");
  const v1::S3BucketSource& source = import.s3_bucket_source();
  writer->Name("S3BucketSource").BeginObject().Name("S3BucketOwner").String(source.s3_bucket_owner());
  writer->Name("S3Bucket").String(source.s3_bucket());
  if (!source.s3_key_prefix().empty()) writer->Name("S3KeyPrefix").String(source.s3_key_prefix());
  writer->EndObject();
  writer->Name("InputFormat").String(EnumText(import.input_format()));
  writer->Name("StartTime").Time(import.start_time_ms());
  if (import.end_time_ms() != 0) writer->Name("EndTime").Time(import.end_time_ms());
}

// ImportTable and DescribeImport answer alike.
template <typename Reply>
void WriteImport(const Reply& reply, storage::JsonWriter* writer) {
  const v1::ImportDescription& import = reply.import();
  writer->Name("ImportTableDescription").BeginObject();
  WriteImportSummary(import, writer);
  writer->Name("TableId").String(import.table_id());
  writer->Name("ClientToken").String(import.client_token());
  if (import.has_csv_options()) {
    const v1::CsvOptions& csv = import.csv_options();
    writer->Name("InputFormatOptions").BeginObject().Name("Csv").BeginObject();
    if (!csv.delimiter().empty()) writer->Name("Delimiter").String(csv.delimiter());
    if (!csv.header_list().empty()) {
      writer->Name("HeaderList").BeginArray();
      for (const std::string& name : csv.header_list()) writer->String(name);
      writer->EndArray();
    }
    writer->EndObject().EndObject();
  }
  writer->Name("InputCompressionType").String(EnumText(import.input_compression_type()));
  WriteTableParameters(import.table_creation_parameters(), writer);
  writer->Name("ProcessedSizeBytes").Integer(import.processed_size_bytes());
  writer->Name("ProcessedItemCount").Integer(import.processed_item_count());
  writer->Name("ImportedItemCount").Integer(import.imported_item_count());
  writer->Name("ErrorCount").Integer(import.error_count());
  if (!import.failure_code().empty()) {
    writer->Name("FailureCode").String(import.failure_code());
    writer->Name("FailureMessage").String(import.failure_message());
  }
  writer->EndObject();
}

void WriteImports(const v1::ListImportsReply& reply, storage::JsonWriter* writer) {
  writer->Name("ImportSummaryList").BeginArray();
  for (const v1::ImportDescription& import : reply.imports()) {
    writer->BeginObject();
    WriteImportSummary(import, writer);
    writer->EndObject();
  }
  writer->EndArray();
  if (!reply.next_token().empty()) writer->Name("NextToken").String(reply.next_token());
}

// A caller with roles for some tables gets the imports of these.
void ExecuteListImports(JsonCall call, const v1::ListImportsRequest& request) {
  std::function<bool(std::string_view)> shows;
  if (call.caller.grants != nullptr) {
    shows = [caller = call.caller](std::string_view name) { return daemon::MaySeeTable(caller, name); };
  }
  AnswerObject<WriteImports>(std::move(call.answer), call.database.ListImports(request, shows));
}

}  // namespace

void ImportTable(JsonCall call) {
  HandleOperation<ReadImportTable, &Database::ImportTable, WriteImport<v1::ImportTableReply>>(
      std::move(call));
}
void DescribeImport(JsonCall call) {
  HandleOperation<ReadDescribeImport, &Database::DescribeImport, WriteImport<v1::DescribeImportReply>>(
      std::move(call));
}
void ListImports(JsonCall call) { HandleOperation<ReadListImports, ExecuteListImports>(std::move(call)); }

}  // namespace itemdb::http::json
