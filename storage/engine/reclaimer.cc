#include "storage/engine/reclaimer.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "rocksdb/convenience.h"
#include "spdlog/spdlog.h"
#include "storage/engine/counters.h"
#include "storage/engine/engine.h"
#include "storage/engine/table_changes.h"
#include "storage/keys/key_codec.h"

namespace itemdb {
namespace {

constexpr auto kMaxPollInterval = std::chrono::milliseconds(500);
constexpr auto kFlushPollInterval = std::chrono::milliseconds(2);
// Before it is tried again after an error, and after one that says that stored bytes are damaged.
constexpr auto kMinFailedInterval = std::chrono::seconds(1);
constexpr auto kMaxFailedInterval = std::chrono::seconds(10);
constexpr auto kDamagedInterval = std::chrono::hours(1);
// So much is worth a flush and a compaction of its own; less waits for DatabaseOptions::reclaim_interval, so
// that programs that make and delete a table per test do not cause a flush each.
constexpr int64_t kWorthReclaimingBytes = 64 << 20;
constexpr size_t kDeletedAtOnce = 1'000;
// Deletions alone are compacted from here on.
constexpr uint64_t kWorthCompactingBytes = 1 << 20;
constexpr uint64_t kMaxDeletionsSkipped = 10'000;

// Whether any record is left. Deletions, which this steps over, take their space until they are compacted.
bool HasRecords(const Store& store, const Keyspace& keyspace) {
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.fill_cache = false;
  options.max_skippable_internal_keys = kMaxDeletionsSkipped;
  KeyspaceIterator it(store, keyspace, options);
  it.SeekToFirst();
  // What cannot be read is not known to be gone.
  return it.Valid() || !it.status().ok();
}

// Whether there are records, or so many deletions that they are worth a compaction.
bool TakesSpace(const Store& store, const Keyspace& keyspace) {
  if (HasRecords(store, keyspace)) return true;
  const KeyRange range = keyspace.StoredRange({});
  const rocksdb::Range whole(range.lower, range.upper);
  uint64_t bytes = 0;
  (void)store.db()->GetApproximateSizes(keyspace.family(), &whole, 1, &bytes);
  return bytes >= kWorthCompactingBytes;
}

std::vector<DroppedKeyspace> WithRecords(const Store& store, const std::vector<DroppedKeyspace>& all) {
  std::vector<DroppedKeyspace> found;
  for (const DroppedKeyspace& dropped : all) {
    if (HasRecords(store, KeyspaceOf(store, dropped))) found.push_back(dropped);
  }
  return found;
}

}  // namespace

Reclaimer::~Reclaimer() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    interrupted_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

void Reclaimer::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void Reclaimer::Loop() {
  const auto interval = std::clamp<std::chrono::milliseconds>(
      engine_.options().reclaim_interval / 10, std::chrono::milliseconds(10), kMaxPollInterval);
  const auto failed_interval = std::clamp<std::chrono::milliseconds>(engine_.options().reclaim_interval,
                                                                     kMinFailedInterval, kMaxFailedInterval);
  std::string last_error;
  std::chrono::milliseconds wait = interval;
  while (true) {
    {
      MutexLock lock(mutex_);
      if (!stopping_) changed_.WaitFor(mutex_, wait);
      if (stopping_) return;
      interrupted_ = false;
    }
    // After the reset: the store has been set to failed before it is interrupted for a reopening.
    const absl::Status status = engine_.IsFailed() ? absl::OkStatus() : Reclaim();
    wait = interval;
    if (status.ok()) last_error.clear();
    if (status.ok() || absl::IsCancelled(status) || absl::IsAborted(status)) continue;
    // A flush or compaction that fails makes RocksDB refuse writes and the store be reopened: not again and
    // again.
    wait = absl::IsDataLoss(status) ? kDamagedInterval : failed_interval;
    if (MessageOf(status) == last_error) continue;
    last_error = MessageOf(status);
    engine_.options().log->error(
        "the space of deleted tables and indexes could not be reclaimed yet error=\"{}\"", last_error);
  }
}

absl::Status Reclaimer::Flush(const Store& store, const std::vector<rocksdb::ColumnFamilyHandle*>& families) {
  // A memtable that waits to be written would make this one stall writers.
  ITEMDB_RETURN_IF_ERROR(AwaitWritten(store, families));
  // Not with `wait`: on a disk that fails it would go on waiting when the store has to be closed.
  rocksdb::FlushOptions options;
  options.wait = false;
  options.allow_write_stall = true;
  rocksdb::Status status = store.db()->Flush(options, families);
  if (!status.ok()) return FromRocksDB("cannot write memtables to files", status);
  return AwaitWritten(store, families);
}

absl::Status Reclaimer::AwaitWritten(const Store& store,
                                     const std::vector<rocksdb::ColumnFamilyHandle*>& families) {
  for (rocksdb::ColumnFamilyHandle* family : families) {
    uint64_t unwritten = 1;
    while (store.db()->GetIntProperty(family, rocksdb::DB::Properties::kNumImmutableMemTable, &unwritten) &&
           unwritten > 0) {
      MutexLock lock(mutex_);
      if (!interrupted_) changed_.WaitFor(mutex_, kFlushPollInterval);
      if (store.HasFailed()) return absl::UnavailableError("a memtable could not be written to a file");
      if (interrupted_) return absl::CancelledError("interrupted");
    }
  }
  return absl::OkStatus();
}

absl::Status Reclaimer::Reclaim() {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine_.View());
  const std::shared_ptr<Store> store = view->store();
  ITEMDB_ASSIGN_OR_RETURN(std::vector<DroppedKeyspace> dropped, ReadDropped(*store, view->snapshot()));
  // Views from this one on do not know what was dropped.
  const uint64_t now = view->snapshot()->GetSequenceNumber();
  view.reset();
  if (store_.lock() != store)
    seen_at_.clear();  // Of another opening: its sequence numbers mean nothing here.
  store_ = store;
  if (dropped.empty()) return absl::OkStatus();
  const std::vector<DroppedKeyspace> ready = TakeReady(*store, dropped, now);
  if (ready.empty()) return absl::OkStatus();
  ITEMDB_RETURN_IF_ERROR(engine_.SyncNow());
  ITEMDB_RETURN_IF_ERROR(Flush(*store, {store->catalog()}));
  return RemoveRecords(*store, ready);
}

std::vector<DroppedKeyspace> Reclaimer::TakeReady(const Store& store,
                                                  const std::vector<DroppedKeyspace>& dropped, uint64_t now) {
  std::map<uint64_t, uint64_t> seen_at;
  for (const DroppedKeyspace& one : dropped) {
    const auto seen = seen_at_.find(one.storage_id);
    seen_at[one.storage_id] = seen != seen_at_.end() ? seen->second : now;
  }
  seen_at_ = std::move(seen_at);

  // Without an answer, or with a snapshot of an empty database: as if there were one from before everything.
  uint64_t oldest_snapshot = 0;
  (void)store.db()->GetIntProperty(rocksdb::DB::Properties::kOldestSnapshotSequence, &oldest_snapshot);
  std::vector<DroppedKeyspace> ready;
  int64_t bytes = 0;
  int64_t oldest_us = INT64_MAX;
  for (const DroppedKeyspace& one : dropped) {
    if (oldest_snapshot < seen_at_[one.storage_id]) continue;
    ready.push_back(one);
    bytes += one.bytes;
    oldest_us = std::min(oldest_us, one.time_us);
  }
  const int64_t waited_us = engine_.NowMicros() - oldest_us;
  const int64_t interval_us = std::chrono::microseconds(engine_.options().reclaim_interval).count();
  if (bytes < kWorthReclaimingBytes && waited_us < interval_us) ready.clear();
  return ready;
}

absl::Status Reclaimer::RemoveRecords(const Store& store, const std::vector<DroppedKeyspace>& ready) {
  std::vector<DroppedKeyspace> left;
  for (const DroppedKeyspace& one : ready) {
    if (interrupted_) return absl::CancelledError("interrupted");
    if (TakesSpace(store, KeyspaceOf(store, one))) left.push_back(one);
  }
  if (!left.empty()) {
    DroppedFilter::StorageIds storage_ids;
    std::set<rocksdb::ColumnFamilyHandle*> families;
    for (const DroppedKeyspace& one : left) {
      storage_ids.insert(one.storage_id);
      families.insert(KeyspaceOf(store, one).family());
    }
    store.dropped_filter().Set(std::move(storage_ids));
    ITEMDB_RETURN_IF_ERROR(Flush(store, {families.begin(), families.end()}));
  }
  for (const DroppedKeyspace& one : left) {
    const Keyspace keyspace = KeyspaceOf(store, one);
    if (!TakesSpace(store, keyspace)) continue;
    const KeyRange range = keyspace.StoredRange({});
    const rocksdb::Slice lower(range.lower), upper(range.upper);
    const rocksdb::RangePtr whole(&lower, &upper);
    rocksdb::Status status =
        rocksdb::DeleteFilesInRanges(store.db(), keyspace.family(), &whole, 1, /*include_end=*/false);
    if (status.ok()) {
      rocksdb::CompactRangeOptions options;
      options.exclusive_manual_compaction = false;
      options.allow_write_stall = false;
      options.canceled = &interrupted_;
      status = store.db()->CompactRange(options, keyspace.family(), &lower, &upper);
    }
    if (status.IsIncomplete()) return absl::CancelledError("interrupted");
    if (!status.ok()) return FromRocksDB("cannot compact what a deleted table or index left", status);
  }
  left = WithRecords(store, left);

  std::vector<DroppedKeyspace> gone;
  for (const DroppedKeyspace& one : ready) {
    const bool is_left = std::any_of(left.begin(), left.end(), [&one](const DroppedKeyspace& other) {
      return other.storage_id == one.storage_id;
    });
    if (is_left) continue;
    if (one.kind == KeyspaceKind::kItems) ITEMDB_RETURN_IF_ERROR(RemoveCollections(one.storage_id));
    gone.push_back(one);
  }
  for (size_t begin = 0; begin < gone.size(); begin += kDeletedAtOnce) {
    const size_t end = std::min(gone.size(), begin + kDeletedAtOnce);
    ITEMDB_RETURN_IF_ERROR(CommitAndWait(engine_,
                                         [&](CommitGroup& group) {
                                           for (size_t i = begin; i < end; ++i)
                                             group.DeleteCatalog(DroppedKey(gone[i].storage_id));
                                           return absl::OkStatus();
                                         },
                                         {.when_disk_is_full = WhenDiskIsFull::kCommit})
                               .status());
  }
  // A compaction of RocksDB's own, begun before the filter knew, may have written some of it again.
  return left.empty() ? absl::OkStatus() : absl::AbortedError("some records are left");
}

absl::Status Reclaimer::RemoveCollections(uint64_t storage_id) {
  std::string from = CollectionsPrefix(storage_id);
  for (;;) {
    if (interrupted_) return absl::CancelledError("interrupted");
    std::vector<std::string> keys;
    {
      ITEMDB_ASSIGN_OR_RETURN(auto view, engine_.View());
      ITEMDB_ASSIGN_OR_RETURN(keys, CollectionKeys(*view->store(), storage_id, from, kDeletedAtOnce));
    }
    if (keys.empty()) return absl::OkStatus();
    // Not from the beginning each time: that would read all deletions again.
    from = keys.back() + '\0';
    ITEMDB_RETURN_IF_ERROR(CommitAndWait(engine_,
                                         [&](CommitGroup& group) {
                                           for (const std::string& key : keys) group.DeleteCollection(key);
                                           return absl::OkStatus();
                                         },
                                         {.when_disk_is_full = WhenDiskIsFull::kCommit})
                               .status());
  }
}

}  // namespace itemdb
