#include "storage/changes/trimmer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "rocksdb/convenience.h"
#include "spdlog/spdlog.h"
#include "storage/changes/change_holds.h"
#include "storage/changes/log_reader.h"
#include "storage/commit/table_runs.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/schema/stream_records.h"
#include "storage/store/catalog_records.h"

namespace itemdb::storage {
namespace {

// How precisely the boot clock knows the ages of changes: this part of the retention.
constexpr int64_t kSeenPerRetention = 64;
// How long trimming waits for the DDL thread to end holds.
constexpr std::chrono::seconds kLongestEnding{1};

// The first change in [oldest, last] that was committed at `time_us` or later; `last` when there is none. A
// binary search: commit times never decrease. Changes that cannot be read count as later than the readable
// change before them.
absl::StatusOr<uint64_t> FirstSince(const ReadView& view, uint64_t oldest, uint64_t last, int64_t time_us) {
  std::string record;
  while (oldest < last) {
    const uint64_t middle = oldest + (last - oldest) / 2;
    ITEMDB_ASSIGN_OR_RETURN(const std::optional<ChangeView> change,
                            FindReadableChange(view, middle, last, &record));
    if (change.has_value() && change->commit_time_us < time_us) {
      oldest = std::min(change->change_sequence + 1, last);
    } else {
      last = middle;
    }
  }
  return oldest;
}

// The table files of `family`, sorted by their smallest keys.
std::vector<rocksdb::SstFileMetaData> FilesOf(const Store& store, rocksdb::ColumnFamilyHandle* family) {
  rocksdb::ColumnFamilyMetaData metadata;
  store.db()->GetColumnFamilyMetaData(family, &metadata);
  std::vector<rocksdb::SstFileMetaData> files;
  for (const rocksdb::LevelMetaData& level : metadata.levels)
    files.insert(files.end(), level.files.begin(), level.files.end());
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.smallestkey < b.smallestkey; });
  return files;
}

// The first change after the oldest files that must go so that the others have at most `max_bytes`; 0: none.
uint64_t FirstWithin(const Store& store, uint64_t max_bytes) {
  const std::vector<rocksdb::SstFileMetaData> files = FilesOf(store, store.changes());
  uint64_t bytes = 0;
  for (const auto& file : files) bytes += file.size;
  uint64_t first = 0;
  for (size_t i = 0; i < files.size() && bytes > max_bytes; ++i) {
    first = ParseSequenceKey(files[i].largestkey).value_or(0) + 1;
    bytes -= files[i].size;
  }
  return first;
}

absl::Status DeleteFiles(const Store& store, rocksdb::ColumnFamilyHandle* family, const rocksdb::Slice& end) {
  rocksdb::Status status =
      rocksdb::DeleteFilesInRange(store.db(), family, nullptr, &end, /*include_end=*/false);
  if (!status.ok()) return FromRocksDB("cannot delete files of the change log", status);
  return absl::OkStatus();
}

// Deletes the files of `family` whose keys are all less than `kept_from`.
absl::Status FreeFiles(const Store& store, rocksdb::ColumnFamilyHandle* family, const std::string& kept_from,
                       std::atomic<bool>* cancel) {
  const rocksdb::Slice end(kept_from);
  auto is_free = [&](const rocksdb::SstFileMetaData& file) { return file.largestkey < kept_from; };
  std::vector<rocksdb::SstFileMetaData> files = FilesOf(store, family);
  if (std::none_of(files.begin(), files.end(), is_free)) return absl::OkStatus();
  ITEMDB_RETURN_IF_ERROR(DeleteFiles(store, family, end));
  files = FilesOf(store, family);
  if (std::none_of(files.begin(), files.end(), is_free)) return absl::OkStatus();
  // DeleteFilesInRange deletes no files of level 0, where flushed memtables are: a compaction must move them
  // down first. While there are writes RocksDB does that by itself.
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  options.canceled = cancel;
  rocksdb::Status status = store.db()->CompactRange(options, family, nullptr, &end);
  if (status.IsIncomplete()) return absl::OkStatus();  // Cancelled.
  if (status.IsCorruption()) {
    // Files of the change log do not overlap, so they are moved down without being read. Those of the table
    // runs may have to be merged: a damaged one stays, as do those beside it. It is logged once.
    (void)store.ReadError("", status);
    return absl::OkStatus();
  }
  if (!status.ok()) return FromRocksDB("cannot compact the change log", status);
  return DeleteFiles(store, family, end);
}

}  // namespace

ChangeTrimmer::ChangeTrimmer(Engine& engine)
    : engine_(engine), takes_writes_since_us_(engine.time_of_day().SteadyMicros()) {
  thread_.Start([this] { Loop(); });
}

ChangeTrimmer::~ChangeTrimmer() {
  cancel_compaction_ = true;
  thread_.Stop();
}

void ChangeTrimmer::Loop() {
  while (thread_.WaitFor(engine_.options().change_trim_interval)) {
    absl::Status trimmed = Trim();
    // While the store is being reopened, errors are expected and not logged.
    if (!trimmed.ok() && !absl::IsUnavailable(trimmed) && !absl::IsUnknown(trimmed))
      engine_.options().log->error("the change log could not be trimmed error={}", MessageOf(trimmed));
  }
}

uint64_t ChangeTrimmer::FirstSeenWithin(int64_t retention_us, uint64_t last_sequence) {
  const int64_t now_us = engine_.time_of_day().SteadyMicros();
  if (seen_.empty() || now_us - seen_.back().time_us >= retention_us / kSeenPerRetention)
    seen_.push_back({now_us, last_sequence});
  // The last one that is old enough stays, for the case that trimming fails.
  while (seen_.size() > 1 && now_us - seen_[1].time_us >= retention_us) seen_.pop_front();
  return now_us - seen_.front().time_us >= retention_us ? seen_.front().last_sequence + 1 : 0;
}

absl::StatusOr<uint64_t> ChangeTrimmer::FirstWithinRetention(const DurablePrefix& log, uint64_t oldest) {
  const int64_t retention_us =
      std::chrono::duration_cast<std::chrono::microseconds>(engine_.options().change_retention).count();
  const uint64_t seen =
      std::clamp(FirstSeenWithin(retention_us, log.last_sequence), oldest, log.last_sequence);
  TimeOfDay& time_of_day = engine_.time_of_day();
  if (time_of_day.Jump().count() != 0) return seen;
  return FirstSince(*log.view, seen, log.last_sequence, time_of_day.NowMicros() - retention_us);
}

absl::StatusOr<uint64_t> ChangeTrimmer::WithoutHeld(uint64_t wanted, uint64_t oldest) const {
  if (wanted <= oldest) return oldest;
  // EndChangeHolds ends no hold of a standby, so this cannot be done there, nor so early.
  if (engine_.disk_space().IsBelowFloor() && !engine_.WriteRefusal().ok()) return wanted;
  ITEMDB_ASSIGN_OR_RETURN(const DurablePrefix log, ReadDurablePrefix(engine_));
  const absl::StatusOr<std::optional<uint64_t>> found = FirstHeldChange(*log.view);
  if (absl::IsDataLoss(found.status())) {
    engine_.options().log->error("holds of the change log could not be read, and keep nothing error={}",
                                 MessageOf(found.status()));
    return wanted;
  }
  ITEMDB_ASSIGN_OR_RETURN(const std::optional<uint64_t> held, found);
  if (!held.has_value() || *held >= wanted) return wanted;
  // Not inside of a commit. What cannot be read before the first readable change, nobody needs.
  std::string record;
  ITEMDB_ASSIGN_OR_RETURN(const std::optional<ChangeView> change,
                          FindReadableChange(*log.view, *held, log.last_sequence, &record));
  const uint64_t first = change.has_value() ? change->commit_first_sequence : *held;
  return std::clamp(first, oldest, wanted);
}

void ChangeTrimmer::EndHolds(uint64_t wanted) {
  if (!ending_.valid()) {
    const int64_t now_us = engine_.time_of_day().SteadyMicros();
    ending_ = EndChangeHolds(engine_, wanted, now_us - takes_writes_since_us_);
  }
  absl::Status ended = absl::DeadlineExceededError("other changes of definitions take long");
  if (ending_.wait_for(kLongestEnding) == std::future_status::ready) ended = ending_.get();
  // As in Loop.
  if (ended.ok() || absl::IsUnavailable(ended) || absl::IsUnknown(ended)) return;
  engine_.options().log->warn("holds of the change log could not be ended, and keep their changes error={}",
                              MessageOf(ended));
}

absl::Status ChangeTrimmer::Trim() {
  if (!engine_.WriteRefusal().ok()) takes_writes_since_us_ = engine_.time_of_day().SteadyMicros();
  ITEMDB_ASSIGN_OR_RETURN(DurablePrefix log, ReadDurablePrefix(engine_));
  const DatabaseOptions& options = engine_.options();
  const uint64_t oldest = engine_.trim_horizon().oldest();
  const bool is_empty = log.last_sequence <= oldest;
  uint64_t wanted = oldest;
  if (!is_empty && options.change_retention > options.change_retention.zero()) {
    ITEMDB_ASSIGN_OR_RETURN(wanted, FirstWithinRetention(log, oldest));
  }
  if (!is_empty && options.max_change_log_bytes > 0)
    wanted = std::max(wanted, FirstWithin(*log.view->store(), options.max_change_log_bytes));
  // The disk must not fill up because of a reader that is away.
  EndHolds(wanted);
  if (is_empty) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(wanted, WithoutHeld(wanted, oldest));
  if (wanted > oldest) {
    std::string record;
    // The changes before the first readable one cannot be read by anybody.
    ITEMDB_ASSIGN_OR_RETURN(
        const std::optional<ChangeView> change,
        FindReadableChange(*log.view, std::min(wanted, log.last_sequence), log.last_sequence, &record));
    wanted = change.has_value() ? engine_.trim_horizon().BeginTrim(change->commit_first_sequence) : oldest;
    // A hold may have been made since. One that is made from here on cannot be of changes before `wanted`.
    ITEMDB_ASSIGN_OR_RETURN(wanted, WithoutHeld(wanted, oldest));
    engine_.trim_horizon().LowerTrim(wanted);
  }
  if (wanted > oldest) {
    absl::StatusOr<std::vector<v1::Stream>> found = FindStreams(*log.view, {});
    // A damaged record of a stream must not stop trimming: the change log would fill the disk. The stream
    // records are then deleted by a later trimming.
    if (absl::IsDataLoss(found.status())) {
      options.log->error("records of trimmed streams could not be deleted error={}",
                         MessageOf(found.status()));
      found.emplace();
    }
    ITEMDB_ASSIGN_OR_RETURN(std::vector<v1::Stream> streams, std::move(found));
    std::erase_if(streams, [wanted](const v1::Stream& stream) {
      return stream.disabled_sequence() == 0 || stream.disabled_sequence() >= wanted;
    });
    const auto move_start = [&](CommitGroup& group) {
      group.PutCatalog(kChangesStartKey, EncodeCatalogNumber(kChangesStartKey, wanted));
      for (const v1::Stream& stream : streams) DeleteStream(stream, group);
      return absl::OkStatus();
    };
    ITEMDB_RETURN_IF_ERROR(
        CommitAndWait(engine_, move_start, {.space = WriteSpace::kFrees, .origin = WriteOrigin::kUpkeep})
            .status());
    ITEMDB_RETURN_IF_ERROR(engine_.SyncNow());
    engine_.trim_horizon().FinishTrim(wanted);
    options.log->debug("change log trimmed oldest_sequence={} trimmed_changes={}", wanted, wanted - oldest);
  }
  if (wanted == 1) return absl::OkStatus();
  // The compaction may take long: release the snapshot before.
  const std::shared_ptr<Store> store = log.view->store();
  log.view.reset();
  ITEMDB_RETURN_IF_ERROR(FreeFiles(*store, store->changes(), SequenceKey(wanted), &cancel_compaction_));
  return FreeFiles(*store, store->table_runs(), TableRunsPrefix(EpochOf(wanted)), &cancel_compaction_);
}

}  // namespace itemdb::storage
