// BatchExecuteStatement and ExecuteTransaction.
#include "tests/storage/expressions/notation.h"
#include "tests/storage/partiql/statements.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;

class PartiqlSeveral : public ::testing::Test {
 protected:
  PartiqlSeveral() {
    auto table = TableRequest("Things", /*sorted=*/false);
    AddIndex(&table, "ByGroup", {"grp:S"}, 1, v1::PROJECTION_TYPE_ALL);
    database_.CreateTable(table);
    for (const char* key : {"a", "b", "c"}) {
      EXPECT_EQ(
          Outcome(database_, "INSERT INTO Things VALUE {'pk': ?, 'n': 1}", {"'" + std::string(key) + "'"}),
          "");
    }
  }

  using Statements = std::vector<std::string>;

  static wire::BatchExecuteStatementRequest Batch(const Statements& statements) {
    wire::BatchExecuteStatementRequest request;
    for (const std::string& statement : statements) request.add_statements()->set_statement(statement);
    return request;
  }
  static wire::ExecuteTransactionRequest Transaction(const Statements& statements) {
    wire::ExecuteTransactionRequest request;
    for (const std::string& statement : statements)
      request.add_transact_statements()->set_statement(statement);
    return request;
  }

  // The outcome of each statement: an item, "", or "REASON: message".
  std::vector<std::string> BatchOutcomes(const Statements& statements) {
    auto reply = ExecuteBatch(database_, Batch(statements));
    if (!reply.ok()) return {Show(reply.status())};
    std::vector<std::string> outcomes;
    for (const auto& response : reply->responses()) {
      std::string outcome;
      if (response.has_item()) outcome = ShowItem(response.item());
      if (response.has_error()) outcome = response.error().reason() + ": " + response.error().message();
      outcomes.push_back(outcome);
    }
    return outcomes;
  }

  // "committed" with the items, or the code of each cancellation reason.
  std::vector<std::string> TransactionOutcomes(const Statements& statements) {
    auto reply = ExecuteTransaction(database_, Transaction(statements));
    if (!reply.ok()) return {Show(reply.status())};
    std::vector<std::string> outcomes;
    for (const auto& reason : reply->cancelled().reasons()) {
      outcomes.push_back(
          v1::CancellationCode_Name(reason.code()).substr(std::string("CANCELLATION_CODE_").size()));
    }
    if (!reply->has_cancelled()) outcomes.push_back("committed");
    for (const auto& response : reply->responses())
      outcomes.push_back(response.has_item() ? ShowItem(response.item()) : "nothing");
    return outcomes;
  }

  TestDatabase database_;
};

// The message of a failed statement says where it fails; HTTP sends the service's text, which does not.
TEST_F(PartiqlSeveral, ErrorsOfStatementsHaveTheirPositions) {
  const auto reply = ExecuteBatch(
      database_, Batch({"SELECT * FROM Things WHERE pk ! 'a'", "SELECT * FROM Things WHERE pk = 7"}));
  ASSERT_TRUE(reply.ok()) << reply.status();
  const wire::StatementError& syntax = reply->responses(0).error();
  EXPECT_THAT(syntax.message(), ::testing::HasSubstr("at character 31"));
  EXPECT_THAT(syntax.service_text(), ::testing::StartsWith("Statement wasn't well formed"));
  EXPECT_THAT(syntax.service_text(), ::testing::Not(::testing::HasSubstr("character")));
  const wire::StatementError& key = reply->responses(1).error();
  EXPECT_THAT(key.message(), ::testing::HasSubstr("Key pk: it is S, not N"));
  EXPECT_EQ(key.service_text(),
            "Key attribute's data type should match its data type in table's schema: Key pk");
}

// In a batch every SELECT reads one item by its full key (PQL-14, OP-24).
TEST_F(PartiqlSeveral, BatchesReadSingleItems) {
  // Conditions beside the key are refused.
  const std::string whole_key =
      "VALIDATION: Select statements within BatchExecuteStatement must specify the primary key in the where "
      "clause.";
  EXPECT_THAT(
      BatchOutcomes({
          "SELECT * FROM Things WHERE pk = 'a'",
          "SELECT n FROM Things WHERE pk = 'b' AND n = 1",
          "SELECT * FROM Things WHERE pk = 'b' AND n = 2",
          "SELECT * FROM Things WHERE pk = 'none'",
          "SELECT * FROM Things WHERE n = 1",
          "SELECT * FROM Things.ByGroup WHERE grp = 'a'",
          "SELECT * FROM Nothing WHERE pk = 'a'",
          "SELECT * FROM Things WHERE",
          "SELECT * FROM Things WHERE pk = 'a' ORDER BY pk",
      }),
      ElementsAre(
          "{n: 1, pk: 'a'}", whole_key, whole_key, "", whole_key,
          "VALIDATION: A SELECT in a batch or transaction cannot read an index",
          "RESOURCE_NOT_FOUND: Requested resource not found: Table: Nothing not found",
          "VALIDATION: Statement wasn't well formed, can't be processed: expected an attribute, a literal, a "
          "parameter or SIZE at character 27, found the end of the statement",
          "VALIDATION: A SELECT in a batch or transaction reads one item and takes no ORDER BY"));
}

// A failed statement does not affect the others of its batch (PQL-14, ERR-13).
TEST_F(PartiqlSeveral, BatchesWriteEachByItself) {
  EXPECT_THAT(BatchOutcomes({
                  "INSERT INTO Things VALUE {'pk': 'd', 'n': 4}",
                  "INSERT INTO Things VALUE {'pk': 'a', 'n': 4}",
                  "UPDATE Things SET n = n + 1 WHERE pk = 'b' RETURNING ALL NEW *",
                  "UPDATE Things SET n = 2 WHERE pk = 'none'",
                  "DELETE FROM Things WHERE pk = 'c' AND n = 1",
                  "UPDATE Things SET n = 'x' + 1 WHERE pk = 'a'",
                  "EXISTS(SELECT * FROM Things WHERE pk = 'a' AND n = 1)",
                  "INSERT INTO Nothing VALUE {'pk': 'd'}",
                  "garbage",
              }),
              ElementsAre("", "DUPLICATE_ITEM: Duplicate primary key exists in table", "{n: 2, pk: 'b'}",
                          "CONDITIONAL_CHECK_FAILED: The conditional request failed", "",
                          ::testing::StartsWith("VALIDATION: Invalid SET or REMOVE clause"),
                          "VALIDATION: EXISTS is only supported in ExecuteTransaction",
                          "RESOURCE_NOT_FOUND: Requested resource not found: Table: Nothing not found",
                          ::testing::StartsWith("VALIDATION: Statement wasn't well formed")));
  EXPECT_THAT(AllItems(database_, StatementRequest("SELECT * FROM Things")),
              ElementsAre("{n: 1, pk: 'a'}", "{n: 2, pk: 'b'}", "{n: 4, pk: 'd'}"));
}

TEST_F(PartiqlSeveral, BatchesSayMoreWhenAsked) {
  auto request =
      Batch({"UPDATE Things SET n = 2 WHERE pk = 'a' AND n = 3", "UPDATE Things SET n = ? WHERE pk = 'b'"});
  request.mutable_statements(0)->set_return_values_on_condition_check_failure(
      v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
  request.mutable_statements(1)->add_parameters(Value("7"));
  request.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_TOTAL);
  auto reply = ExecuteBatch(database_, request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(ShowItem(reply->responses(0).error().item()), "{n: 1, pk: 'a'}");
  EXPECT_EQ(reply->responses(0).table_name(), "Things");
  ASSERT_EQ(reply->consumed_capacity_size(), 1);
  EXPECT_EQ(reply->consumed_capacity(0).capacity_units(), 2);
  EXPECT_GT(reply->change_sequence(), 0u);

  auto reads = Batch({"SELECT * FROM Things WHERE pk = 'a'", "SELECT * FROM Things WHERE pk = 'b'"});
  reads.mutable_statements(0)->set_consistent_read(true);
  reads.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_TOTAL);
  reply = ExecuteBatch(database_, reads);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->consumed_capacity(0).capacity_units(), 1.5);
}

// A batch that breaks a rule is refused as a whole (PQL-12, PQL-14).
TEST_F(PartiqlSeveral, RefusesBatchesAsAWhole) {
  const Statements reads(26, "SELECT * FROM Things WHERE pk = 'a'");
  EXPECT_THAT(BatchOutcomes({}),
              ElementsAre("PQL-12: a batch must contain 1 to 25 statements; this one has 0"));
  EXPECT_THAT(BatchOutcomes(reads),
              ElementsAre("PQL-12: a batch must contain 1 to 25 statements; this one has 26"));
  Statements different;
  for (int i = 0; i < 25; ++i)
    different.push_back("SELECT * FROM Things WHERE pk = '" + std::to_string(i) + "'");
  EXPECT_EQ(BatchOutcomes(different).size(), 25u);
  EXPECT_THAT(
      BatchOutcomes({reads[0], "DELETE FROM Things WHERE pk = 'a'"}),
      ElementsAre("PQL-14: The batch must consist of either read statements or write statements only"));
  const std::string duplicates = "PQL-14: Provided list of item keys contains duplicates";
  EXPECT_THAT(BatchOutcomes({reads[0], different[0], "SELECT n FROM Things WHERE pk = 'a'"}),
              ElementsAre(duplicates));
  EXPECT_THAT(BatchOutcomes({"DELETE FROM Things WHERE pk = 'a'", "UPDATE Things SET n = 5 WHERE pk = 'a'"}),
              ElementsAre(duplicates));
  EXPECT_EQ(Outcome(database_, "SELECT pk FROM Things WHERE pk = 'a'"), "{pk: 'a'}");
}

// A text that is no statement is an error of its own, in a batch of reads as of writes.
TEST_F(PartiqlSeveral, BatchesGoOnBesideWhatIsNoStatement) {
  const auto reads = BatchOutcomes({"SELEC", "SELECT pk FROM Things WHERE pk = 'a'"});
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_THAT(reads[0], ::testing::StartsWith("VALIDATION: Statement wasn't well formed"));
  EXPECT_EQ(reads[1], "{pk: 'a'}");
  const auto writes = BatchOutcomes({"", "DELETE FROM Things WHERE pk = 'a'"});
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_EQ(Outcome(database_, "SELECT pk FROM Things WHERE pk = 'a'"), "");
}

// A transaction reads all items from one state, in order, a gap for a missing one (PQL-15, OP-25).
TEST_F(PartiqlSeveral, TransactionsReadSingleItems) {
  EXPECT_THAT(
      TransactionOutcomes({"SELECT * FROM Things WHERE pk = 'b'", "SELECT n FROM Things WHERE pk = 'none'",
                           "SELECT n FROM Things WHERE pk = 'c'"}),
      ElementsAre("committed", "{n: 1, pk: 'b'}", "nothing", "{n: 1}"));
}

// Applies all statements or none, with a reason for each (PQL-06, PQL-15, SEM-051, ERR-13).
TEST_F(PartiqlSeveral, TransactionsWriteAllOrNothing) {
  const std::string insert = "INSERT INTO Things VALUE {'pk': 'd'}";
  const std::string update = "UPDATE Things SET n = n + 1 WHERE pk = 'a'";
  const std::string erase = "DELETE FROM Things WHERE pk = 'b'";
  EXPECT_THAT(
      TransactionOutcomes({insert, update, erase, "EXISTS(SELECT * FROM Things WHERE pk = 'c' AND n = 2)"}),
      ElementsAre("NONE", "NONE", "NONE", "CONDITIONAL_CHECK_FAILED"));
  EXPECT_THAT(
      TransactionOutcomes({insert, "EXISTS(SELECT * FROM Things WHERE pk = 'none' AND n IS MISSING)"}),
      ElementsAre("NONE", "CONDITIONAL_CHECK_FAILED"));
  EXPECT_THAT(TransactionOutcomes({"INSERT INTO Things VALUE {'pk': 'c'}", update}),
              ElementsAre("DUPLICATE_ITEM", "NONE"));
  EXPECT_THAT(TransactionOutcomes({insert, "UPDATE Things SET n = 1 WHERE pk = 'none'"}),
              ElementsAre("NONE", "CONDITIONAL_CHECK_FAILED"));
  EXPECT_THAT(AllItems(database_, StatementRequest("SELECT * FROM Things")),
              ElementsAre("{n: 1, pk: 'a'}", "{n: 1, pk: 'b'}", "{n: 1, pk: 'c'}"));
  EXPECT_THAT(
      TransactionOutcomes({insert, update, erase, "EXISTS(SELECT * FROM Things WHERE pk = 'c' AND n = 1)"}),
      ElementsAre("committed"));
  EXPECT_THAT(AllItems(database_, StatementRequest("SELECT * FROM Things")),
              ElementsAre("{n: 2, pk: 'a'}", "{n: 1, pk: 'c'}", "{pk: 'd'}"));
  database_.CheckIsClean();
}

// A key that does not fit its table cancels a transaction of either kind (PQL-15, SEM-005).
TEST_F(PartiqlSeveral, TransactionsAreCancelledByAKeyThatDoesNotFit) {
  const std::string mismatch =
      "Key attribute's data type should match its data type in table's schema: Key pk";
  const struct {
    Statements statements;
    std::string message;
  } rows[] = {
      {{"SELECT * FROM Things WHERE pk = 'a'", "SELECT * FROM Things WHERE pk = 1"}, mismatch},
      {{"DELETE FROM Things WHERE pk = 'a'", "DELETE FROM Things WHERE pk = 1"}, mismatch},
      {{"DELETE FROM Things WHERE pk = 'a'", "UPDATE Things SET n = 2 WHERE pk = <<'a'>>"}, mismatch},
      {{"DELETE FROM Things WHERE pk = 'a'", "EXISTS(SELECT * FROM Things WHERE pk = true AND n = 1)"},
       mismatch},
      {{"DELETE FROM Things WHERE pk = 'a'", "INSERT INTO Things VALUE {'pk': 1}"}, mismatch},
      {{"DELETE FROM Things WHERE pk = 'a'", "INSERT INTO Things VALUE {'n': 1}"},
       "Key attribute should be present in the item: Key pk"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.statements[1]);
    EXPECT_THAT(TransactionOutcomes(row.statements), ElementsAre("NONE", "VALIDATION_ERROR"));
    auto reply = ExecuteTransaction(database_, Transaction(row.statements));
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->cancelled().reasons(1).message(), row.message);
    EXPECT_TRUE(reply->responses().empty());
  }
  EXPECT_THAT(TransactionOutcomes({"SELECT * FROM Things WHERE pk = ''"}),
              ElementsAre(::testing::StartsWith("SEM-007: ")));
  // Outside transactions it is an error of the statement.
  EXPECT_THAT(Outcome(database_, "DELETE FROM Things WHERE pk = 1"),
              ::testing::StartsWith("PQL-16: " + mismatch));
  EXPECT_EQ(Outcome(database_, "SELECT n FROM Things WHERE pk = 'a'"), "{n: 1}");
}

// A transaction that breaks a rule is refused as a whole (PQL-12, PQL-15, SEM-047, SEM-048).
TEST_F(PartiqlSeveral, RefusesTransactionsAsAWhole) {
  const std::string read = "SELECT * FROM Things WHERE pk = 'a'";
  const std::string write = "DELETE FROM Things WHERE pk = 'a'";
  const struct {
    Statements statements;
    std::string outcome;
  } rows[] = {
      {{}, "PQL-12: a transaction must contain 1 to 100 statements; this one has 0"},
      {Statements(101, read), "PQL-12: a transaction must contain 1 to 100 statements; this one has 101"},
      {{read, write},
       "PQL-15: The transaction must consist of either read statements or write statements only"},
      {{read, "EXISTS(SELECT * FROM Things WHERE pk = 'b' AND n = 1)"},
       "PQL-15: The transaction must consist of..."},
      {{read, read}, "SEM-048: Transaction request cannot include multiple operations on one item"},
      {{write, "EXISTS(SELECT * FROM Things WHERE pk = 'a' AND n = 1)"}, "SEM-048: ..."},
      {{read, "SELECT * FROM Things.ByGroup WHERE grp = 'a'"},
       "PQL-14: A SELECT in a batch or transaction cannot read an index (statement 2)"},
      {{read, "SELECT * FROM Things"},
       "PQL-14: Select statements within ExecuteTransaction must specify the primary key in the where "
       "clause. "
       "(statement 2)"},
      {{"SELECT n FROM Things WHERE pk = 'a' AND n = 1"}, "PQL-14: Select statements within..."},
      {{"SELECT n FROM Things WHERE pk = 'a' AND pk = 'a'"}, "PQL-14: Select statements within..."},
      {{write + " RETURNING ALL OLD *"}, "PQL-15: RETURNING is not supported in a transaction (statement 1)"},
      {{"EXISTS(SELECT * FROM Things WHERE pk = 'a')"},
       "PQL-06: EXISTS needs a condition beside the equality on the key of table Things (statement 1)"},
      {{"DELETE FROM Nothing WHERE pk = 'a'"}, "SEM-039: ..."},
      {{"EXISTS(SELECT n FROM Things WHERE pk = 'a' AND n = 1)"}, "PQL-18: ..."},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.outcome);
    const std::vector<std::string> outcomes = TransactionOutcomes(row.statements);
    ASSERT_EQ(outcomes.size(), 1u);
    if (row.outcome.ends_with("...")) {
      EXPECT_THAT(outcomes[0], ::testing::StartsWith(row.outcome.substr(0, row.outcome.size() - 3)));
    } else {
      EXPECT_EQ(outcomes[0], row.outcome);
    }
  }
  auto large = Transaction({"INSERT INTO Things VALUE {'pk': ?}"});
  large.mutable_transact_statements(0)->add_parameters(Value("'" + std::string(4 << 20, 'x') + "'"));
  EXPECT_THAT(Show(ExecuteTransaction(database_, large).status()), ::testing::StartsWith("SEM-047: "));
  EXPECT_EQ(Outcome(database_, read), "{n: 1, pk: 'a'}");
}

// A repeated transaction with the same token is not applied again (PQL-15, SEM-050, ERR-08).
TEST_F(PartiqlSeveral, TransactionsWithATokenAreAppliedOnce) {
  auto request = Transaction({"UPDATE Things SET n = n + ? WHERE pk = 'a'"});
  request.mutable_transact_statements(0)->add_parameters(Value("1"));
  request.set_client_request_token("token");
  for (int i = 0; i < 3; ++i) {
    auto reply = ExecuteTransaction(database_, request);
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_FALSE(reply->has_cancelled());
    if (i == 1) database_.Reopen();
  }
  EXPECT_EQ(Outcome(database_, "SELECT n FROM Things WHERE pk = 'a'"), "{n: 2}");
  request.mutable_transact_statements(0)->set_parameters(0, Value("2"));
  EXPECT_EQ(ReasonOf(ExecuteTransaction(database_, request).status()), kReasonIdempotentParameterMismatch);
  request.set_client_request_token(std::string(37, 'x'));
  EXPECT_THAT(Show(ExecuteTransaction(database_, request).status()), ::testing::StartsWith("SEM-050: "));
}

// A transaction consumes twice the capacity (SEM-062, SEM-063).
TEST_F(PartiqlSeveral, TransactionsAreAccountedFor) {
  auto reads = Transaction({"SELECT * FROM Things WHERE pk = 'a'", "SELECT * FROM Things WHERE pk = 'b'"});
  reads.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_TOTAL);
  auto reply = ExecuteTransaction(database_, reads);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->consumed_capacity(0).capacity_units(), 4);
  auto writes = Transaction({"DELETE FROM Things WHERE pk = 'a'"});
  writes.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_TOTAL);
  reply = ExecuteTransaction(database_, writes);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->consumed_capacity(0).capacity_units(), 2);
}

}  // namespace
}  // namespace itemdb::testing
