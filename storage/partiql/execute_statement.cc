// ExecuteStatement: executes one statement, which is a page of a SELECT or a write of one item.

#include "itemdb/v1/data.pb.h"
#include "storage/partiql/operations.h"
#include "storage/partiql/parser.h"
#include "storage/partiql/select.h"
#include "storage/partiql/write.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

StatementPage MakeReply(wire::WriteItemReply written) {
  StatementPage page;
  page.reply.set_change_sequence(written.change_sequence());
  if (written.has_consumed_capacity())
    page.reply.mutable_consumed_capacity()->Swap(written.mutable_consumed_capacity());
  if (written.has_condition_failed()) {
    page.reply.mutable_condition_failed()->Swap(written.mutable_condition_failed());
  } else if (written.result().has_attributes()) {
    wire::AppendBytesField(v1::ExecuteStatementReply::kItemsFieldNumber, written.result().attributes(),
                           &page.encoded_items);
  }
  return page;
}

absl::Status CheckIsPlain(const wire::ExecuteStatementRequest& request) {
  if (!request.has_limit() && request.next_token().empty() && !request.consistent_read())
    return absl::OkStatus();
  return ValidationError("PQL-13",
                         "Limit, NextToken and ConsistentRead are for SELECT; this statement writes");
}

}  // namespace

void ExecuteStatement(Engine& engine, const wire::ExecuteStatementRequest& request, Done<StatementPage> done,
                      CancellationPtr cancellation) {
  auto statement = partiql::ParseStatement(request.statement(), request.parameters());
  if (!statement.ok()) return std::move(done)(statement.status());
  if (statement->kind == partiql::StatementKind::kSelect)
    return partiql::Select(engine, request, *statement, std::move(done), std::move(cancellation));

  if (absl::Status plain = CheckIsPlain(request); !plain.ok()) return std::move(done)(plain);
  wire::WriteItemRequest options;
  options.set_return_consumed_capacity(request.return_consumed_capacity());
  options.set_return_values_on_condition_check_failure(request.return_values_on_condition_check_failure());
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  auto write = partiql::PrepareSingleWrite(*statement, *std::move(view), std::move(options));
  if (!write.ok()) return std::move(done)(write.status());
  auto answer = [done = std::move(done)](absl::StatusOr<wire::WriteItemReply> written) mutable {
    if (!written.ok()) return std::move(done)(written.status());
    std::move(done)(MakeReply(*std::move(written)));
  };
  partiql::ExecuteSingleWrite(engine, *std::move(write), std::move(answer), std::move(cancellation));
}

}  // namespace itemdb::storage
