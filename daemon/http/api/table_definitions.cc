// Reads table definitions from requests.
#include "daemon/http/api/table_definitions.h"

#include <type_traits>

#include "storage/base/service_text.h"

namespace itemdb::http {
namespace {

// Calls `set` with the member `name`, a number, if it exists.
template <typename Set>
void IfNumber(const JsonObject& object, std::string_view name, Set set) {
  if (std::optional<int64_t> number = NumberOf(object, name); number.has_value()) set(*number);
}

// Calls `read` with the member `name`, an object, if it exists.
template <typename Read>
void IfObject(const JsonObject& object, std::string_view name, Read read) {
  if (std::optional<JsonElement> member = MemberOf(object, name); member.has_value()) read(AsObject(*member));
}

template <typename Each>
void ForEachObject(const JsonObject& object, std::string_view name, Each each) {
  ForEachIn(object, name, [&](const JsonObject& element) {
    each(element);
    return absl::OkStatus();
  }).IgnoreError();
}

void ReadKeySchema(const JsonObject& object,
                   google::protobuf::RepeatedPtrField<v1::KeySchemaElement>* schema) {
  ForEachObject(object, "KeySchema", [&](const JsonObject& element) {
    v1::KeySchemaElement* key = schema->Add();
    key->set_attribute_name(std::string(TextOf(element, "AttributeName")));
    key->set_key_type(EnumOf<v1::KeyType>(element, "KeyType"));
  });
}

void ReadProjection(const JsonObject& object, v1::Projection* projection) {
  IfObject(object, "Projection", [&](const JsonObject& given) {
    projection->set_projection_type(EnumOf<v1::ProjectionType>(given, "ProjectionType"));
    std::optional<JsonElement> names = MemberOf(given, "NonKeyAttributes");
    if (!names.has_value()) return;
    for (JsonElement name : AsArray(*names)) projection->add_non_key_attributes(std::string(TextOf(name)));
  });
}

// Reads the member `name` into the provisioned throughput of `message`.
template <typename Message>
void ReadThroughput(const JsonObject& object, Message* message,
                    std::string_view name = "ProvisionedThroughput") {
  IfObject(object, name, [&](const JsonObject& given) {
    v1::ProvisionedThroughput* throughput = message->mutable_provisioned_throughput();
    throughput->set_read_capacity_units(NumberOf(given, "ReadCapacityUnits").value_or(0));
    throughput->set_write_capacity_units(NumberOf(given, "WriteCapacityUnits").value_or(0));
  });
}

// Reads the member `name` into the on-demand throughput of `message`.
template <typename Message>
void ReadOnDemandThroughput(const JsonObject& object, Message* message, std::string_view name) {
  IfObject(object, name, [&](const JsonObject& given) {
    v1::OnDemandThroughput* throughput = message->mutable_on_demand_throughput();
    IfNumber(given, "MaxReadRequestUnits",
             [&](int64_t units) { throughput->set_max_read_request_units(units); });
    IfNumber(given, "MaxWriteRequestUnits",
             [&](int64_t units) { throughput->set_max_write_request_units(units); });
  });
}

// Reads OnDemandThroughput and WarmThroughput of a table or an index.
template <typename Message>
void ReadOtherThroughputs(const JsonObject& object, Message* message) {
  ReadOnDemandThroughput(object, message, "OnDemandThroughput");
  IfObject(object, "WarmThroughput", [&](const JsonObject& given) {
    v1::WarmThroughput* throughput = message->mutable_warm_throughput();
    IfNumber(given, "ReadUnitsPerSecond",
             [&](int64_t units) { throughput->set_read_units_per_second(units); });
    IfNumber(given, "WriteUnitsPerSecond",
             [&](int64_t units) { throughput->set_write_units_per_second(units); });
  });
}

void ReadAttributeDefinitions(const JsonObject& object,
                              google::protobuf::RepeatedPtrField<v1::AttributeDefinition>* definitions) {
  ForEachObject(object, "AttributeDefinitions", [&](const JsonObject& given) {
    v1::AttributeDefinition* definition = definitions->Add();
    definition->set_attribute_name(std::string(TextOf(given, "AttributeName")));
    definition->set_attribute_type(EnumOf<v1::ScalarAttributeType>(given, "AttributeType"));
  });
}

void ReadGlobalIndex(const JsonObject& given, v1::GlobalSecondaryIndex* index) {
  index->set_index_name(std::string(TextOf(given, "IndexName")));
  ReadKeySchema(given, index->mutable_key_schema());
  ReadProjection(given, index->mutable_projection());
  ReadThroughput(given, index);
  ReadOtherThroughputs(given, index);
}

void ReadLocalIndex(const JsonObject& given, v1::LocalSecondaryIndex* index) {
  index->set_index_name(std::string(TextOf(given, "IndexName")));
  ReadKeySchema(given, index->mutable_key_schema());
  ReadProjection(given, index->mutable_projection());
}

void ReadVectorIndex(const JsonObject& given, v1::VectorIndex* index) {
  index->set_index_name(std::string(TextOf(given, "IndexName")));
  IfObject(given, "VectorAttribute", [&](const JsonObject& attribute) {
    index->set_vector_attribute(std::string(TextOf(attribute, "AttributeName")));
  });
  index->set_dimensions(NumberOf(given, "Dimensions").value_or(0));
  index->set_distance_function(EnumOf<v1::VectorDistanceFunction>(given, "DistanceFunction"));
  ReadProjection(given, index->mutable_projection());
  ForEachObject(given, "SearchSchema", [&](const JsonObject& element) {
    v1::SearchSchemaElement* added = index->add_search_schema();
    added->set_attribute_name(std::string(TextOf(element, "AttributeName")));
    added->set_search_schema_element_type(
        EnumOf<v1::SearchSchemaElementType>(element, "SearchSchemaElementType"));
  });
}

// Reads the member `name` into the encryption settings of `message`.
template <typename Message>
void ReadEncryption(const JsonObject& object, Message* message, std::string_view name) {
  IfObject(object, name, [&](const JsonObject& given) {
    v1::SseSpecification* sse = message->mutable_sse_specification();
    sse->set_enabled(FlagOf(given, "Enabled"));
    sse->set_sse_type(std::string(TextOf(given, "SSEType")));
    sse->set_kms_master_key_id(std::string(TextOf(given, "KMSMasterKeyId")));
  });
}

// Reads the members that CreateTable and UpdateTable share.
template <typename Request>
absl::Status ReadSettings(const JsonObject& object, Request* request) {
  request->set_table_name(std::string(TextOf(object, "TableName")));
  request->set_billing_mode(EnumOf<v1::BillingMode>(object, "BillingMode"));
  ReadThroughput(object, request);
  request->set_table_class(EnumOf<v1::TableClass>(object, "TableClass"));
  ReadEncryption(object, request, "SSESpecification");
  ReadOtherThroughputs(object, request);
  absl::Status stream;
  IfObject(object, "StreamSpecification", [&](const JsonObject& given) {
    const bool enabled = FlagOf(given, "StreamEnabled");
    request->set_stream_enabled(enabled);
    request->set_stream_view_type(EnumOf<v1::StreamViewType>(given, "StreamViewType"));
    // Must be refused here: in a message for storage a view type without stream_enabled is valid, and sets
    // the images in the change log.
    if (!enabled && request->stream_view_type() != v1::STREAM_VIEW_TYPE_UNSPECIFIED)
      stream = storage::ValidationError(
          "SEM-098", "StreamSpecification: StreamViewType must not be given when StreamEnabled is false");
    if (!stream.ok() && std::is_same_v<Request, v1::CreateTableRequest>)
      stream = storage::WithServiceText(
          "One or more parameter values were invalid: Table is being created with a stream disabled, "
          "UpdateViewType should not be specified",
          std::move(stream));
  });
  return stream;
}

// A list of indexes may be left out, but not be empty (SEM-067). In a message for storage both are the same.
absl::Status CheckNotEmpty(const JsonObject& object, std::string_view name) {
  const std::optional<JsonElement> list = MemberOf(object, name);
  if (!list.has_value() || AsArray(*list).size() > 0) return absl::OkStatus();
  return storage::ValidationError(
      "SEM-067", "One or more parameter values were invalid: List of " + std::string(name) + " is empty");
}

}  // namespace

absl::StatusOr<v1::CreateTableRequest> ReadCreateTable(const JsonObject& object) {
  v1::CreateTableRequest request;
  ITEMDB_RETURN_IF_ERROR(ReadSettings(object, &request));
  ITEMDB_RETURN_IF_ERROR(CheckNotEmpty(object, "GlobalSecondaryIndexes"));
  ITEMDB_RETURN_IF_ERROR(CheckNotEmpty(object, "LocalSecondaryIndexes"));
  ReadAttributeDefinitions(object, request.mutable_attribute_definitions());
  ReadKeySchema(object, request.mutable_key_schema());
  ForEachObject(object, "GlobalSecondaryIndexes", [&](const JsonObject& given) {
    ReadGlobalIndex(given, request.add_global_secondary_indexes());
  });
  ForEachObject(object, "LocalSecondaryIndexes", [&](const JsonObject& given) {
    ReadLocalIndex(given, request.add_local_secondary_indexes());
  });
  ForEachObject(object, "VectorIndexes",
                [&](const JsonObject& given) { ReadVectorIndex(given, request.add_vector_indexes()); });
  request.set_deletion_protection_enabled(FlagOf(object, "DeletionProtectionEnabled"));
  ReadTags(object, request.mutable_tags());
  return request;
}

absl::StatusOr<v1::UpdateTableRequest> ReadUpdateTable(const JsonObject& object) {
  v1::UpdateTableRequest request;
  ITEMDB_RETURN_IF_ERROR(ReadSettings(object, &request));
  absl::Status updates;
  ForEachObject(object, "GlobalSecondaryIndexUpdates", [&](const JsonObject& given) {
    const int actions =
        int{HasMember(given, "Create")} + int{HasMember(given, "Delete")} + int{HasMember(given, "Update")};
    if (actions <= 1) return;
    updates = storage::ValidationError(
        "SEM-095",
        "One or more parameter values were invalid: Only one global secondary index action is allowed per "
        "GlobalSecondaryIndexUpdate object");
  });
  ITEMDB_RETURN_IF_ERROR(updates);
  if (HasMember(object, "DeletionProtectionEnabled"))
    request.set_deletion_protection_enabled(FlagOf(object, "DeletionProtectionEnabled"));
  ReadAttributeDefinitions(object, request.mutable_attribute_definitions());
  ForEachObject(object, "GlobalSecondaryIndexUpdates", [&](const JsonObject& given) {
    IfObject(given, "Create", [&](const JsonObject& index) {
      ReadGlobalIndex(index, request.add_global_secondary_index_creations());
    });
    IfObject(given, "Delete", [&](const JsonObject& index) {
      request.add_global_secondary_index_deletions(std::string(TextOf(index, "IndexName")));
    });
    IfObject(given, "Update", [&](const JsonObject& update) {
      auto* throughput = request.add_global_secondary_index_throughputs();
      throughput->set_index_name(std::string(TextOf(update, "IndexName")));
      ReadThroughput(update, throughput);
      ReadOtherThroughputs(update, throughput);
    });
  });
  ForEachObject(object, "VectorIndexUpdates", [&](const JsonObject& given) {
    IfObject(given, "Create",
             [&](const JsonObject& index) { ReadVectorIndex(index, request.add_vector_index_creations()); });
    IfObject(given, "Delete", [&](const JsonObject& index) {
      request.add_vector_index_deletions(std::string(TextOf(index, "IndexName")));
    });
  });
  // Alone an empty list is no change, which storage refuses.
  v1::UpdateTableRequest changes = request;
  changes.clear_table_name();
  changes.clear_attribute_definitions();
  if (changes.ByteSizeLong() > 0)
    ITEMDB_RETURN_IF_ERROR(CheckNotEmpty(object, "GlobalSecondaryIndexUpdates"));
  return request;
}

// A list that is there but empty is an override too: no index (PIT-16).
void ReadRestoreOverrides(const JsonObject& object, v1::RestoreOverrides* overrides) {
  overrides->set_billing_mode(EnumOf<v1::BillingMode>(object, "BillingModeOverride"));
  if (HasMember(object, "GlobalSecondaryIndexOverride")) {
    auto* indexes = overrides->mutable_global_secondary_indexes();
    ForEachObject(object, "GlobalSecondaryIndexOverride",
                  [&](const JsonObject& given) { ReadGlobalIndex(given, indexes->add_indexes()); });
  }
  if (HasMember(object, "LocalSecondaryIndexOverride")) {
    auto* indexes = overrides->mutable_local_secondary_indexes();
    ForEachObject(object, "LocalSecondaryIndexOverride",
                  [&](const JsonObject& given) { ReadLocalIndex(given, indexes->add_indexes()); });
  }
  if (HasMember(object, "VectorIndexOverride")) {
    auto* indexes = overrides->mutable_vector_indexes();
    ForEachObject(object, "VectorIndexOverride",
                  [&](const JsonObject& given) { ReadVectorIndex(given, indexes->add_indexes()); });
  }
  ReadThroughput(object, overrides, "ProvisionedThroughputOverride");
  ReadOnDemandThroughput(object, overrides, "OnDemandThroughputOverride");
  ReadEncryption(object, overrides, "SSESpecificationOverride");
}

void ReadTags(const JsonObject& object, google::protobuf::RepeatedPtrField<v1::Tag>* tags) {
  ForEachObject(object, "Tags", [&](const JsonObject& given) {
    v1::Tag* tag = tags->Add();
    tag->set_key(std::string(TextOf(given, "Key")));
    tag->set_value(std::string(TextOf(given, "Value")));
  });
}

}  // namespace itemdb::http
