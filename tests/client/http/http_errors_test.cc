// What replies and lost replies mean to a caller of the client over HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "itemdb/bulk_writer.h"
#include "itemdb/client.h"
#include "itemdb/errors.h"
#include "tests/client/http/scripted_server.h"

namespace itemdb {
namespace {

using ::testing::HasSubstr;

const PutItemRequest kPut{.table_name = "T", .item = {{"pk", "a"}}};
const GetItemRequest kGet{.table_name = "T", .key = {{"pk", "a"}}};

Client ClientOf(const ScriptedServer& server, int max_attempts = 3) {
  return *Client::Open({.endpoint = server.endpoint(),
                        .timeout = absl::Seconds(20),
                        .retry = {.max_attempts = max_attempts,
                                  .initial_backoff = absl::Milliseconds(1),
                                  .max_backoff = absl::Milliseconds(2)},
                        .access_key_id = "AKID",
                        .secret_access_key = "secret"});
}

ScriptedAnswer Exception(int http_status, const std::string& name, const std::string& more = "") {
  return {.http_status = http_status, .body = ExceptionBody(name, "told by " + name, more)};
}

TEST(HttpErrors, ExceptionsHaveTheirReasons) {
  struct Row {
    int http_status;
    std::string name;
    absl::StatusCode code;
    std::string reason;
  };
  using enum absl::StatusCode;
  const Row kRows[] = {
      {400, "ValidationException", kInvalidArgument, "VALIDATION"},
      {400, "ResourceNotFoundException", kNotFound, "RESOURCE_NOT_FOUND"},
      {400, "ResourceInUseException", kAlreadyExists, "RESOURCE_IN_USE"},
      {400, "LimitExceededException", kResourceExhausted, "LIMIT_EXCEEDED"},
      {400, "ItemCollectionSizeLimitExceededException", kResourceExhausted,
       "ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED"},
      {400, "AccessDeniedException", kPermissionDenied, "ACCESS_DENIED"},
      {400, "UnrecognizedClientException", kUnauthenticated, "UNAUTHENTICATED"},
      {400, "ExpiredTokenException", kUnauthenticated, "UNAUTHENTICATED"},
      {403, "InvalidSignatureException", kUnauthenticated, "UNAUTHENTICATED"},
      {400, "UnknownOperationException", kUnimplemented, "UNIMPLEMENTED"},
      {400, "SomethingNewException", kFailedPrecondition, "SOMETHING_NEW"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    ScriptedServer server({Exception(row.http_status, row.name)});
    const absl::Status status = ClientOf(server).PutItem(kPut).status();
    EXPECT_EQ(status.code(), row.code) << status;
    EXPECT_EQ(ReasonOf(status), row.reason);
    EXPECT_THAT(std::string(status.message()), HasSubstr("told by " + row.name));
    // None of them is worth another attempt.
    EXPECT_EQ(server.requests().size(), 1u);
  }
}

// The second answer must not be taken for that of the next request on the connection.
TEST(HttpErrors, AnAnswerThatComesTwiceIsTakenOnce) {
  const auto item = [](const std::string& value) {
    return R"({"Item":{"pk":{"S":"a"},"v":{"S":")" + value + R"("}}})";
  };
  ScriptedServer server(
      {{.body = item("one"), .twice = true}, {.body = item("two"), .twice = true}, {.body = item("three")}});
  const Client client = ClientOf(server, /*max_attempts=*/1);
  for (const char* value : {"one", "two", "three"}) {
    const auto read = client.GetItem(kGet);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read->item->find_or_null("v"), Value(value));
    // Until the second one has arrived.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(server.requests().size(), 3u);
  EXPECT_EQ(server.connections(), 3);
}

// As the SDKs do: nothing was written.
TEST(HttpErrors, ThrottlesAreSentAgain) {
  for (const char* name : {"ThrottlingException", "ProvisionedThroughputExceededException",
                           "RequestLimitExceeded", "TransactionConflictException"}) {
    SCOPED_TRACE(name);
    ScriptedServer server({Exception(400, name), Exception(400, name), {}});
    EXPECT_TRUE(ClientOf(server).PutItem(kPut).ok());
    EXPECT_EQ(server.requests().size(), 3u);
    EXPECT_EQ(server.connections(), 1);
  }
  ScriptedServer server({Exception(400, "ThrottlingException"), Exception(400, "ThrottlingException")});
  const absl::Status status = ClientOf(server, 2).PutItem(kPut).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(status), "THROTTLED");
}

// 500 does not say whether the write was applied, so a write without a token is not sent again.
TEST(HttpErrors, AFailedWriteIsOfUnknownOutcome) {
  for (const ScriptedAnswer& answer :
       {Exception(500, "InternalServerError"),
        ScriptedAnswer{.http_status = 502, .body = "<html>Bad gateway</html>"},
        ScriptedAnswer{.http_status = 503, .body = "no DynamoDB"}, ScriptedAnswer{.http_status = 0},
        ScriptedAnswer{.http_status = 200, .body = "cut {"},
        ScriptedAnswer{.http_status = 200, .headers = "x-amz-crc32: 17\r\n", .with_checksum = false}}) {
    SCOPED_TRACE(answer.body);
    ScriptedServer server({answer});
    const absl::Status status = ClientOf(server).PutItem(kPut).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnknown) << status;
    EXPECT_EQ(ReasonOf(status), kReasonWriteOutcomeUnknown);
    EXPECT_EQ(server.requests().size(), 1u);
  }
}

TEST(HttpErrors, AReadThatFailedIsSentAgain) {
  for (const ScriptedAnswer& answer :
       {Exception(500, "InternalServerError"), Exception(503, "ServiceUnavailable"),
        ScriptedAnswer{.http_status = 0}, ScriptedAnswer{.http_status = 200, .body = "cut {"},
        ScriptedAnswer{.http_status = 200, .headers = "x-amz-crc32: 17\r\n", .with_checksum = false}}) {
    SCOPED_TRACE(answer.body);
    ScriptedServer server({answer, {.body = R"({"Item":{"pk":{"S":"a"}}})"}});
    const absl::StatusOr<GetItemResult> got = ClientOf(server).GetItem(kGet);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->item, (Item{{"pk", "a"}}));
    EXPECT_EQ(server.requests().size(), 2u);
  }
}

// The service refuses before it does anything.
TEST(HttpErrors, AWriteToAnUnavailableServiceIsSentAgain) {
  ScriptedServer server({Exception(503, "ServiceUnavailable"), {}});
  EXPECT_TRUE(ClientOf(server).PutItem(kPut).ok());
  EXPECT_EQ(server.requests().size(), 2u);
}

// A transaction has a token, with which the service applies it once.
TEST(HttpErrors, ATransactionWhoseReplyWasLostIsSentAgainWithItsToken) {
  ScriptedServer server({{.http_status = 0}, Exception(400, "TransactionInProgressException"), {}});
  const absl::Status status =
      ClientOf(server)
          .TransactWriteItems({.actions = {TransactPut{.table_name = "T", .item = {{"pk", "a"}}}}})
          .status();
  EXPECT_TRUE(status.ok()) << status;
  const std::vector<std::string> requests = server.requests();
  ASSERT_EQ(requests.size(), 3u);
  const auto token = [](const std::string& request) {
    return request.substr(request.find("\"ClientRequestToken\""), 60);
  };
  EXPECT_EQ(token(requests[0]), token(requests[1]));
  EXPECT_EQ(token(requests[0]), token(requests[2]));
}

// libcurl would send a request again by itself when a kept connection dies before the first byte of the
// reply. A write might then be applied twice.
TEST(HttpErrors, AWriteIsNotSentTwiceWhenAKeptConnectionDies) {
  ScriptedServer server({{}, {.http_status = 0}, {}});
  const Client client = ClientOf(server);
  EXPECT_TRUE(client.PutItem(kPut).ok());
  const absl::Status status = client.PutItem(kPut).status();
  EXPECT_EQ(ReasonOf(status), kReasonWriteOutcomeUnknown) << status;
  EXPECT_EQ(server.requests().size(), 2u);
  EXPECT_TRUE(client.PutItem(kPut).ok());
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST(HttpErrors, AConnectionThatWasClosedWhileIdleIsNotUsed) {
  ScriptedServer server({{.closes_after = true}, {}});
  const Client client = ClientOf(server, 1);
  EXPECT_TRUE(client.PutItem(kPut).ok());
  // The end of the connection has arrived when the server accepts the next.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(client.PutItem(kPut).ok());
  EXPECT_EQ(server.connections(), 2);
}

TEST(HttpErrors, AServerThatCannotBeReachedIsUnavailable) {
  ScriptedServer server({});
  const Client client = ClientOf(server, 2);
  server.Stop();
  const absl::Status status = client.PutItem(kPut).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(ReasonOf(status), kReasonUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr(server.endpoint()));
}

TEST(HttpErrors, DeadlinesAndCancellationsTellWhetherAWriteWasSent) {
  ScriptedServer server({{.hangs = true}, {.hangs = true}, {.hangs = true}, {.hangs = true}});
  const Client client = ClientOf(server);
  const absl::Status late_read = client.GetItem(kGet, {.timeout = absl::Milliseconds(100)}).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(late_read)) << late_read;
  EXPECT_EQ(ReasonOf(late_read), kReasonDeadlineExceeded);
  const absl::Status late_write = client.PutItem(kPut, {.timeout = absl::Milliseconds(100)}).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(late_write)) << late_write;
  EXPECT_EQ(ReasonOf(late_write), kReasonWriteOutcomeUnknown);
  for (const bool is_read : {true, false}) {
    const size_t before = server.requests().size();
    CancelToken token;
    std::thread canceller([&] {
      while (server.requests().size() == before) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      token.Cancel();
    });
    const absl::Status status = is_read ? client.GetItem(kGet, {.cancel = token}).status()
                                        : client.PutItem(kPut, {.cancel = token}).status();
    canceller.join();
    EXPECT_TRUE(absl::IsCancelled(status)) << status;
    EXPECT_EQ(ReasonOf(status), is_read ? kReasonCancelled : kReasonWriteOutcomeUnknown);
  }
}

TEST(HttpErrors, ConditionsAndCancellationReasonsCarryTheirItems) {
  ScriptedServer server(
      {Exception(400, "ConditionalCheckFailedException", R"(,"Item":{"pk":{"S":"a"},"n":{"N":"7"}})"),
       Exception(
           400, "TransactionCanceledException",
           R"(,"CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed","Message":"no","Item":{"pk":{"S":"b"}}},
                    {"Code":"ValidationError","Message":"bad"}])"),
       Exception(400, "TransactionCanceledException",
                 R"(,"CancellationReasons":[{"Code":"None"},{"Code":"TransactionConflict"}])"),
       {}});
  const Client client = ClientOf(server);
  const absl::Status condition = client.PutItem(kPut).status();
  EXPECT_EQ(ReasonOf(condition), kReasonConditionalCheckFailed);
  EXPECT_EQ(ConditionFailedItem(condition), (Item{{"pk", "a"}, {"n", 7}}));
  const TransactWriteItemsRequest transaction{
      .actions = {TransactPut{.table_name = "T", .item = {{"pk", "a"}}}}};
  const absl::Status cancelled = client.TransactWriteItems(transaction).status();
  EXPECT_EQ(ReasonOf(cancelled), kReasonTransactionCancelled);
  const std::vector<CancellationReason> reasons = CancellationReasons(cancelled);
  ASSERT_EQ(reasons.size(), 3u);
  EXPECT_EQ(reasons[0].code, CancellationReason::Code::kNone);
  EXPECT_EQ(reasons[1].code, CancellationReason::Code::kConditionalCheckFailed);
  EXPECT_EQ(reasons[1].item, (Item{{"pk", "b"}}));
  EXPECT_EQ(reasons[2].code, CancellationReason::Code::kValidationError);
  // Nothing but another transaction was in the way.
  EXPECT_TRUE(client.TransactWriteItems(transaction).ok());
  EXPECT_EQ(server.requests().size(), 4u);
}

// The codes of the service, with more than itemd answers. One that is newer than this client is the reason.
TEST(HttpErrors, EachStatementOfABatchHasItsReason) {
  struct Row {
    std::string code;
    absl::StatusCode of_read;
    absl::StatusCode of_write;
    std::string reason_of_read;
    std::string reason_of_write;
  };
  using enum absl::StatusCode;
  const Row kRows[] = {
      {"ConditionalCheckFailed", kFailedPrecondition, kFailedPrecondition, "CONDITIONAL_CHECK_FAILED",
       "CONDITIONAL_CHECK_FAILED"},
      {"ItemCollectionSizeLimitExceeded", kResourceExhausted, kResourceExhausted,
       "ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED", "ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED"},
      {"RequestLimitExceeded", kResourceExhausted, kResourceExhausted, "LIMIT_EXCEEDED", "LIMIT_EXCEEDED"},
      {"ValidationError", kInvalidArgument, kInvalidArgument, "VALIDATION", "VALIDATION"},
      {"ProvisionedThroughputExceeded", kResourceExhausted, kResourceExhausted, "THROTTLED", "THROTTLED"},
      {"ThrottlingError", kResourceExhausted, kResourceExhausted, "THROTTLED", "THROTTLED"},
      {"TransactionConflict", kResourceExhausted, kResourceExhausted, "TRANSACTION_CONFLICT",
       "TRANSACTION_CONFLICT"},
      {"InternalServerError", kUnavailable, kUnknown, "UNAVAILABLE", "WRITE_OUTCOME_UNKNOWN"},
      {"ResourceNotFound", kNotFound, kNotFound, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_FOUND"},
      {"AccessDenied", kPermissionDenied, kPermissionDenied, "ACCESS_DENIED", "ACCESS_DENIED"},
      {"DuplicateItem", kAlreadyExists, kAlreadyExists, "DUPLICATE_ITEM", "DUPLICATE_ITEM"},
      {"SomethingNew", kUnknown, kUnknown, "SomethingNew", "SomethingNew"},
  };
  std::string body = R"({"Responses":[{"TableName":"T","Item":{"pk":{"S":"a"}}})";
  for (const Row& row : kRows)
    body += R"(,{"TableName":"T","Error":{"Message":"told","Item":{"pk":{"S":"b"}},"Code":")" + row.code +
            R"("}})";
  body += "]}";
  ScriptedServer server({{.body = body}, {.body = body}});
  const Client client = ClientOf(server);
  for (const bool is_read : {true, false}) {
    const std::vector<BatchStatement> statements(
        std::size(kRows) + 1, {.statement = is_read ? "SELECT * FROM T WHERE pk = 'a'" : "DELETE FROM T"});
    const auto result = client.BatchExecuteStatement({.statements = statements});
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->responses.size(), std::size(kRows) + 1);
    EXPECT_TRUE(result->responses[0].status.ok());
    EXPECT_EQ(result->responses[0].item, (Item{{"pk", "a"}}));
    for (size_t i = 0; i < std::size(kRows); ++i) {
      SCOPED_TRACE(kRows[i].code);
      const BatchStatementResponse& response = result->responses[i + 1];
      EXPECT_EQ(response.status.code(), is_read ? kRows[i].of_read : kRows[i].of_write);
      EXPECT_EQ(ReasonOf(response.status), is_read ? kRows[i].reason_of_read : kRows[i].reason_of_write);
      EXPECT_EQ(response.status.message(), "told");
      EXPECT_EQ(ConditionFailedItem(response.status).has_value(), i == 0);
      EXPECT_EQ(response.table_name, "T");
    }
  }
}

// The service may process a part, and answers reads in any order.
TEST(HttpErrors, BatchesGoOnWithWhatWasNotProcessed) {
  ScriptedServer server(
      {{.body = R"({"UnprocessedItems":{"T":[{"PutRequest":{"Item":{"pk":{"S":"b"}}}}]}})"},
       {.body = R"({"UnprocessedItems":{}})"},
       {.body =
            R"({"Responses":{"T":[{"pk":{"S":"c"}},{"pk":{"S":"a"}}]},"UnprocessedKeys":{"T":{"Keys":[{"pk":{"S":"b"}}]}}})"},
       {.body = R"({"Responses":{"T":[{"pk":{"S":"b"}}]},"UnprocessedKeys":{}})"}});
  const Client client = ClientOf(server);
  EXPECT_TRUE(
      client.BatchWriteItem({.writes = {BatchPut{"T", {{"pk", "a"}}}, BatchPut{"T", {{"pk", "b"}}}}}).ok());
  const absl::StatusOr<BatchGetItemResult> got = client.BatchGetItem(
      {.request_items = {{.table_name = "T", .keys = {{{"pk", "a"}}, {{"pk", "b"}}, {{"pk", "c"}}}}}});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(got->tables[0].items,
              ::testing::ElementsAre(Item{{"pk", "a"}}, Item{{"pk", "b"}}, Item{{"pk", "c"}}));
  const std::vector<std::string> requests = server.requests();
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_THAT(requests[1], ::testing::Not(HasSubstr(R"({"S":"a"})")));
  EXPECT_THAT(requests[3], ::testing::Not(HasSubstr(R"({"S":"a"})")));
}

TEST(HttpErrors, ABulkWriteOutlastsThrottlesOfWhatWasNotProcessed) {
  ScriptedServer server({{.body = R"({"UnprocessedItems":{"T":[{"PutRequest":{"Item":{"pk":{"S":"b"}}}}]}})"},
                         Exception(400, "ProvisionedThroughputExceededException"),
                         Exception(503, "ServiceUnavailable"),
                         {.body = R"({"UnprocessedItems":{}})"}});
  const Client client = ClientOf(server);
  BulkWriter writer(client, {});
  EXPECT_TRUE(writer.Put("T", {{"pk", "a"}}).ok());
  EXPECT_TRUE(writer.Put("T", {{"pk", "b"}}).ok());
  const absl::StatusOr<BulkWriteResult> result = writer.Finish();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->applied, 2);
  const std::vector<std::string> requests = server.requests();
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_THAT(requests[3], HasSubstr(R"({"S":"b"})"));
  EXPECT_THAT(requests[3], ::testing::Not(HasSubstr(R"({"S":"a"})")));
}

// Only a refusal of the number of its keys says that the other side does not have longer keys.
TEST(HttpErrors, AMistakeInAKeySchemaIsNoMissingFeature) {
  const auto refused = [](const std::string& message) {
    return ScriptedAnswer{.http_status = 400, .body = ExceptionBody("ValidationException", message)};
  };
  ScriptedServer server(
      {refused("All HASH key attributes must precede RANGE key attributes in the KeySchema"),
       refused("KeySchema must list exactly one or two key columns"),
       refused("1 validation error detected: Value '[HashKey, RangeKey, HashKey]' at "
               "'globalSecondaryIndexes.1.member.keySchema' failed to satisfy constraint: Member must have "
               "length less than or equal to 2"),
       refused("1 validation error detected: Value '[HashKey, RangeKey, HashKey]' at 'keySchema' failed to "
               "satisfy constraint: Member must have length less than or equal to 2")});
  const Client client = ClientOf(server, 1);
  TableDefinition table{.table_name = "t", .key_schema = {{.attribute_name = "a"}}};
  table.global_secondary_indexes = {{.index_name = "long",
                                     .key_schema = {{.attribute_name = "a"},
                                                    {.attribute_name = "b", .key_type = KeyType::kRange},
                                                    {.attribute_name = "c"}}}};
  for (const absl::StatusCode code : {absl::StatusCode::kInvalidArgument, absl::StatusCode::kUnimplemented,
                                      absl::StatusCode::kUnimplemented, absl::StatusCode::kInvalidArgument}) {
    EXPECT_EQ(client.CreateTable(table).status().code(), code);
  }
}

// DescribeTable may not find a table yet that CreateTable has made, and may be throttled.
TEST(HttpErrors, ATableIsLookedForUntilItIsUsable) {
  const std::string creating =
      R"({"TableName":"T","TableStatus":"CREATING","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]})";
  const std::string active =
      R"({"TableName":"T","TableStatus":"ACTIVE","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]})";
  ScriptedServer server({{.body = R"({"TableDescription":)" + creating + "}"},
                         Exception(400, "ResourceNotFoundException"),
                         Exception(400, "ThrottlingException"),
                         {.body = R"({"Table":)" + active + "}"}});
  const Client client = ClientOf(server);
  const auto created = client.CreateTable({.table_name = "T"});
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(server.requests().size(), 4u);
}

TEST(HttpErrors, MoreCallsThanConnectionsWaitTheirTurn) {
  std::deque<ScriptedAnswer> answers(50);
  ScriptedServer server(answers);
  ClientOptions options{
      .endpoint = server.endpoint(), .access_key_id = "AKID", .secret_access_key = "secret"};
  options.http.max_connections = 1;
  const Client client = *Client::Open(options);
  std::vector<std::future<absl::StatusOr<WriteResult>>> results;
  for (int i = 0; i < 50; ++i) results.push_back(client.PutItemAsync(kPut));
  for (auto& result : results) EXPECT_TRUE(result.get().ok());
  EXPECT_EQ(server.connections(), 1);
}

// A client that is destroyed in the callback of its last call, on the thread of its own transport.
TEST(HttpErrors, AClientMayEndInACallback) {
  ScriptedServer server({ScriptedAnswer{}});
  std::promise<void> done;
  auto client = std::make_unique<Client>(ClientOf(server));
  client->PutItemAsync(kPut, [&](absl::StatusOr<WriteResult> result) {
    EXPECT_TRUE(result.ok()) << result.status();
    client.reset();
    done.set_value();
  });
  done.get_future().get();
}

TEST(HttpErrors, CallsUnderWayEndWhenTheClientGoes) {
  ScriptedServer server({ScriptedAnswer{.hangs = true}});
  std::future<absl::StatusOr<WriteResult>> result;
  CancelToken token;
  {
    const Client client = ClientOf(server);
    result = client.PutItemAsync(kPut, {.cancel = token});
  }
  token.Cancel();
  EXPECT_TRUE(absl::IsCancelled(result.get().status()));
}

}  // namespace
}  // namespace itemdb
