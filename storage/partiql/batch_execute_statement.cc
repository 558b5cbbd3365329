// BatchExecuteStatement: executes several statements, each independent of the others.

#include <map>

#include "absl/strings/str_cat.h"
#include "storage/base/limits.h"
#include "storage/base/mutex.h"
#include "storage/base/service_text.h"
#include "storage/catalog/capacity.h"
#include "storage/items/distinct_keys.h"
#include "storage/partiql/operations.h"
#include "storage/partiql/parser.h"
#include "storage/partiql/select.h"
#include "storage/partiql/statement_access.h"
#include "storage/partiql/write.h"
#include "storage/patterns/access_call.h"

namespace itemdb::storage {
namespace {

using partiql::Statement;

// Returns whether the statements read. INVALID_ARGUMENT: not 1 to 25 statements (PQL-12), or reads and writes
// are mixed (PQL-14).
absl::StatusOr<bool> CheckBatch(const wire::BatchExecuteStatementRequest& request) {
  const int count = request.statements_size();
  if (count < 1 || count > kMaxBatchStatements) {
    return ValidationError("PQL-12", absl::StrCat("a batch must contain 1 to ", kMaxBatchStatements,
                                                  " statements; this one has ", count));
  }
  ITEMDB_RETURN_IF_ERROR(CheckReturnConsumedCapacity(request.return_consumed_capacity()));
  // A text that is no statement has an error of its own, and does not decide.
  bool reads = false, writes = false;
  for (const wire::BatchStatement& statement : request.statements())
    (IsReadStatement(statement.statement()) ? reads : writes) |=
        !StatementAction(statement.statement()).empty();
  if (!reads || !writes) return reads;
  return WithServiceText(
      "Read and write requests together in the same batch is not supported.",
      ValidationError("PQL-14", "The batch must consist of either read statements or write statements only"));
}

// The error for statements on one item.
absl::Status DuplicateError() {
  return ValidationError("PQL-14", "Provided list of item keys contains duplicates");
}

void SetError(const absl::Status& status, wire::BatchStatementResponse* response) {
  std::string reason = ReasonOf(status);
  response->mutable_error()->set_reason(reason.empty() ? std::string(kReasonInternal) : reason);
  response->mutable_error()->set_message(MessageOf(status));
  if (std::string text = ServiceTextOf(status); text != MessageOf(status))
    response->mutable_error()->set_service_text(std::move(text));
}

// ---- reads ---------------------------------------------------------------------------------------

// A batch of reads, all from one view.
struct Reads {
  wire::BatchExecuteStatementReply reply;
  CapacityMeter capacity;
  // For each read: the position of its statement, its table, and whether it is charged as consistent.
  struct Place {
    int statement;
    std::shared_ptr<const Table> table;
    bool consistent;
  };
  std::vector<Place> places;
  size_t taken = 0;
  size_t bytes = 0;
  MultiTableAccessCall access_call{AccessOperation::kBatchGetItem};
};

void ReadBatch(Engine& engine, const wire::BatchExecuteStatementRequest& request,
               Done<wire::BatchExecuteStatementReply> done, CancellationPtr cancellation) {
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  auto batch = std::make_shared<Reads>();
  batch->capacity = CapacityMeter(request.return_consumed_capacity());
  batch->reply.set_change_sequence((*view)->change_sequence());
  PointReads reads;
  DistinctKeys keys(DuplicateError());
  for (int i = 0; i < request.statements_size(); ++i) {
    const wire::BatchStatement& wanted = request.statements(i);
    wire::BatchStatementResponse* response = batch->reply.add_responses();
    auto statement = partiql::ParseStatement(wanted.statement(), wanted.parameters());
    if (!statement.ok()) {
      SetError(statement.status(), response);
      continue;
    }
    response->set_table_name(statement->table_name);
    auto read = partiql::PrepareRead(*statement, "BatchExecuteStatement", (*view)->catalog());
    if (absl::Status refused = read.ok() ? read->key_error : read.status(); !refused.ok()) {
      SetError(refused, response);
      continue;
    }
    if (absl::Status distinct = keys.Add(read->table->storage_id, read->key); !distinct.ok())
      return std::move(done)(std::move(distinct));
    batch->places.push_back({i, read->table, wanted.consistent_read()});
    batch->access_call.Add(read->table->patterns, 0, 0);
    reads.reads.push_back(*std::move(read));
  }
  reads.view = *std::move(view);
  reads.cancellation = std::move(cancellation);
  reads.take = [batch](size_t i, PointReadResult result) {
    const Reads::Place& place = batch->places[i];
    batch->bytes += result.item.has_value() ? result.item->size() : 0;
    if (batch->bytes > kMaxBatchGetBytes) return false;
    ++batch->taken;
    batch->access_call.Add(place.table->patterns, result.item_size > 0, result.item.has_value());
    batch->capacity.AddRead(*place.table, result.key, ReadUnits(result.item_size, place.consistent));
    if (result.item.has_value())
      batch->reply.mutable_responses(place.statement)->set_item(*std::move(result.item));
    return true;
  };
  reads.done = [batch, done = std::move(done)](absl::Status status) mutable {
    batch->access_call.Record(status.ok() && batch->taken == batch->places.size());
    if (!status.ok()) return std::move(done)(std::move(status));
    // Reads that no longer fit into the reply. This needs items with many long numbers, whose encoded size is
    // larger than their counted size.
    for (; batch->taken < batch->places.size(); ++batch->taken) {
      SetError(MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                         absl::StrCat("the items of the batch are together more than ", kMaxBatchGetBytes,
                                      " bytes long as encoded; read this one by itself")),
               batch->reply.mutable_responses(batch->places[batch->taken].statement));
    }
    batch->capacity.AddTo(&batch->reply);
    std::move(done)(std::move(batch->reply));
  };
  RunPointReads(engine, std::move(reads));
}

// ---- writes --------------------------------------------------------------------------------------

// A batch of writes in flight. Each is a commit unit of its own; the batch is answered after the last one.
class Writes {
 public:
  Writes(int count, Done<wire::BatchExecuteStatementReply> done) : waiting_(count), done_(std::move(done)) {
    for (int i = 0; i < count; ++i) reply_.add_responses();
  }

  void SetTableName(int statement, const std::string& name) {
    MutexLock lock(mutex_);
    reply_.mutable_responses(statement)->set_table_name(name);
  }

  void Take(int statement, absl::StatusOr<wire::WriteItemReply> written) {
    {
      MutexLock lock(mutex_);
      Record(statement, std::move(written));
      if (--waiting_ > 0) return;
      for (auto& [name, consumed] : capacity_) *reply_.add_consumed_capacity() = std::move(consumed);
    }
    // This was the last write, so no other thread uses the object any more.
    Answer();
  }

 private:
  void Record(int statement, absl::StatusOr<wire::WriteItemReply> written)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    wire::BatchStatementResponse* response = reply_.mutable_responses(statement);
    if (!written.ok()) return SetError(written.status(), response);
    reply_.set_change_sequence(std::max(reply_.change_sequence(), written->change_sequence()));
    if (written->has_consumed_capacity()) {
      const v1::ConsumedCapacity& consumed = written->consumed_capacity();
      AddConsumedCapacity(consumed, &capacity_[consumed.table_name()]);
    }
    if (written->has_condition_failed()) {
      response->mutable_error()->set_reason(std::string(kReasonConditionalCheckFailed));
      response->mutable_error()->set_message(std::string(partiql::kConditionFailedMessage));
      if (written->condition_failed().has_item())
        response->mutable_error()->set_item(written->condition_failed().item());
    } else if (written->result().has_attributes()) {
      response->set_item(written->result().attributes());
    }
  }

  void Answer() ABSL_NO_THREAD_SAFETY_ANALYSIS { std::move(done_)(std::move(reply_)); }

  Mutex mutex_;
  int waiting_ ABSL_GUARDED_BY(mutex_);
  wire::BatchExecuteStatementReply reply_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, v1::ConsumedCapacity> capacity_ ABSL_GUARDED_BY(mutex_);
  Done<wire::BatchExecuteStatementReply> done_ ABSL_GUARDED_BY(mutex_);
};

void WriteBatch(Engine& engine, const wire::BatchExecuteStatementRequest& request,
                Done<wire::BatchExecuteStatementReply> done, CancellationPtr cancellation) {
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  const int count = request.statements_size();
  std::vector<absl::StatusOr<partiql::SingleWrite>> prepared;
  std::vector<std::string> tables;
  DistinctKeys keys(DuplicateError());
  for (const wire::BatchStatement& wanted : request.statements()) {
    auto statement = partiql::ParseStatement(wanted.statement(), wanted.parameters());
    tables.push_back(statement.ok() ? statement->table_name : "");
    if (!statement.ok()) {
      prepared.emplace_back(statement.status());
      continue;
    }
    wire::WriteItemRequest options;
    options.set_return_consumed_capacity(request.return_consumed_capacity());
    options.set_return_values_on_condition_check_failure(wanted.return_values_on_condition_check_failure());
    prepared.push_back(partiql::PrepareSingleWrite(*statement, *view, std::move(options)));
    if (!prepared.back().ok()) continue;
    const PreparedAction& action = prepared.back()->action;
    if (absl::Status distinct = keys.Add(action.table->storage_id, action.key.encoded); !distinct.ok())
      return std::move(done)(std::move(distinct));
  }
  auto writes = std::make_shared<Writes>(count, std::move(done));
  for (int i = 0; i < count; ++i) {
    absl::StatusOr<partiql::SingleWrite>& write = prepared[static_cast<size_t>(i)];
    writes->SetTableName(i, tables[static_cast<size_t>(i)]);
    if (!write.ok()) {
      writes->Take(i, write.status());
      continue;
    }
    auto take = [writes, i](absl::StatusOr<wire::WriteItemReply> written) {
      writes->Take(i, std::move(written));
    };
    partiql::ExecuteSingleWrite(engine, *std::move(write), std::move(take), cancellation);
  }
}

}  // namespace

void BatchExecuteStatement(Engine& engine, const wire::BatchExecuteStatementRequest& request,
                           Done<wire::BatchExecuteStatementReply> done, CancellationPtr cancellation) {
  auto reads = CheckBatch(request);
  if (!reads.ok()) return std::move(done)(reads.status());
  if (*reads) return ReadBatch(engine, request, std::move(done), std::move(cancellation));
  WriteBatch(engine, request, std::move(done), std::move(cancellation));
}

}  // namespace itemdb::storage
