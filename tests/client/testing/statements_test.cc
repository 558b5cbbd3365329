// PartiQL statements of the client, and how its errors are printed.
#include <memory>
#include <sstream>
#include <string>

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
