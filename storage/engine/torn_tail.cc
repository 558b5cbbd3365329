#include "storage/engine/torn_tail.h"

#include <optional>

#include "storage/store/logged_changes.h"

namespace itemdb::storage {
namespace {

// The number of intact batches that `mode` reads; nullopt when the store does not open in it.
std::optional<int64_t> CountBatches(StoreOptions options, rocksdb::WALRecoveryMode mode) {
  options.wal_recovery_mode = mode;
  LoggedChanges logged(mode);
  if (!Store::OpenReadOnly(options, &logged).ok() || !logged.status().ok()) return std::nullopt;
  return logged.batches();
}

}  // namespace

bool IsTornTail(StoreOptions options) {
  const auto before = CountBatches(options, rocksdb::WALRecoveryMode::kPointInTimeRecovery);
  if (!before.has_value() || options.sync_closed_logs) return before.has_value();
  return CountBatches(options, rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords) == before;
}

}  // namespace itemdb::storage
