// ExecuteTransaction: executes several statements, which are all reads from one state, or all writes. Either
// all writes are applied or none.

#include "absl/strings/str_cat.h"
#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/items/distinct_keys.h"
#include "storage/items/operations.h"
#include "storage/partiql/operations.h"
#include "storage/partiql/parser.h"
#include "storage/partiql/select.h"
#include "storage/partiql/write.h"

namespace itemdb::storage {
namespace {

using partiql::Statement;
using partiql::StatementKind;

// Adds the number of the statement, counted from 1, to the message of `status`.
absl::Status AtStatement(const absl::Status& status, int number) {
  return Reworded(status, {.addition = absl::StrCat(" (statement ", number, ")")});
}

// Parses all statements. Refuses RETURNING, and reads mixed with writes (PQL-15).
absl::StatusOr<std::vector<Statement>> ParseAll(const wire::ExecuteTransactionRequest& request) {
  const int count = request.transact_statements_size();
  if (count < 1 || count > kMaxTransactActions) {
    return ValidationError("PQL-12", absl::StrCat("a transaction must contain 1 to ", kMaxTransactActions,
                                                  " statements; this one has ", count));
  }
  if (size_t bytes = request.ByteSizeLong(); bytes > kMaxTransactBytes) {
    return ValidationError("SEM-047", absl::StrCat("a transaction may be at most ", kMaxTransactBytes,
                                                   " bytes long; this one has ", bytes));
  }
  ITEMDB_RETURN_IF_ERROR(CheckReturnConsumedCapacity(request.return_consumed_capacity()));
  std::vector<Statement> statements;
  statements.reserve(static_cast<size_t>(count));
  for (const wire::TransactStatement& wanted : request.transact_statements()) {
    auto statement = partiql::ParseStatement(wanted.statement(), wanted.parameters());
    const int number = static_cast<int>(statements.size()) + 1;
    if (!statement.ok()) return AtStatement(statement.status(), number);
    if (statement->return_values != v1::RETURN_VALUES_NONE) {
      return AtStatement(ValidationError("PQL-15", "RETURNING is not supported in a transaction"), number);
    }
    statements.push_back(*std::move(statement));
  }
  const bool reads = statements[0].kind == StatementKind::kSelect;
  for (const Statement& statement : statements) {
    if ((statement.kind == StatementKind::kSelect) == reads) continue;
    return ValidationError("PQL-15",
                           "The transaction must consist of either read statements or write statements only");
  }
  return statements;
}

// Calls `prepare` for each statement; no two may be on one item. `key_of` returns the encoded key.
template <typename Prepared, typename PrepareOne, typename KeyOf>
absl::StatusOr<std::vector<Prepared>> PrepareAll(const std::vector<Statement>& statements, PrepareOne prepare,
                                                 KeyOf key_of) {
  std::vector<Prepared> all;
  all.reserve(statements.size());
  DistinctKeys keys(SeveralActionsError());
  for (size_t i = 0; i < statements.size(); ++i) {
    absl::StatusOr<Prepared> one = prepare(i);
    if (!one.ok()) {
      // Statements on missing tables are not compared with each other: their keys are not known.
      ITEMDB_RETURN_IF_ERROR(keys.AddFailed(AtStatement(one.status(), static_cast<int>(i) + 1),
                                            statements[i].table_name, std::to_string(i)));
      continue;
    }
    ITEMDB_RETURN_IF_ERROR(keys.Add(one->table->storage_id, key_of(*one)));
    all.push_back(*std::move(one));
  }
  ITEMDB_RETURN_IF_ERROR(keys.Finish());
  return all;
}

void ReadAll(Engine& engine, const wire::ExecuteTransactionRequest& request,
             const std::vector<Statement>& statements, Done<wire::ExecuteTransactionReply> done,
             CancellationPtr cancellation) {
  MultiTableAccessCall access_call(AccessOperation::kTransactGetItems);
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  auto reads = PrepareAll<PointRead>(
      statements,
      [&](size_t i) { return partiql::PrepareRead(statements[i], "ExecuteTransaction", (*view)->catalog()); },
      [](const PointRead& read) { return read.key; });
  if (!reads.ok()) return std::move(done)(reads.status());
  wire::TransactGetItemsRequest options;
  options.set_return_consumed_capacity(request.return_consumed_capacity());
  auto answer = [done = std::move(done)](absl::StatusOr<wire::TransactGetItemsReply> read) mutable {
    if (!read.ok()) return std::move(done)(read.status());
    wire::ExecuteTransactionReply reply;
    reply.set_change_sequence(read->change_sequence());
    reply.mutable_responses()->Swap(read->mutable_responses());
    if (read->has_cancelled()) reply.mutable_cancelled()->Swap(read->mutable_cancelled());
    reply.mutable_consumed_capacity()->Swap(read->mutable_consumed_capacity());
    std::move(done)(std::move(reply));
  };
  ReadPreparedTransaction(engine, std::move(access_call), *std::move(view), *std::move(reads), options,
                          std::move(answer), std::move(cancellation));
}

// Replaces code and message of an INSERT whose condition was false by those of a duplicate item (ERR-13).
void NameDuplicates(const std::vector<bool>& inserts, wire::TransactionCancelled* cancelled) {
  for (int i = 0; i < cancelled->reasons_size(); ++i) {
    wire::CancellationReason* reason = cancelled->mutable_reasons(i);
    if (!inserts[static_cast<size_t>(i)] || reason->code() != v1::CANCELLATION_CODE_CONDITIONAL_CHECK_FAILED)
      continue;
    reason->set_code(v1::CANCELLATION_CODE_DUPLICATE_ITEM);
    reason->set_message(std::string(partiql::kDuplicateItemMessage));
  }
}

void WriteAll(Engine& engine, const wire::ExecuteTransactionRequest& request,
              const std::vector<Statement>& statements, Done<wire::ExecuteTransactionReply> done,
              CancellationPtr cancellation) {
  MultiTableAccessCall access_call(AccessOperation::kTransactWriteItems);
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  auto actions = PrepareAll<PreparedAction>(
      statements,
      [&](size_t i) {
        wire::WriteItemRequest options;
        options.set_return_values_on_condition_check_failure(
            request.transact_statements(static_cast<int>(i)).return_values_on_condition_check_failure());
        return partiql::PrepareWrite(statements[i], (*view)->catalog(), &options);
      },
      [](const PreparedAction& action) { return action.key.encoded; });
  if (!actions.ok()) return std::move(done)(actions.status());
  auto token = PrepareToken("ExecuteTransaction", request);
  if (!token.ok()) return std::move(done)(token.status());

  std::vector<bool> inserts;
  for (const Statement& statement : statements) inserts.push_back(statement.kind == StatementKind::kInsert);
  wire::TransactWriteItemsRequest options;
  options.set_return_consumed_capacity(request.return_consumed_capacity());
  auto answer = [inserts = std::move(inserts),
                 done = std::move(done)](absl::StatusOr<wire::TransactWriteItemsReply> written) mutable {
    if (!written.ok()) return std::move(done)(written.status());
    wire::ExecuteTransactionReply reply;
    reply.set_change_sequence(written->change_sequence());
    reply.mutable_consumed_capacity()->Swap(written->mutable_consumed_capacity());
    if (written->has_cancelled()) {
      reply.mutable_cancelled()->Swap(written->mutable_cancelled());
      NameDuplicates(inserts, reply.mutable_cancelled());
    }
    std::move(done)(std::move(reply));
  };
  WritePreparedTransaction(engine, std::move(access_call), *std::move(view), *std::move(actions), options,
                           *std::move(token), std::move(answer), std::move(cancellation));
}

}  // namespace

void ExecuteTransaction(Engine& engine, const wire::ExecuteTransactionRequest& request,
                        Done<wire::ExecuteTransactionReply> done, CancellationPtr cancellation) {
  auto statements = ParseAll(request);
  if (!statements.ok()) return std::move(done)(statements.status());
  if ((*statements)[0].kind == partiql::StatementKind::kSelect)
    return ReadAll(engine, request, *statements, std::move(done), std::move(cancellation));
  WriteAll(engine, request, *statements, std::move(done), std::move(cancellation));
}

}  // namespace itemdb::storage
