// Functions that execute statements and show their outcomes, one line each.
#pragma once

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {

// Values in the notation of tests/storage/expressions/notation.h.
using Values = std::vector<std::string>;

wire::ExecuteStatementRequest StatementRequest(const std::string& statement, const Values& parameters = {});
absl::StatusOr<StatementPage> Execute(TestDatabase& database, const wire::ExecuteStatementRequest& request);
absl::StatusOr<wire::BatchExecuteStatementReply> ExecuteBatch(
    TestDatabase& database, const wire::BatchExecuteStatementRequest& request);
absl::StatusOr<wire::ExecuteTransactionReply> ExecuteTransaction(
    TestDatabase& database, const wire::ExecuteTransactionRequest& request);

// The items of a reply, each in notation.
std::vector<std::string> ItemsOf(const StatementPage& page);
// The outcome of a statement: "{...} {...}" for items, "condition failed", "condition failed {...}", "" for
// nothing; for an error "RULE: message", or "REASON: message" if the error names no rule.
std::string Show(const absl::Status& error);
std::string Outcome(const absl::StatusOr<StatementPage>& page);
std::string Outcome(TestDatabase& database, const std::string& statement, const Values& parameters = {});
// The items of all pages; `pages` counts them.
std::vector<std::string> AllItems(TestDatabase& database, wire::ExecuteStatementRequest request,
                                  int* pages = nullptr);

// A statement and its expected outcome. If `outcome` ends in "...", only the text before that must match.
struct StatementRow {
  std::string statement;
  Values parameters;
  std::string outcome;
};
// Executes the statements one after another.
void ExpectOutcomes(TestDatabase& database, const std::vector<StatementRow>& rows);

}  // namespace itemdb::testing
