#include "storage/changes/trimmer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "rocksdb/convenience.h"
#include "spdlog/spdlog.h"
#include "storage/base/wall_clock.h"
#include "storage/changes/log_reader.h"
#include "storage/commit/table_runs.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/schema/stream_records.h"
#include "storage/store/catalog_records.h"

namespace itemdb::storage {
namespace {

// The first change in [oldest, last] that was committed at `time_us` or later; `last` when there is none. A
// binary search: commit times never decrease.
absl::StatusOr<uint64_t> FirstSince(const ReadView& view, uint64_t oldest, uint64_t last, int64_t time_us) {
  std::string record;
  while (oldest < last) {
    const uint64_t middle = oldest + (last - oldest) / 2;
    ITEMDB_ASSIGN_OR_RETURN(ChangeView change, ReadChange(view, middle, &record));
    if (change.commit_time_us < time_us) {
      oldest = middle + 1;
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
  if (!status.ok()) return FromRocksDB("cannot compact the change log", status);
  return DeleteFiles(store, family, end);
}

}  // namespace

ChangeTrimmer::ChangeTrimmer(Engine& engine) : engine_(engine) {
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
      engine_.options().log->error("the change log could not be trimmed error=\"{}\"", MessageOf(trimmed));
  }
}

absl::Status ChangeTrimmer::Trim() {
  ITEMDB_ASSIGN_OR_RETURN(DurablePrefix log, ReadDurablePrefix(engine_));
  const DatabaseOptions& options = engine_.options();
  const uint64_t oldest = engine_.trim_horizon().oldest();
  if (log.last_sequence <= oldest) return absl::OkStatus();
  uint64_t wanted = oldest;
  if (options.change_retention > options.change_retention.zero()) {
    const int64_t now_us = NowMicros();
    const int64_t kept_us =
        std::chrono::duration_cast<std::chrono::microseconds>(options.change_retention).count();
    ITEMDB_ASSIGN_OR_RETURN(wanted, FirstSince(*log.view, oldest, log.last_sequence, now_us - kept_us));
  }
  if (options.max_change_log_bytes > 0)
    wanted = std::max(wanted, FirstWithin(*log.view->store(), options.max_change_log_bytes));
  if (wanted > oldest) {
    std::string record;
    ITEMDB_ASSIGN_OR_RETURN(ChangeView change,
                            ReadChange(*log.view, std::min(wanted, log.last_sequence), &record));
    wanted = engine_.trim_horizon().BeginTrim(change.commit_first_sequence);
  }
  if (wanted > oldest) {
    absl::StatusOr<std::vector<v1::Stream>> found = FindStreams(*log.view, {});
    // A damaged record of a stream must not stop trimming: the change log would fill the disk. The stream
    // records are then deleted by a later trimming.
    if (absl::IsDataLoss(found.status())) {
      options.log->error("records of trimmed streams could not be deleted error=\"{}\"",
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
    ITEMDB_RETURN_IF_ERROR(CommitAndWait(engine_, move_start, {.space = WriteSpace::kFrees}).status());
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
