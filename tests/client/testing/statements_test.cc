// PartiQL statements of the client, and how its errors are printed.
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "itemdb/client.h"
#include "itemdb/testing/fake_database.h"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using namespace itemdb;  // NOLINT: as a user's test would.
using itemdb::testing::FakeDatabase;
using itemdb::testing::Fault;

class StatementsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(client_
                    .CreateTable({.table_name = "Order",
                                  .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                                  .key_schema = {{"id", KeyType::kHash}}})
                    .ok());
  }

  std::unique_ptr<FakeDatabase> database_ = *FakeDatabase::Open();
  Client client_ = database_->NewClient();
};

TEST_F(StatementsTest, ReadAndWrite) {
  const auto run = [this](const std::string& statement, std::vector<Value> parameters = {}) {
    return client_.ExecuteStatement({.statement = statement, .parameters = std::move(parameters)});
  };
  for (const char* id : {"a", "b", "c"})
    ASSERT_TRUE(run("INSERT INTO \"Order\" VALUE {'id': ?, 'n': 1}", {id}).ok());
  EXPECT_EQ(ReasonOf(run("INSERT INTO \"Order\" VALUE {'id': 'a'}").status()), "DUPLICATE_ITEM");
  const auto updated = run("UPDATE \"Order\" SET n = n + ? WHERE id = 'a' RETURNING ALL NEW *", {5});
  ASSERT_TRUE(updated.ok()) << updated.status();
  ASSERT_THAT(updated->items, SizeIs(1));
  EXPECT_EQ(updated->items[0], (Item{{"id", "a"}, {"n", 6}}));
  EXPECT_EQ(ReasonOf(run("DELETE FROM \"Order\" WHERE id = 'a' AND n = 1").status()),
            kReasonConditionalCheckFailed);

  // Page by page.
  ExecuteStatementRequest request{.statement = " select id from \"Order\"", .limit = 2};
  absl::StatusOr<ExecuteStatementResult> page = client_.ExecuteStatement(request);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(page->items, SizeIs(2));
  ASSERT_TRUE(page->next_token.has_value());
  request.next_token = *page->next_token;
  page = client_.ExecuteStatementAsync(request).get();
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(page->items, SizeIs(1));
}

TEST_F(StatementsTest, EachStatementOfABatchHasAStatus) {
  const BatchExecuteStatementRequest writes{
      .statements = {{.statement = "INSERT INTO \"Order\" VALUE {'id': 'a', 'n': 1}"},
                     {.statement = "INSERT INTO \"Order\" VALUE {'id': ?, 'n': 2}", .parameters = {"b"}},
                     {.statement = "INSERT INTO \"Order\" VALUE {'id': 'd'}"}}};
  ASSERT_TRUE(client_.BatchExecuteStatement(writes).ok());
  absl::StatusOr<BatchExecuteStatementResult> result = client_.BatchExecuteStatement(
      {.statements = {
           {.statement = "UPDATE \"Order\" SET n = n + ? WHERE id = 'a' RETURNING ALL NEW *",
            .parameters = {5}},
           {.statement = "DELETE FROM \"Order\" WHERE id = 'b' AND n = 1",
            .return_values_on_condition_check_failure = ReturnValuesOnConditionCheckFailure::kAllOld},
           {.statement = "INSERT INTO \"Order\" VALUE {'id': 'd'}"},
           {.statement = "DELETE FROM \"Ordre\" WHERE id = 'b'"},
           {.statement = "DELETE FROM"}}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(result->change_sequence, 0u);
  ASSERT_THAT(result->responses, SizeIs(5));
  const auto& [updated, unlike, duplicate, elsewhere, unreadable] =
      std::tie(result->responses[0], result->responses[1], result->responses[2], result->responses[3],
               result->responses[4]);
  EXPECT_TRUE(updated.status.ok()) << updated.status;
  EXPECT_EQ(updated.table_name, "Order");
  EXPECT_EQ(updated.item, (Item{{"id", "a"}, {"n", 6}}));
  // As ExecuteStatement would return them.
  EXPECT_EQ(unlike.status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(unlike.status), kReasonConditionalCheckFailed);
  EXPECT_EQ(ConditionFailedItem(unlike.status), (Item{{"id", "b"}, {"n", 2}}));
  EXPECT_FALSE(unlike.item.has_value());
  const auto expect_same = [this](const absl::Status& status, const std::string& statement) {
    const absl::Status alone = client_.ExecuteStatement({.statement = statement}).status();
    EXPECT_EQ(status.code(), alone.code()) << status;
    EXPECT_EQ(ReasonOf(status), ReasonOf(alone)) << status;
    EXPECT_FALSE(status.message().empty());
  };
  expect_same(duplicate.status, "INSERT INTO \"Order\" VALUE {'id': 'd'}");
  expect_same(elsewhere.status, "DELETE FROM \"Ordre\" WHERE id = 'b'");
  EXPECT_EQ(elsewhere.table_name, "Ordre");
  expect_same(unreadable.status, "DELETE FROM");
  EXPECT_EQ(unreadable.table_name, "");

  // Reads, with a future.
  const BatchExecuteStatementRequest reads{
      .statements = {{.statement = "SELECT n FROM \"Order\" WHERE id = 'b'", .consistent_read = true},
                     {.statement = "SELECT n FROM \"Order\" WHERE id = 'c'"}},
      .return_consumed_capacity = ReturnConsumedCapacity::kTotal};
  result = client_.BatchExecuteStatementAsync(reads).get();
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_THAT(result->responses, SizeIs(2));
  EXPECT_EQ(result->responses[0].item, (Item{{"n", 2}}));
  EXPECT_TRUE(result->responses[1].status.ok());
  EXPECT_FALSE(result->responses[1].item.has_value());
  ASSERT_THAT(result->consumed_capacity, SizeIs(1));
  EXPECT_EQ(result->consumed_capacity[0].capacity_units, 1.5);

  // The batch as a whole.
  EXPECT_EQ(ReasonOf(client_.BatchExecuteStatement({.statements = {}}).status()), kReasonValidation);
  const std::vector<BatchStatement> many(26, reads.statements[0]);
  EXPECT_EQ(ReasonOf(client_.BatchExecuteStatement({.statements = many}).status()), kReasonValidation);
  EXPECT_EQ(
      ReasonOf(client_.BatchExecuteStatement({.statements = {reads.statements[0], writes.statements[0]}})
                   .status()),
      kReasonValidation);
}

// A read whose reply is lost is sent again. A write is not: its outcome is unknown.
TEST_F(StatementsTest, ABatchIsReadOrWrittenByItsWords) {
  const auto with_lost_reply = [this](const char* statement) {
    database_->FailNext({.fault = Fault::kLostReply, .operation = "BatchExecuteStatement"});
    return client_.BatchExecuteStatement({.statements = {{.statement = statement}}}).status();
  };
  EXPECT_TRUE(with_lost_reply("SELECT * FROM \"Order\" WHERE id = 'a'").ok());
  EXPECT_EQ(ReasonOf(with_lost_reply("INSERT INTO \"Order\" VALUE {'id': 'a'}")), kReasonWriteOutcomeUnknown);
}

TEST_F(StatementsTest, TransactionsDoAllOrNothing) {
  const auto write = client_.ExecuteTransaction(
      {.statements = {{.statement = "INSERT INTO \"Order\" VALUE {'id': 'a'}"},
                      {.statement = "INSERT INTO \"Order\" VALUE {'id': ?}", .parameters = {"b"}}}});
  ASSERT_TRUE(write.ok()) << write.status();
  const auto read =
      client_.ExecuteTransaction({.statements = {{.statement = "SELECT * FROM \"Order\" WHERE id = 'b'"},
                                                 {.statement = "SELECT * FROM \"Order\" WHERE id = 'c'"}}});
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_THAT(read->items, SizeIs(2));
  EXPECT_TRUE(read->items[0].has_value());
  EXPECT_FALSE(read->items[1].has_value());
  const absl::Status cancelled =
      client_
          .ExecuteTransaction(
              {.statements = {{.statement = "EXISTS(SELECT * FROM \"Order\" WHERE id = 'a' AND n = 1)"},
                              {.statement = "DELETE FROM \"Order\" WHERE id = 'b'"}}})
          .status();
  EXPECT_EQ(ReasonOf(cancelled), kReasonTransactionCancelled);
  EXPECT_THAT(CancellationReasons(cancelled), SizeIs(2));
}

// A person who prints a status reads its code, message and reason, not the bytes of messages.
TEST_F(StatementsTest, ErrorsArePrintedAsText) {
  std::ostringstream printed;
  printed << client_.GetItem({.table_name = "Ordre", .key = {{"id", "a"}}}).status();
  EXPECT_THAT(printed.str(), AllOf(HasSubstr("NOT_FOUND: "), HasSubstr("reason RESOURCE_NOT_FOUND"),
                                   Not(HasSubstr("\\n")), Not(HasSubstr("itemdb\\x"))));
  printed << client_.ExecuteStatement({.statement = "UPDATE \"Order\" SET n = 1 WHERE id = 'x'"}).status();
  EXPECT_THAT(printed.str(), HasSubstr("reason CONDITIONAL_CHECK_FAILED"));
}

}  // namespace
