#include "storage/changes/log_reader.h"

#include <algorithm>

#include "storage/commit/table_runs.h"
#include "storage/store/damaged_block.h"
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
  return view.store()->NewIterator(options, family);
}

// An iterator on the first change from `sequence` on that is not in a damaged block. At the end, or with an
// error, when there is none.
std::unique_ptr<rocksdb::Iterator> SeekPastDamage(const ReadView& view, uint64_t sequence) {
  const auto make = [&view] { return NewIterator(view, view.store()->changes()); };
  std::unique_ptr<rocksdb::Iterator> log = make();
  const std::string key = SequenceKey(sequence);
  log->Seek(key);
  if (!log->status().ok()) (void)StepPastDamage(make, key, kBehindAllKeys, &log);
  return log;
}

// DATA_LOSS: the change `sequence` cannot be read, for the reason `what`. Says where a reader can go on.
absl::Status UnreadableChangeError(const ReadView& view, uint64_t sequence, const std::string& what) {
  std::string message = "change " + std::to_string(sequence) + " " + what;
  const std::unique_ptr<rocksdb::Iterator> next = SeekPastDamage(view, sequence + 1);
  const std::optional<uint64_t> found =
      next->Valid() ? ParseSequenceKey(ToView(next->key())) : std::optional<uint64_t>();
  if (found.has_value()) {
    message += "; the next change that may be readable is " + std::to_string(*found) +
               ": a reader goes on after the sequence " + std::to_string(*found - 1);
  } else {
    message += "; no change after it can be read";
  }
  return DataLossError(message);
}

// Calls `visit` for the change at which `log` stands, and returns its result. DATA_LOSS: the change is not
// `sequence`, or is damaged.
absl::StatusOr<bool> Visit(const ReadView& view, const rocksdb::Iterator& log, uint64_t sequence,
                           VisitChange visit) {
  if (!log.status().ok()) {
    const absl::Status error = view.store()->ReadError("cannot read the change log", log.status());
    if (!absl::IsDataLoss(error)) return error;
    return UnreadableChangeError(view, sequence, "cannot be read from the change log: " + MessageOf(error));
  }
  const std::optional<uint64_t> found =
      log.Valid() ? ParseSequenceKey(ToView(log.key())) : std::optional<uint64_t>(UINT64_MAX);
  if (!found.has_value()) return DamagedRecordError(kTheLog, ToView(log.key()));
  if (*found != sequence)
    return DataLossError("change " + std::to_string(sequence) + " is missing from the change log");
  const std::string_view key = ToView(log.key());
  const std::optional<StoredRecord> stored = DecodeRecord(kChangesStorageId, key, ToView(log.value()));
  const std::optional<ChangeView> change = stored.has_value() ? ViewChange(stored->payload) : std::nullopt;
  if (!change.has_value())
    return UnreadableChangeError(view, sequence,
                                 "is damaged in the change log (its checksum does not match)");
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
    ITEMDB_ASSIGN_OR_RETURN(bool goes_on, Visit(view, *log, expected, visit));
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
          ITEMDB_ASSIGN_OR_RETURN(bool goes_on, Visit(view, *log, expected, of_table));
          if (!goes_on) return absl::OkStatus();
        }
      }
    }
    if (!records->status().ok())
      return view.store()->ReadError("cannot read the change log", records->status());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<ChangeView>> FindReadableChange(const ReadView& view, uint64_t sequence,
                                                             uint64_t last_sequence, std::string* record) {
  // A round for each damaged record, and for each damaged block.
  while (sequence <= last_sequence) {
    const std::unique_ptr<rocksdb::Iterator> log = SeekPastDamage(view, sequence);
    if (!log->status().ok()) {
      const absl::Status error = view.store()->ReadError("cannot read the change log", log->status());
      return absl::IsDataLoss(error) ? absl::StatusOr<std::optional<ChangeView>>(std::nullopt) : error;
    }
    const std::optional<uint64_t> found =
        log->Valid() ? ParseSequenceKey(ToView(log->key())) : std::optional<uint64_t>();
    if (!found.has_value() || *found > last_sequence) break;
    *record = ToView(log->value());
    const std::optional<StoredRecord> stored = DecodeRecord(kChangesStorageId, ToView(log->key()), *record);
    const std::optional<ChangeView> change = stored.has_value() ? ViewChange(stored->payload) : std::nullopt;
    if (change.has_value()) return change;
    sequence = *found + 1;
  }
  return std::nullopt;
}

}  // namespace itemdb::storage
