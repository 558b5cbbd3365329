#include "daemon/http/api/statements.h"

#include "daemon/http/api/error_texts.h"
#include "daemon/http/api/outcomes.h"
#include "daemon/http/api/reply_parts.h"

namespace itemdb::http::json {
namespace {

// Reads the members that a statement has in all three operations.
template <typename Statement>
absl::Status ReadStatement(const JsonObject& object, Statement* statement) {
  statement->set_statement(std::string(TextOf(object, "Statement")));
  statement->set_return_values_on_condition_check_failure(
      EnumOf<v1::ReturnValuesOnConditionCheckFailure>(object, "ReturnValuesOnConditionCheckFailure"));
  std::optional<JsonElement> parameters = MemberOf(object, "Parameters");
  if (!parameters.has_value()) return absl::OkStatus();
  for (JsonElement parameter : AsArray(*parameters)) {
    ITEMDB_ASSIGN_OR_RETURN(*statement->add_parameters(), storage::EncodeJsonValue(parameter));
  }
  return absl::OkStatus();
}

// ---- ExecuteStatement

absl::StatusOr<wire::ExecuteStatementRequest> ReadExecute(const JsonObject& object) {
  wire::ExecuteStatementRequest request;
  ITEMDB_RETURN_IF_ERROR(ReadStatement(object, &request));
  request.set_consistent_read(FlagOf(object, "ConsistentRead"));
  request.set_next_token(std::string(TextOf(object, "NextToken")));
  if (std::optional<int64_t> limit = NumberOf(object, "Limit"); limit.has_value())
    request.set_limit(static_cast<int32_t>(*limit));
  request.set_return_consumed_capacity(EnumOf<v1::ReturnConsumedCapacity>(object, "ReturnConsumedCapacity"));
  return request;
}

void AnswerExecute(JsonAnswer answer, absl::StatusOr<storage::StatementPage> page) {
  if (!page.ok()) return std::move(answer).Fail(page.status());
  const wire::ExecuteStatementReply& reply = page->reply;
  if (reply.has_condition_failed())
    return std::move(answer).Send(ConditionFailedReply(reply.condition_failed()));
  std::string body;
  // JSON takes about half as much again: names of types and punctuation.
  body.reserve(page->encoded_items.size() * 3 / 2 + 256);
  storage::JsonWriter writer(&body);
  writer.BeginObject();
  const int64_t items = WriteItems(page->encoded_items, &writer);
  if (!reply.next_token().empty()) writer.Name("NextToken").String(reply.next_token());
  if (reply.has_last_evaluated_key()) writer.Name("LastEvaluatedKey").Item(reply.last_evaluated_key());
  if (reply.has_consumed_capacity()) {
    writer.Name("ConsumedCapacity");
    WriteConsumedCapacity(reply.consumed_capacity(), &writer);
  }
  writer.EndObject();
  std::move(answer).Succeed(std::move(body), items);
}

// ---- BatchExecuteStatement

absl::StatusOr<wire::BatchExecuteStatementRequest> ReadBatch(const JsonObject& object) {
  wire::BatchExecuteStatementRequest request;
  ITEMDB_RETURN_IF_ERROR(ForEachIn(object, "Statements", [&](const JsonObject& given) -> absl::Status {
    wire::BatchStatement* statement = request.add_statements();
    statement->set_consistent_read(FlagOf(given, "ConsistentRead"));
    return ReadStatement(given, statement);
  }));
  request.set_return_consumed_capacity(EnumOf<v1::ReturnConsumedCapacity>(object, "ReturnConsumedCapacity"));
  return request;
}

// The text of an error of one statement: that of the same error of a whole request.
std::string TextOfStatement(const wire::StatementError& error) {
  if (!error.service_text().empty()) return error.service_text();
  if (error.reason() != storage::kReasonResourceNotFound) return error.message();
  return ServiceTextFor(storage::NotFoundError(error.message()), "BatchExecuteStatement");
}

int64_t WriteBatch(const wire::BatchExecuteStatementReply& reply, storage::JsonWriter* writer) {
  writer->Name("Responses").BeginArray();
  for (const auto& response : reply.responses()) {
    writer->BeginObject();
    if (response.has_error()) {
      writer->Name("Error").BeginObject().Name("Code").String(
          ExceptionOf(response.error().reason()).short_code);
      writer->Name("Message").String(TextOfStatement(response.error()));
      if (response.error().has_item()) writer->Name("Item").Item(response.error().item());
      writer->EndObject();
    }
    if (!response.table_name().empty()) writer->Name("TableName").String(response.table_name());
    if (response.has_item()) writer->Name("Item").Item(response.item());
    writer->EndObject();
  }
  writer->EndArray();
  WriteConsumedCapacities(reply.consumed_capacity(), writer);
  return daemon::ItemsOf(reply);
}

// ---- ExecuteTransaction

absl::StatusOr<wire::ExecuteTransactionRequest> ReadTransaction(const JsonObject& object) {
  wire::ExecuteTransactionRequest request;
  ITEMDB_RETURN_IF_ERROR(ForEachIn(object, "TransactStatements", [&](const JsonObject& given) {
    return ReadStatement(given, request.add_transact_statements());
  }));
  request.set_client_request_token(std::string(TextOf(object, "ClientRequestToken")));
  request.set_return_consumed_capacity(EnumOf<v1::ReturnConsumedCapacity>(object, "ReturnConsumedCapacity"));
  return request;
}

void AnswerTransaction(JsonAnswer answer, absl::StatusOr<wire::ExecuteTransactionReply> reply) {
  if (!reply.ok()) return std::move(answer).Fail(reply.status());
  if (reply->has_cancelled()) return std::move(answer).Send(CancelledReply(reply->cancelled()));
  std::string body;
  storage::JsonWriter writer(&body);
  writer.BeginObject();
  const int64_t items = WriteResponses(reply->responses(), &writer);
  WriteConsumedCapacities(reply->consumed_capacity(), &writer);
  writer.EndObject();
  std::move(answer).Succeed(std::move(body), items);
}

}  // namespace

void ExecuteStatement(JsonCall call) {
  HandleOperation<ReadExecute, CallDatabase<&storage::Database::ExecuteStatement, AnswerExecute>>(
      std::move(call));
}
void BatchExecuteStatement(JsonCall call) {
  HandleOperation<ReadBatch, &storage::Database::BatchExecuteStatement, WriteBatch>(std::move(call));
}
void ExecuteTransaction(JsonCall call) {
  HandleOperation<ReadTransaction, CallDatabase<&storage::Database::ExecuteTransaction, AnswerTransaction>>(
      std::move(call));
}

}  // namespace itemdb::http::json
