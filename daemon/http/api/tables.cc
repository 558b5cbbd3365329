#include "daemon/http/api/tables.h"

#include "absl/strings/str_cat.h"
#include "daemon/http/api/shown_statuses.h"
#include "daemon/http/api/table_definitions.h"
#include "storage/base/service_text.h"

namespace itemdb::http::json {
namespace {

using storage::Database;

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
  // A backup has no tags (BAK-19).
  if (storage::ParseBackupArn(arn).ok()) {
    return storage::ValidationError(
        "BAK-19", absl::StrCat("One or more parameter values were invalid: Provided Arn is not a DynamoDB "
                               "resource arn: ",
                               std::string(arn)));
  }
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

// ---- replies

// An error of the operations on tags. A table that does not exist is named by the ARN (SEM-039).
void FailAboutTags(JsonAnswer answer, const absl::Status& status) {
  if (storage::ReasonOf(status) != storage::kReasonResourceNotFound) return std::move(answer).Fail(status);
  const std::string text =
      absl::StrCat("Requested resource not found: ResourceArn: ", answer.table_name(), " not found");
  std::move(answer).Fail(storage::WithServiceText(text, status));
}

// The service answers TagResource and UntagResource with an empty body.
template <typename Reply>
void AnswerNothing(JsonAnswer answer, const absl::StatusOr<Reply>& reply) {
  if (!reply.ok()) return FailAboutTags(std::move(answer), reply.status());
  std::move(answer).Succeed("");
}

// CreateTable and UpdateTable answer with "TableDescription", DescribeTable with "Table".
template <typename Reply>
void WriteChanged(const Reply& reply, storage::JsonWriter* writer) {
  writer->Name("TableDescription");
  WriteTableDescription(reply.table(), writer);
}

void WriteDeleted(const v1::DeleteTableReply& reply, storage::JsonWriter* writer) {
  writer->Name("TableDescription");
  WriteDeletedTable(reply.table(), writer);
}

void WriteDescribed(const v1::DescribeTableReply& reply, storage::JsonWriter* writer) {
  writer->Name("Table");
  WriteTableDescription(reply.table(), writer);
}

void WriteTags(const v1::DescribeTableReply& reply, storage::JsonWriter* writer) {
  writer->Name("Tags").BeginArray();
  for (const v1::Tag& tag : reply.table().tags())
    writer->BeginObject().Name("Key").String(tag.key()).Name("Value").String(tag.value()).EndObject();
  writer->EndArray();
}

void AnswerTags(JsonAnswer answer, const absl::StatusOr<v1::DescribeTableReply>& reply) {
  if (!reply.ok()) return FailAboutTags(std::move(answer), reply.status());
  AnswerObject<WriteTags>(std::move(answer), reply);
}

void WriteTableNames(const v1::ListTablesReply& reply, storage::JsonWriter* writer) {
  writer->Name("TableNames").BeginArray();
  for (const std::string& name : reply.table_names()) writer->String(name);
  writer->EndArray();
  if (!reply.last_evaluated_table_name().empty())
    writer->Name("LastEvaluatedTableName").String(reply.last_evaluated_table_name());
}

void WriteTimeToLiveSpecification(const v1::UpdateTimeToLiveReply& reply, storage::JsonWriter* writer) {
  writer->Name("TimeToLiveSpecification").BeginObject();
  writer->Name("Enabled").Boolean(reply.time_to_live_specification().enabled());
  writer->Name("AttributeName").String(reply.time_to_live_specification().attribute_name());
  writer->EndObject();
}

void WriteTimeToLiveDescription(const v1::DescribeTimeToLiveReply& reply, storage::JsonWriter* writer) {
  writer->Name("TimeToLiveDescription").BeginObject();
  writer->Name("TimeToLiveStatus").String(EnumText(reply.time_to_live_status()));
  if (!reply.attribute_name().empty()) writer->Name("AttributeName").String(reply.attribute_name());
  writer->EndObject();
}

void WriteLimits(const v1::DescribeLimitsReply& limits, storage::JsonWriter* writer) {
  writer->Name("AccountMaxReadCapacityUnits").Integer(limits.account_max_read_capacity_units());
  writer->Name("AccountMaxWriteCapacityUnits").Integer(limits.account_max_write_capacity_units());
  writer->Name("TableMaxReadCapacityUnits").Integer(limits.table_max_read_capacity_units());
  writer->Name("TableMaxWriteCapacityUnits").Integer(limits.table_max_write_capacity_units());
}

// ---- replies with a status that `--status-delay` may keep (shown_statuses.h)

// Of CreateTable for a table that exists.
constexpr std::string_view kTableExistsRule = "SEM-093";

void AnswerCreated(JsonAnswer answer, absl::StatusOr<v1::CreateTableReply> reply) {
  if (reply.ok()) {
    answer.statuses().Created(reply->table().table_name());
    answer.statuses().Show(reply->mutable_table());
  } else if (storage::ReasonOf(reply.status()) == storage::kReasonResourceInUse &&
             storage::RuleOf(reply.status()) == kTableExistsRule &&
             answer.statuses().ShowsCreation(answer.table_name())) {
    reply = storage::WithServiceText(
        absl::StrCat("Attempt to change a resource which is still in use: Table is being created: ",
                     answer.table_name()),
        reply.status());
  }
  AnswerObject<WriteChanged<v1::CreateTableReply>>(std::move(answer), reply);
}

void AnswerUpdated(JsonAnswer answer, absl::StatusOr<v1::UpdateTableReply> reply) {
  if (reply.ok()) {
    answer.statuses().Updated(reply->table());
    answer.statuses().Show(reply->mutable_table());
  }
  AnswerObject<WriteChanged<v1::UpdateTableReply>>(std::move(answer), reply);
}

void AnswerDescribed(JsonAnswer answer, absl::StatusOr<v1::DescribeTableReply> reply) {
  if (reply.ok()) answer.statuses().Show(reply->mutable_table());
  AnswerObject<WriteDescribed>(std::move(answer), reply);
}

void AnswerTimeToLive(JsonAnswer answer, absl::StatusOr<v1::UpdateTimeToLiveReply> reply) {
  if (reply.ok() && reply->time_to_live_specification().enabled())
    answer.statuses().TimeToLiveEnabled(answer.table_name());
  AnswerObject<WriteTimeToLiveSpecification>(std::move(answer), reply);
}

void AnswerTimeToLiveDescription(JsonAnswer answer, absl::StatusOr<v1::DescribeTimeToLiveReply> reply) {
  if (reply.ok()) {
    // The time to live is on; gRPC says ENABLING while the items that were there before are being read.
    if (reply->time_to_live_status() == v1::TIME_TO_LIVE_STATUS_ENABLING)
      reply->set_time_to_live_status(v1::TIME_TO_LIVE_STATUS_ENABLED);
    answer.statuses().Show(answer.table_name(), &*reply);
  }
  AnswerObject<WriteTimeToLiveDescription>(std::move(answer), reply);
}

void ExecuteListTables(JsonCall call, const v1::ListTablesRequest& request) {
  absl::StatusOr<v1::ListTablesReply> reply =
      call.caller.grants == nullptr ? call.database.ListTables(request)
                                    : call.database.ListTables(request, [&call](std::string_view name) {
                                        return daemon::MaySeeTable(call.caller, name);
                                      });
  AnswerObject<WriteTableNames>(std::move(call.answer), reply);
}

void AnswerLimits(JsonCall call, const v1::DescribeLimitsRequest&) {
  AnswerObject<WriteLimits>(std::move(call.answer),
                            absl::StatusOr<v1::DescribeLimitsReply>(call.database.DescribeLimits()));
}

}  // namespace

void CreateTable(JsonCall call) {
  HandleOperation<ReadCreateTable, CallDatabase<&Database::CreateTable, AnswerCreated>>(std::move(call));
}
void UpdateTable(JsonCall call) {
  HandleOperation<ReadUpdateTable, CallDatabase<&Database::UpdateTable, AnswerUpdated>>(std::move(call));
}
void DeleteTable(JsonCall call) {
  HandleOperation<ReadName<v1::DeleteTableRequest>, &Database::DeleteTable, WriteDeleted>(std::move(call));
}
void DescribeTable(JsonCall call) {
  HandleOperation<ReadName<v1::DescribeTableRequest>,
                  CallDatabase<&Database::DescribeTable, AnswerDescribed>>(std::move(call));
}
void ListTables(JsonCall call) { HandleOperation<ReadListTables, ExecuteListTables>(std::move(call)); }
void TagResource(JsonCall call) {
  HandleOperation<ReadTag, CallDatabase<&Database::TagTable, AnswerNothing<v1::TagTableReply>>>(
      std::move(call));
}
void UntagResource(JsonCall call) {
  HandleOperation<ReadUntag, CallDatabase<&Database::UntagTable, AnswerNothing<v1::UntagTableReply>>>(
      std::move(call));
}
void ListTagsOfResource(JsonCall call) {
  HandleOperation<ReadListTags, CallDatabase<&Database::DescribeTable, AnswerTags>>(std::move(call));
}
void UpdateTimeToLive(JsonCall call) {
  HandleOperation<ReadTimeToLive, CallDatabase<&Database::UpdateTimeToLive, AnswerTimeToLive>>(
      std::move(call));
}
void DescribeTimeToLive(JsonCall call) {
  HandleOperation<ReadName<v1::DescribeTimeToLiveRequest>,
                  CallDatabase<&Database::DescribeTimeToLive, AnswerTimeToLiveDescription>>(std::move(call));
}
void DescribeLimits(JsonCall call) { HandleOperation<ReadNothing, AnswerLimits>(std::move(call)); }

// Some clients ask for an endpoint. The answer is the daemon's own address, cacheable for a day (OP-07).
void DescribeEndpoints(JsonCall call) {
  std::string body;
  storage::JsonWriter writer(&body);
  writer.BeginObject().Name("Endpoints").BeginArray().BeginObject();
  writer.Name("Address").String(call.address).Name("CachePeriodInMinutes").Integer(24 * 60);
  writer.EndObject().EndArray().EndObject();
  std::move(call.answer).Succeed(std::move(body));
}

}  // namespace itemdb::http::json
