#include "daemon/http/api/tables.h"

#include "absl/strings/str_cat.h"
#include "daemon/http/api/table_definitions.h"

namespace itemdb::http::json {
namespace {

// Answers {"NAME": description of the reply's table}.
template <typename Reply>
void AnswerTable(JsonAnswer answer, std::string_view name, absl::StatusOr<Reply> reply) {
  if (!reply.ok()) return std::move(answer).Fail(reply.status());
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject().Name(name);
  WriteTableDescription(reply->table(), &writer);
  writer.EndObject();
  std::move(answer).Succeed(std::move(body));
}

// ---- requests that name one table

template <typename Request>
absl::StatusOr<Request> ReadName(const JsonObject& object) {
  Request request;
  request.set_table_name(std::string(TextOf(object, "TableName")));
  return request;
}

// Reads the member ResourceArn, with which the operations on tags name a table.
absl::StatusOr<std::string> ReadArn(const JsonObject& object) {
  const std::string_view arn = TextOf(object, "ResourceArn");
  if (arn.starts_with("arn:")) return std::string(arn);
  return storage::ValidationError("SEM-008",
                                  absl::StrCat("Invalid ResourceArn: '", std::string(arn),
                                               "' is not the ARN of a table, as DescribeTable shows it"));
}

absl::StatusOr<v1::TagTableRequest> ReadTag(const JsonObject& object) {
  v1::TagTableRequest request;
  ITEMDB_ASSIGN_OR_RETURN(*request.mutable_table_name(), ReadArn(object));
  ReadTags(object, request.mutable_tags());
  return request;
}

absl::StatusOr<v1::UntagTableRequest> ReadUntag(const JsonObject& object) {
  v1::UntagTableRequest request;
  ITEMDB_ASSIGN_OR_RETURN(*request.mutable_table_name(), ReadArn(object));
  if (std::optional<JsonElement> keys = MemberOf(object, "TagKeys"); keys.has_value())
    for (JsonElement key : AsArray(*keys)) request.add_tag_keys(std::string(TextOf(key)));
  return request;
}

absl::StatusOr<v1::DescribeTableRequest> ReadListTags(const JsonObject& object) {
  v1::DescribeTableRequest request;
  ITEMDB_ASSIGN_OR_RETURN(*request.mutable_table_name(), ReadArn(object));
  // All tags fit into one reply, so no reply has a NextToken that a request could return (OP-10).
  if (HasMember(object, "NextToken"))
    return storage::ValidationError("OP-10", "NextToken is invalid: all tags of a table come in one reply");
  return request;
}

absl::StatusOr<v1::ListTablesRequest> ReadListTables(const JsonObject& object) {
  v1::ListTablesRequest request;
  request.set_exclusive_start_table_name(std::string(TextOf(object, "ExclusiveStartTableName")));
  if (std::optional<int64_t> limit = NumberOf(object, "Limit"); limit.has_value())
    request.set_limit(static_cast<int32_t>(*limit));
  return request;
}

absl::StatusOr<v1::UpdateTimeToLiveRequest> ReadTimeToLive(const JsonObject& object) {
  ITEMDB_ASSIGN_OR_RETURN(auto request, ReadName<v1::UpdateTimeToLiveRequest>(object));
  if (std::optional<JsonElement> member = MemberOf(object, "TimeToLiveSpecification"); member.has_value()) {
    const JsonObject specification = AsObject(*member);
    request.mutable_time_to_live_specification()->set_enabled(FlagOf(specification, "Enabled"));
    request.mutable_time_to_live_specification()->set_attribute_name(
        std::string(TextOf(specification, "AttributeName")));
  }
  return request;
}

absl::StatusOr<v1::DescribeLimitsRequest> ReadNothing(const JsonObject&) {
  return v1::DescribeLimitsRequest();
}

// ---- calling the database

template <typename Request, typename Reply>
using TableOperation = void (storage::Database::*)(Request, storage::Done<Reply>);

template <typename Request, typename Reply, TableOperation<Request, Reply> kOperation>
void ExecuteOnTable(JsonCall call, Request request) {
  (call.database.*kOperation)(std::move(request),
                              [answer = std::move(call.answer)](absl::StatusOr<Reply> reply) mutable {
                                AnswerTable(std::move(answer), "TableDescription", std::move(reply));
                              });
}

template <typename Request, typename Reply, TableOperation<Request, Reply> kOperation>
void ExecuteOnTags(JsonCall call, Request request) {
  (call.database.*kOperation)(std::move(request),
                              [answer = std::move(call.answer)](absl::StatusOr<Reply> reply) mutable {
                                if (!reply.ok()) return std::move(answer).Fail(reply.status());
                                std::move(answer).Succeed("{}");
                              });
}

constexpr auto ExecuteCreate =
    ExecuteOnTable<v1::CreateTableRequest, v1::CreateTableReply, &storage::Database::CreateTable>;
constexpr auto ExecuteUpdate =
    ExecuteOnTable<v1::UpdateTableRequest, v1::UpdateTableReply, &storage::Database::UpdateTable>;
constexpr auto ExecuteDelete =
    ExecuteOnTable<v1::DeleteTableRequest, v1::DeleteTableReply, &storage::Database::DeleteTable>;
constexpr auto ExecuteTag =
    ExecuteOnTags<v1::TagTableRequest, v1::TagTableReply, &storage::Database::TagTable>;
constexpr auto ExecuteUntag =
    ExecuteOnTags<v1::UntagTableRequest, v1::UntagTableReply, &storage::Database::UntagTable>;

void ExecuteDescribe(JsonCall call, v1::DescribeTableRequest request) {
  AnswerTable(std::move(call.answer), "Table", call.database.DescribeTable(request));
}

void ExecuteListTags(JsonCall call, v1::DescribeTableRequest request) {
  absl::StatusOr<v1::DescribeTableReply> reply = call.database.DescribeTable(request);
  if (!reply.ok()) return std::move(call.answer).Fail(reply.status());
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject().Name("Tags").BeginArray();
  for (const v1::Tag& tag : reply->table().tags())
    writer.BeginObject().Name("Key").String(tag.key()).Name("Value").String(tag.value()).EndObject();
  writer.EndArray().EndObject();
  std::move(call.answer).Succeed(std::move(body));
}

void ExecuteListTables(JsonCall call, v1::ListTablesRequest request) {
  absl::StatusOr<v1::ListTablesReply> reply = call.database.ListTables(request);
  if (!reply.ok()) return std::move(call.answer).Fail(reply.status());
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject().Name("TableNames").BeginArray();
  for (const std::string& name : reply->table_names()) writer.String(name);
  writer.EndArray();
  if (!reply->last_evaluated_table_name().empty())
    writer.Name("LastEvaluatedTableName").String(reply->last_evaluated_table_name());
  writer.EndObject();
  std::move(call.answer).Succeed(std::move(body));
}

void ExecuteUpdateTimeToLive(JsonCall call, v1::UpdateTimeToLiveRequest request) {
  call.database.UpdateTimeToLive(
      std::move(request),
      [answer = std::move(call.answer)](absl::StatusOr<v1::UpdateTimeToLiveReply> reply) mutable {
        if (!reply.ok()) return std::move(answer).Fail(reply.status());
        const v1::TimeToLiveSpecification& specification = reply->time_to_live_specification();
        std::string body;
        JsonWriter writer(&body);
        writer.BeginObject().Name("TimeToLiveSpecification").BeginObject();
        writer.Name("Enabled").Boolean(specification.enabled());
        writer.Name("AttributeName").String(specification.attribute_name());
        writer.EndObject().EndObject();
        std::move(answer).Succeed(std::move(body));
      });
}

void ExecuteDescribeTimeToLive(JsonCall call, const v1::DescribeTimeToLiveRequest& request) {
  absl::StatusOr<v1::DescribeTimeToLiveReply> reply = call.database.DescribeTimeToLive(request);
  if (!reply.ok()) return std::move(call.answer).Fail(reply.status());
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject().Name("TimeToLiveDescription").BeginObject();
  writer.Name("TimeToLiveStatus").String(EnumText(reply->time_to_live_status()));
  if (!reply->attribute_name().empty()) writer.Name("AttributeName").String(reply->attribute_name());
  writer.EndObject().EndObject();
  std::move(call.answer).Succeed(std::move(body));
}

void ExecuteLimits(JsonCall call, v1::DescribeLimitsRequest) {
  const v1::DescribeLimitsReply limits = call.database.DescribeLimits();
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject();
  writer.Name("AccountMaxReadCapacityUnits").Integer(limits.account_max_read_capacity_units());
  writer.Name("AccountMaxWriteCapacityUnits").Integer(limits.account_max_write_capacity_units());
  writer.Name("TableMaxReadCapacityUnits").Integer(limits.table_max_read_capacity_units());
  writer.Name("TableMaxWriteCapacityUnits").Integer(limits.table_max_write_capacity_units());
  writer.EndObject();
  std::move(call.answer).Succeed(std::move(body));
}

}  // namespace

void CreateTable(JsonCall call) { HandleOperation<ReadCreateTable, ExecuteCreate>(std::move(call)); }
void UpdateTable(JsonCall call) { HandleOperation<ReadUpdateTable, ExecuteUpdate>(std::move(call)); }
void DeleteTable(JsonCall call) {
  HandleOperation<ReadName<v1::DeleteTableRequest>, ExecuteDelete>(std::move(call));
}
void DescribeTable(JsonCall call) {
  HandleOperation<ReadName<v1::DescribeTableRequest>, ExecuteDescribe>(std::move(call));
}
void ListTables(JsonCall call) { HandleOperation<ReadListTables, ExecuteListTables>(std::move(call)); }
void TagResource(JsonCall call) { HandleOperation<ReadTag, ExecuteTag>(std::move(call)); }
void UntagResource(JsonCall call) { HandleOperation<ReadUntag, ExecuteUntag>(std::move(call)); }
void ListTagsOfResource(JsonCall call) { HandleOperation<ReadListTags, ExecuteListTags>(std::move(call)); }
void UpdateTimeToLive(JsonCall call) {
  HandleOperation<ReadTimeToLive, ExecuteUpdateTimeToLive>(std::move(call));
}
void DescribeTimeToLive(JsonCall call) {
  HandleOperation<ReadName<v1::DescribeTimeToLiveRequest>, ExecuteDescribeTimeToLive>(std::move(call));
}
void DescribeLimits(JsonCall call) { HandleOperation<ReadNothing, ExecuteLimits>(std::move(call)); }

// Some clients ask for an endpoint. The answer is the daemon's own address, cacheable for a day (OP-07).
void DescribeEndpoints(JsonCall call) {
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject().Name("Endpoints").BeginArray().BeginObject();
  writer.Name("Address").String(call.address).Name("CachePeriodInMinutes").Integer(24 * 60);
  writer.EndObject().EndArray().EndObject();
  std::move(call.answer).Succeed(std::move(body));
}

}  // namespace itemdb::http::json
