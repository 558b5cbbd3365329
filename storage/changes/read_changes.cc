#include "storage/changes/read_changes.h"

#include <algorithm>

#include "storage/base/limits.h"
#include "storage/values/stored_record.h"

namespace itemdb {
namespace {

absl::StatusOr<v1::ReadChangesReply> Read(const ReadView& view, uint64_t changes_start, uint64_t last_shown,
                                          uint64_t after_sequence, int limit) {
  if (after_sequence < changes_start && after_sequence + 1 < changes_start) {
    return ChangesTrimmedError(after_sequence + 1, changes_start);
  }
  v1::ReadChangesReply reply;
  reply.set_change_sequence(last_shown);
  if (after_sequence >= last_shown) return reply;
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  std::unique_ptr<rocksdb::Iterator> it(view.store()->db()->NewIterator(options, view.store()->changes()));
  size_t bytes = 0;
  uint64_t commit_end = 0;
  for (it->Seek(SequenceKey(after_sequence + 1)); it->Valid(); it->Next()) {
    std::string_view key = ToView(it->key());
    std::optional<uint64_t> sequence = ParseSequenceKey(key);
    std::optional<StoredRecord> stored = DecodeRecord(kChangesStorageId, key, ToView(it->value()));
    if (!sequence.has_value() || !stored.has_value()) return DamagedRecordError("the change log", key);
    if (*sequence > last_shown) break;
    bool full = reply.records_size() >= limit || bytes >= kMaxPageBytes;
    if (full && *sequence > commit_end) break;  // Never in the middle of a commit.
    auto* record = reply.add_records();
    if (!record->ParseFromArray(stored->payload.data(), static_cast<int>(stored->payload.size()))) {
      return DamagedRecordError("the change log", key);
    }
    bytes += stored->payload.size();
    commit_end = record->commit_last_sequence();
  }
  if (!it->status().ok()) return FromRocksDB("cannot read the change log", it->status());
  return reply;
}

}  // namespace

void ReadChanges(Engine& engine, const v1::ReadChangesRequest& request, Done<v1::ReadChangesReply> done,
                 CancellationPtr cancellation) {
  int limit = request.has_limit() ? request.limit() : kMaxReadChanges;
  if (limit < 1 || limit > kMaxReadChanges) {
    return std::move(done)(ValidationError(
        "SEM-105",
        "Limit must be 1 to " + std::to_string(kMaxReadChanges) + "; it is " + std::to_string(limit)));
  }
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  // What is not durable yet is not shown: its sequence could be given to another change after a power cut.
  uint64_t last_shown = std::min((*view)->change_sequence(), engine.durable_sequence());
  auto shared_done = std::make_shared<Done<v1::ReadChangesReply>>(std::move(done));
  IoPool::Task task = [view = *std::move(view), start = engine.changes_start(), last_shown,
                       after = request.after_sequence(), limit, shared_done,
                       cancellation = std::move(cancellation)] {
    if (absl::Status wanted = CheckWanted(cancellation); !wanted.ok()) return std::move(*shared_done)(wanted);
    std::move (*shared_done)(Read(*view, start, last_shown, after, limit));
  };
  if (!engine.io().Submit(task)) std::move (*shared_done)(IoPoolFullError());
}

}  // namespace itemdb
