#include "tests/storage/partiql/statements.h"

#include "itemdb/v1/data.pb.h"
#include "tests/storage/expressions/notation.h"

namespace itemdb::testing {

wire::ExecuteStatementRequest StatementRequest(const std::string& statement, const Values& parameters) {
  wire::ExecuteStatementRequest request;
  request.set_statement(statement);
  for (const std::string& parameter : parameters) request.add_parameters(Value(parameter));
  return request;
}

absl::StatusOr<StatementPage> Execute(TestDatabase& database, const wire::ExecuteStatementRequest& request) {
  return Await<StatementPage>([&](auto done) { database->ExecuteStatement(request, std::move(done)); });
}

absl::StatusOr<wire::BatchExecuteStatementReply> ExecuteBatch(
    TestDatabase& database, const wire::BatchExecuteStatementRequest& request) {
  return Await<wire::BatchExecuteStatementReply>(
      [&](auto done) { database->BatchExecuteStatement(request, std::move(done)); });
}

absl::StatusOr<wire::ExecuteTransactionReply> ExecuteTransaction(
    TestDatabase& database, const wire::ExecuteTransactionRequest& request) {
  return Await<wire::ExecuteTransactionReply>(
      [&](auto done) { database->ExecuteTransaction(request, std::move(done)); });
}

std::vector<std::string> ItemsOf(const StatementPage& page) {
  v1::ExecuteStatementReply reply;
  EXPECT_TRUE(reply.ParseFromString(page.reply.SerializeAsString() + page.encoded_items));
  std::vector<std::string> items;
  for (const v1::Item& item : reply.items()) items.push_back(ShowItem(item.SerializeAsString()));
  return items;
}

std::string Show(const absl::Status& error) {
  std::string rule = RuleOf(error);
  return (rule.empty() ? ReasonOf(error) : rule) + ": " + MessageOf(error);
}

std::string Outcome(const absl::StatusOr<StatementPage>& page) {
  if (!page.ok()) return Show(page.status());
  if (page->reply.has_condition_failed()) {
    const auto& failed = page->reply.condition_failed();
    return failed.has_item() ? "condition failed " + ShowItem(failed.item()) : "condition failed";
  }
  std::string text;
  for (const std::string& item : ItemsOf(*page)) text += (text.empty() ? "" : " ") + item;
  return text;
}

std::string Outcome(TestDatabase& database, const std::string& statement, const Values& parameters) {
  return Outcome(Execute(database, StatementRequest(statement, parameters)));
}

std::vector<std::string> AllItems(TestDatabase& database, wire::ExecuteStatementRequest request, int* pages) {
  std::vector<std::string> items;
  for (int count = 1;; ++count) {
    if (pages != nullptr) *pages = count;
    absl::StatusOr<StatementPage> page = Execute(database, request);
    EXPECT_TRUE(page.ok()) << page.status();
    if (!page.ok()) return items;
    for (std::string& item : ItemsOf(*page)) items.push_back(std::move(item));
    if (page->reply.next_token().empty()) return items;
    EXPECT_NE(page->reply.next_token(), request.next_token()) << "the same page again";
    if (::testing::Test::HasFailure()) return items;
    request.set_next_token(page->reply.next_token());
  }
}

void ExpectOutcomes(TestDatabase& database, const std::vector<StatementRow>& rows) {
  for (const StatementRow& row : rows) {
    SCOPED_TRACE(row.statement);
    const std::string outcome = Outcome(database, row.statement, row.parameters);
    if (row.outcome.ends_with("...")) {
      EXPECT_THAT(outcome, ::testing::StartsWith(row.outcome.substr(0, row.outcome.size() - 3)));
    } else {
      EXPECT_EQ(outcome, row.outcome);
    }
  }
}

}  // namespace itemdb::testing
