#include "storage/engine/reclaimer.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>

#include "rocksdb/convenience.h"
#include "spdlog/spdlog.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/engine/engine.h"
#include "storage/keys/key_codec.h"
#include "storage/store/rocksdb_options.h"
#include "storage/store/size_statistics.h"

namespace itemdb::storage {
namespace {

constexpr auto kMaxPollInterval = std::chrono::milliseconds(500);
constexpr auto kFlushPollInterval = std::chrono::milliseconds(2);
// Time until the next attempt after an error; kDamagedInterval after DATA_LOSS.
constexpr auto kMinFailedInterval = std::chrono::seconds(1);
constexpr auto kMaxFailedInterval = std::chrono::seconds(10);
constexpr auto kDamagedInterval = std::chrono::hours(1);
// From this size on dropped records are reclaimed at once. Fewer bytes wait for
// DatabaseOptions::reclaim_interval: otherwise a program that creates and deletes a table in each test would
// cause a flush each time.
constexpr int64_t kWorthReclaimingBytes = 64 << 20;
constexpr size_t kDeletedAtOnce = 1'000;
// A range that holds only RocksDB deletions is compacted from this size on.
constexpr uint64_t kWorthCompactingBytes = 1 << 20;
constexpr uint64_t kMaxDeletionsSkipped = 10'000;

// Bytes of a deleted file count this many times less than rewritten ones: deleting takes some milliseconds.
constexpr int64_t kDeletingIsFaster = 16;
// RocksDB slows down writers from 20 files in level 0 on. Files pile up there while a compaction of level 0
// waits for the reclaimer's pace; from this number on it waits no longer.
constexpr int kHurryLevel0Files = kLevel0CompactionFiles + 6;

// The keys of a deleted table or index in one column family.
struct DroppedRange {
  uint64_t storage_id = 0;
  Keyspace keyspace;
  // Within the keyspace.
  KeyRange range;

  KeyRange stored() const { return keyspace.StoredRange(range); }
};

std::vector<DroppedRange> RangesOf(const Store& store, const DroppedKeyspace& dropped) {
  std::vector<DroppedRange> ranges = {{dropped.storage_id, KeyspaceOf(store, dropped), {}}};
  if (dropped.kind == KeyspaceKind::kItems) {
    const std::string collections = CollectionsPrefix(dropped.storage_id);
    ranges.push_back(
        {dropped.storage_id, Keyspace(store.stats()), {collections, PrefixSuccessor(collections)}});
  }
  return ranges;
}

// Whether any record is left. RocksDB deletions do not count, though they take space until compacted.
bool HasRecords(const Store& store, const DroppedRange& dropped) {
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.fill_cache = false;
  options.max_skippable_internal_keys = kMaxDeletionsSkipped;
  KeyspaceIterator it(store, dropped.keyspace, options, dropped.range);
  it.SeekToFirst();
  // On an error records may be left.
  return it.Valid() || !it.status().ok();
}

// Whether records are left, or so many RocksDB deletions that they are worth a compaction.
bool TakesSpace(const Store& store, const DroppedRange& dropped) {
  if (HasRecords(store, dropped)) return true;
  const KeyRange range = dropped.stored();
  const rocksdb::Range whole(range.lower, range.upper);
  uint64_t bytes = 0;
  (void)store.db()->GetApproximateSizes(dropped.keyspace.family(), &whole, 1, &bytes);
  return bytes >= kWorthCompactingBytes;
}

// Whether RocksDB would soon slow down writers.
bool MustBypassPace(const Store& store) {
  for (rocksdb::ColumnFamilyHandle* family :
       {store.items(), store.global_entries(), store.local_entries(), store.stats()}) {
    std::string files;
    (void)store.db()->GetProperty(family, rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0", &files);
    if (std::atoi(files.c_str()) >= kHurryLevel0Files) return true;
  }
  return false;
}

void SetDropped(const Store& store, const DroppedFilter::StorageIds& storage_ids) {
  store.dropped_records().Set(storage_ids);
  store.dropped_collections().Set(storage_ids);
}

}  // namespace

Reclaimer::Reclaimer(Engine& engine)
    : engine_(engine), pace_(std::make_shared<ReclaimPace>(engine.options().reclaim_bytes_per_second)) {}

Reclaimer::~Reclaimer() {
  thread_.BeginStop();
  pace_->Interrupt();
  thread_.Stop();
}

void Reclaimer::Start() {
  thread_.Start([this] { Loop(); });
}

void Reclaimer::Loop() {
  const auto interval = std::clamp<std::chrono::milliseconds>(
      engine_.options().reclaim_interval / 10, std::chrono::milliseconds(10), kMaxPollInterval);
  const auto failed_interval = std::clamp<std::chrono::milliseconds>(engine_.options().reclaim_interval,
                                                                     kMinFailedInterval, kMaxFailedInterval);
  std::string last_error;
  std::chrono::milliseconds wait = interval;
  while (thread_.WaitFor(wait)) {
    pace_->Resume();
    // Both checks come after Resume(): an Interrupt() that Resume() has undone came after BeginStop() or
    // after the engine has failed.
    if (thread_.stopping()) return;
    const absl::Status status = engine_.IsFailed() ? absl::OkStatus() : Reclaim();
    wait = interval;
    if (status.ok()) last_error.clear();
    if (status.ok() || absl::IsCancelled(status) || absl::IsAborted(status)) continue;
    // A failed flush or compaction makes RocksDB refuse writes, and the store is reopened. So wait before the
    // next attempt.
    wait = absl::IsDataLoss(status) ? kDamagedInterval : failed_interval;
    if (MessageOf(status) == last_error) continue;
    last_error = MessageOf(status);
    engine_.options().log->error(
        "the space of deleted tables and indexes could not be reclaimed yet error={}", last_error);
  }
}

absl::Status Reclaimer::Flush(const Store& store, const std::vector<rocksdb::ColumnFamilyHandle*>& families) {
  // Only when no other memtable waits: two that wait would make RocksDB stall writers.
  ITEMDB_RETURN_IF_ERROR(AwaitWritten(store, families));
  // Without `wait`: on a failing disk the call would still wait when the store has to be closed.
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
      (void)thread_.WaitFor(kFlushPollInterval);
      if (store.HasFailed()) return absl::UnavailableError("a memtable could not be written to a file");
      if (pace_->is_interrupted()) return absl::CancelledError("interrupted");
    }
  }
  return absl::OkStatus();
}

absl::Status Reclaimer::Reclaim() {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine_.View());
  const std::shared_ptr<Store> store = view->store();
  ITEMDB_ASSIGN_OR_RETURN(std::vector<DroppedKeyspace> dropped, ReadDropped(*store, view->snapshot()));
  // This view and later ones cannot read the dropped records.
  const uint64_t now = view->snapshot()->GetSequenceNumber();
  view.reset();
  if (store_.lock() != store)
    seen_at_.clear();  // The sequence numbers of another opening are not comparable.
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

  // 0 when the property cannot be read, or for a snapshot of an empty database: then nothing is ready.
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
  const int64_t waited_us = engine_.time_of_day().NowMicros() - oldest_us;
  const int64_t interval_us = std::chrono::microseconds(engine_.options().reclaim_interval).count();
  if (bytes < kWorthReclaimingBytes && waited_us < interval_us) ready.clear();
  return ready;
}

absl::Status Reclaimer::RemoveRecords(const Store& store, const std::vector<DroppedKeyspace>& ready) {
  std::vector<DroppedRange> left;
  for (const DroppedKeyspace& one : ready) {
    if (pace_->is_interrupted()) return absl::CancelledError("interrupted");
    for (DroppedRange& range : RangesOf(store, one)) {
      if (TakesSpace(store, range)) left.push_back(std::move(range));
    }
  }
  if (!left.empty()) {
    DroppedFilter::StorageIds storage_ids;
    std::map<rocksdb::ColumnFamilyHandle*, std::vector<KeyRange>> by_family;
    for (const DroppedRange& one : left) {
      storage_ids.insert(one.storage_id);
      by_family[one.keyspace.family()].push_back(one.stored());
    }
    // `bypass` borrows `store`: the filters are destroyed before the store.
    const auto bypass = [&store] { return MustBypassPace(store); };
    store.dropped_records().SetPace(pace_, bypass);
    store.dropped_collections().SetPace(pace_, bypass);
    SetDropped(store, storage_ids);
    std::vector<rocksdb::ColumnFamilyHandle*> families;
    for (const auto& [family, ranges] : by_family) families.push_back(family);
    ITEMDB_RETURN_IF_ERROR(Flush(store, families));
    for (auto& [family, ranges] : by_family)
      ITEMDB_RETURN_IF_ERROR(DeleteFiles(store, family, std::move(ranges)));
  }
  for (const DroppedRange& one : left) {
    if (TakesSpace(store, one)) ITEMDB_RETURN_IF_ERROR(Compact(store, one.keyspace.family(), one.stored()));
  }

  std::set<uint64_t> unfinished;
  for (const DroppedRange& one : left) {
    if (HasRecords(store, one)) unfinished.insert(one.storage_id);
  }
  std::vector<DroppedKeyspace> gone;
  for (const DroppedKeyspace& one : ready) {
    if (!unfinished.contains(one.storage_id)) gone.push_back(one);
  }
  for (size_t begin = 0; begin < gone.size(); begin += kDeletedAtOnce) {
    const size_t end = std::min(gone.size(), begin + kDeletedAtOnce);
    ITEMDB_RETURN_IF_ERROR(CommitAndWait(engine_,
                                         [&](CommitGroup& group) {
                                           for (size_t i = begin; i < end; ++i)
                                             group.DeleteCatalog(DroppedKey(gone[i].storage_id));
                                           return absl::OkStatus();
                                         },
                                         {.space = WriteSpace::kFrees, .origin = WriteOrigin::kUpkeep})
                               .status());
  }
  // A compaction that RocksDB began before SetDropped may have written some dropped records again.
  if (!unfinished.empty()) return absl::AbortedError("some records are left");
  SetDropped(store, {});
  return absl::OkStatus();
}

absl::Status Reclaimer::DeleteFiles(const Store& store, rocksdb::ColumnFamilyHandle* family,
                                    std::vector<KeyRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const KeyRange& a, const KeyRange& b) { return a.lower < b.lower; });
  rocksdb::ColumnFamilyMetaData files;
  store.db()->GetColumnFamilyMetaData(family, &files);
  for (const rocksdb::LevelMetaData& level : files.levels) {
    // DeleteFilesInRanges deletes no files of level 0.
    if (level.level == 0) continue;
    for (const rocksdb::SstFileMetaData& file : level.files) {
      const auto behind =
          std::upper_bound(ranges.begin(), ranges.end(), file.smallestkey,
                           [](const std::string& key, const KeyRange& range) { return key < range.lower; });
      if (behind == ranges.begin() || file.largestkey >= std::prev(behind)->upper) continue;
      const rocksdb::Slice first(file.smallestkey), last(file.largestkey);
      const rocksdb::RangePtr range(&first, &last);
      const rocksdb::Status status =
          rocksdb::DeleteFilesInRanges(store.db(), family, &range, 1, /*include_end=*/true);
      if (!status.ok()) return FromRocksDB("cannot delete files of a deleted table or index", status);
      pace_->Request(static_cast<int64_t>(file.size) / kDeletingIsFaster,
                     [&] { return MustBypassPace(store); });
      if (pace_->is_interrupted()) return absl::CancelledError("interrupted");
    }
  }
  return absl::OkStatus();
}

absl::Status Reclaimer::Compact(const Store& store, rocksdb::ColumnFamilyHandle* family,
                                const KeyRange& range) {
  const rocksdb::Slice lower(range.lower), upper(range.upper);
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  options.allow_write_stall = false;
  options.canceled = pace_->interrupted();
  const rocksdb::Status status = store.db()->CompactRange(options, family, &lower, &upper);
  if (status.IsIncomplete()) return absl::CancelledError("interrupted");
  if (!status.ok()) return FromRocksDB("cannot compact what a deleted table or index left", status);
  return absl::OkStatus();
}

}  // namespace itemdb::storage
