#include "daemon/access/statement_roles.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "storage/base/limits.h"

namespace itemdb::daemon {
namespace {

// PERMISSION_DENIED: `caller` may not execute `statement`, a part of `operation`.
absl::Status Check(std::string_view statement, std::string_view operation, const Caller& caller) {
  if (caller.role >= Role::kWrite || caller.grants != nullptr ||
      storage::Database::IsReadStatement(statement))
    return absl::OkStatus();
  const std::string_view action = storage::Database::StatementAction(statement);
  std::string what = "dynamodb:";
  what.append(action.empty() ? operation : action);
  return AccessDeniedError(caller, what, Role::kWrite);
}

}  // namespace

std::optional<absl::StatusOr<storage::StatementPage>> RefusedStatements(
    const wire::ExecuteStatementRequest& request, const Caller& caller) {
  absl::Status allowed = Check(request.statement(), "ExecuteStatement", caller);
  if (allowed.ok()) return std::nullopt;
  return allowed;
}

std::optional<absl::StatusOr<wire::BatchExecuteStatementReply>> RefusedStatements(
    const wire::BatchExecuteStatementRequest& request, const Caller& caller) {
  if (caller.role >= Role::kWrite || caller.grants != nullptr) return std::nullopt;
  const auto& statements = request.statements();
  // A batch without statements, with too many (PQL-12), or with reads and writes (PQL-14) goes to the
  // database, which refuses it before it executes any statement.
  const bool any_reads = std::any_of(statements.begin(), statements.end(), [](const auto& statement) {
    return storage::Database::IsReadStatement(statement.statement());
  });
  if (any_reads || statements.empty() || statements.size() > storage::kMaxBatchStatements)
    return std::nullopt;
  wire::BatchExecuteStatementReply reply;
  for (const wire::BatchStatement& statement : statements) {
    const absl::Status denied = Check(statement.statement(), "BatchExecuteStatement", caller);
    wire::StatementError* error = reply.add_responses()->mutable_error();
    error->set_reason(storage::ReasonOf(denied));
    error->set_message(storage::MessageOf(denied));
  }
  return reply;
}

std::optional<absl::StatusOr<wire::ExecuteTransactionReply>> RefusedStatements(
    const wire::ExecuteTransactionRequest& request, const Caller& caller) {
  for (const wire::TransactStatement& statement : request.transact_statements()) {
    absl::Status allowed = Check(statement.statement(), "ExecuteTransaction", caller);
    if (!allowed.ok()) return allowed;
  }
  return std::nullopt;
}

}  // namespace itemdb::daemon
