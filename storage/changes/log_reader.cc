#include "storage/changes/log_reader.h"

#include <algorithm>

#include "storage/commit/table_runs.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

constexpr char kTheLog[] = "the change log";

absl::Status CheckInLog(const Engine& engine, uint64_t sequence) {
  const uint64_t oldest = engine.trim_horizon().oldest();
  return sequence < oldest ? ChangesTrimmedError(sequence, oldest) : absl::OkStatus();
}

// An iterator must be made before the caller reads the trim horizon. Trimming moves the trim horizon before
// it deletes files, and an iterator keeps the files that existed when it was made.
std::unique_ptr<rocksdb::Iterator> NewIterator(const ReadView& view, rocksdb::ColumnFamilyHandle* family) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  return std::unique_ptr<rocksdb::Iterator>(view.store()->db()->NewIterator(options, family));
}

// Calls `visit` for the change at which `log` stands, and returns its result. DATA_LOSS: the change is not
// `sequence`, or is damaged.
absl::StatusOr<bool> Visit(const rocksdb::Iterator& log, uint64_t sequence, VisitChange visit) {
  if (!log.status().ok()) return FromRocksDB("cannot read the change log", log.status());
  const std::optional<uint64_t> found =
      log.Valid() ? ParseSequenceKey(ToView(log.key())) : std::optional<uint64_t>(UINT64_MAX);
  if (!found.has_value()) return DamagedRecordError(kTheLog, ToView(log.key()));
  if (*found != sequence)
    return DataLossError("change " + std::to_string(sequence) + " is missing from the change log");
  const std::string_view key = ToView(log.key());
  const std::optional<StoredRecord> stored = DecodeRecord(kChangesStorageId, key, ToView(log.value()));
  const std::optional<ChangeView> change = stored.has_value() ? ViewChange(stored->payload) : std::nullopt;
  if (!change.has_value()) return DamagedRecordError(kTheLog, key);
  return visit(*change, stored->payload);
}

}  // namespace

absl::StatusOr<DurablePrefix> ReadDurablePrefix(const Engine& engine) {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  const uint64_t last = std::min(view->change_sequence(), engine.durable_sequence());
  return DurablePrefix{std::move(view), last};
}

absl::Status WalkChanges(const Engine& engine, const ReadView& view, uint64_t after_sequence,
                         uint64_t last_sequence, VisitChange visit) {
  if (after_sequence == UINT64_MAX) return absl::OkStatus();
  const std::unique_ptr<rocksdb::Iterator> log = NewIterator(view, view.store()->changes());
  ITEMDB_RETURN_IF_ERROR(CheckInLog(engine, after_sequence + 1));
  if (after_sequence >= last_sequence) return absl::OkStatus();
  uint64_t expected = after_sequence + 1;
  for (log->Seek(SequenceKey(expected)); expected <= last_sequence; log->Next(), ++expected) {
    ITEMDB_ASSIGN_OR_RETURN(bool goes_on, Visit(*log, expected, visit));
    if (!goes_on) break;
  }
  return absl::OkStatus();
}

absl::Status WalkTableChanges(const Engine& engine, const ReadView& view, uint64_t storage_id,
                              uint64_t after_sequence, uint64_t last_sequence, VisitChange visit) {
  if (after_sequence == UINT64_MAX) return absl::OkStatus();
  const std::unique_ptr<rocksdb::Iterator> log = NewIterator(view, view.store()->changes());
  const std::unique_ptr<rocksdb::Iterator> records = NewIterator(view, view.store()->table_runs());
  ITEMDB_RETURN_IF_ERROR(CheckInLog(engine, after_sequence + 1));
  uint64_t expected = after_sequence + 1;
  auto of_table = [&](const ChangeView& change, std::string_view record) {
    return change.table_storage_id != storage_id || visit(change, record);
  };
  for (uint64_t epoch = EpochOf(expected); expected <= last_sequence && epoch <= EpochOf(last_sequence);
       ++epoch) {
    const std::string prefix = TableRunsPrefix(epoch, storage_id);
    auto is_of_table = [&] { return records->Valid() && records->key().starts_with(prefix); };
    // A record that begins before `expected` may contain it.
    records->SeekForPrev(prefix + SequenceKey(expected));
    if (!is_of_table() && records->status().ok()) records->Seek(prefix);
    for (; is_of_table(); records->Next()) {
      auto runs = DecodeTableRuns(ToView(records->key()), ToView(records->value()));
      // The record is damaged: read all changes up to the next record or the next epoch instead.
      if (!runs.has_value()) {
        const std::string damaged = records->key().ToString();
        records->Next();
        const uint64_t end = is_of_table() ? FirstOfTableRuns(ToView(records->key())) : EndOfEpoch(epoch);
        records->Seek(damaged);
        if (!is_of_table()) return view.store()->ReadError("cannot read the change log", records->status());
        runs.emplace({TableRun{storage_id, expected, end > expected ? end - expected : 0}});
      }
      for (const TableRun& run : *runs) {
        if (run.end() <= expected) continue;
        expected = std::max(expected, run.first);
        if (expected > last_sequence) return absl::OkStatus();
        for (log->Seek(SequenceKey(expected)); expected < run.end() && expected <= last_sequence;
             log->Next(), ++expected) {
          ITEMDB_ASSIGN_OR_RETURN(bool goes_on, Visit(*log, expected, of_table));
          if (!goes_on) return absl::OkStatus();
        }
      }
    }
    if (!records->status().ok())
      return view.store()->ReadError("cannot read the change log", records->status());
  }
  return absl::OkStatus();
}

absl::StatusOr<ChangeView> ReadChange(const ReadView& view, uint64_t sequence, std::string* record) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  const std::string key = SequenceKey(sequence);
  rocksdb::Status status = view.store()->db()->Get(options, view.store()->changes(), key, record);
  if (!status.ok() && !status.IsNotFound())
    return view.store()->ReadError("cannot read the change log", status);
  std::optional<StoredRecord> stored;
  if (status.ok()) stored = DecodeRecord(kChangesStorageId, key, *record);
  std::optional<ChangeView> change = stored.has_value() ? ViewChange(stored->payload) : std::nullopt;
  if (!change.has_value()) return DamagedRecordError(kTheLog, key);
  return *change;
}

}  // namespace itemdb::storage
