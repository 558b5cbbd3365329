#include "storage/changes/log_reader.h"

#include <algorithm>

#include "storage/values/stored_record.h"

namespace itemdb {
namespace {

constexpr char kTheLog[] = "the change log";

absl::Status CheckInLog(const Engine& engine, uint64_t sequence) {
  const uint64_t oldest = engine.changes_start();
  return sequence < oldest ? ChangesTrimmedError(sequence, oldest) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<ShownLog> ShowLog(const Engine& engine) {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  const uint64_t last = std::min(view->change_sequence(), engine.durable_sequence());
  return ShownLog{std::move(view), last};
}

absl::Status WalkChanges(const Engine& engine, const ReadView& view, uint64_t after_sequence,
                         uint64_t last_sequence,
                         absl::FunctionRef<bool(const ChangeView& change, std::string_view record)> visit) {
  if (after_sequence == UINT64_MAX) return absl::OkStatus();
  ITEMDB_RETURN_IF_ERROR(CheckInLog(engine, after_sequence + 1));
  if (after_sequence >= last_sequence) return absl::OkStatus();
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  std::unique_ptr<rocksdb::Iterator> it(view.store()->db()->NewIterator(options, view.store()->changes()));
  uint64_t expected = after_sequence + 1;
  for (it->Seek(SequenceKey(expected)); it->Valid() && expected <= last_sequence; it->Next(), ++expected) {
    std::string_view key = ToView(it->key());
    std::optional<uint64_t> sequence = ParseSequenceKey(key);
    if (!sequence.has_value()) return DamagedRecordError(kTheLog, key);
    if (*sequence != expected) break;
    std::optional<StoredRecord> stored = DecodeRecord(kChangesStorageId, key, ToView(it->value()));
    std::optional<ChangeView> change = stored.has_value() ? ViewChange(stored->payload) : std::nullopt;
    if (!change.has_value()) return DamagedRecordError(kTheLog, key);
    if (!visit(*change, stored->payload)) return absl::OkStatus();
  }
  if (!it->status().ok()) return FromRocksDB("cannot read the change log", it->status());
  if (expected > last_sequence) return absl::OkStatus();
  // Trimming takes no notice of snapshots.
  ITEMDB_RETURN_IF_ERROR(CheckInLog(engine, expected));
  return DataLossError("change " + std::to_string(expected) + " is missing from the change log");
}

absl::StatusOr<ChangeView> ReadChange(const ReadView& view, uint64_t sequence, std::string* record) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  const std::string key = SequenceKey(sequence);
  rocksdb::Status status = view.store()->db()->Get(options, view.store()->changes(), key, record);
  if (!status.ok() && !status.IsNotFound()) return FromRocksDB("cannot read the change log", status);
  std::optional<StoredRecord> stored;
  if (status.ok()) stored = DecodeRecord(kChangesStorageId, key, *record);
  std::optional<ChangeView> change = stored.has_value() ? ViewChange(stored->payload) : std::nullopt;
  if (!change.has_value()) return DamagedRecordError(kTheLog, key);
  return *change;
}

}  // namespace itemdb
