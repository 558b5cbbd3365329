#include "storage/archive/replay.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "itemdb/v1/changes.pb.h"
#include "storage/base/cancellation.h"
#include "storage/base/wall_clock.h"
#include "storage/commit/table_runs.h"
#include "storage/store/catalog_records.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/sequence_key.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

std::string TimeText(int64_t time_us) {
  return absl::FormatTime(absl::RFC3339_full, absl::FromUnixMicros(time_us), absl::UTCTimeZone());
}

absl::Status PointUnknownError(const std::string& message) {
  return MakeError(absl::StatusCode::kOutOfRange, kReasonRestorePointUnknown, message);
}

std::optional<v1::ChangeRecord> DecodeChange(const rocksdb::Slice& key, const rocksdb::Slice& value) {
  const std::optional<StoredRecord> record = DecodeRecord(kChangesStorageId, ToView(key), ToView(value));
  v1::ChangeRecord change;
  if (!record.has_value() ||
      !change.ParseFromArray(record->payload.data(), static_cast<int>(record->payload.size())))
    return std::nullopt;
  return change;
}

// Finds one change record of a batch. The families of a batch are numbers, and only change records decode as
// such under a key that is their sequence.
class FindChange : public rocksdb::WriteBatch::Handler {
 public:
  explicit FindChange(uint64_t sequence) : key_(SequenceKey(sequence)) {}

  rocksdb::Status PutCF(uint32_t, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    if (ToView(key) != key_) return rocksdb::Status::OK();
    if (std::optional<v1::ChangeRecord> change = DecodeChange(key, value);
        change.has_value() && SequenceKey(change->change_sequence()) == key_)
      found_ = std::move(change);
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override { return rocksdb::Status::OK(); }

  const std::optional<v1::ChangeRecord>& found() const { return found_; }

 private:
  const std::string key_;
  std::optional<v1::ChangeRecord> found_;
};

absl::Status DamagedGroupError(const ArchivedGroup& group) {
  return DataLossError(absl::StrCat("the archive is damaged: the commit group with the changes ",
                                    group.first_change, " to ", group.last_change, " does not decode"));
}

// A database is restored to the end of a commit only.
absl::Status CheckEndsCommit(const ArchivedGroup& group, uint64_t change) {
  FindChange find(change);
  if (!group.batch.Iterate(&find).ok() || !find.found().has_value()) return DamagedGroupError(group);
  const uint64_t first = find.found()->commit_first_sequence();
  const uint64_t last = find.found()->commit_last_sequence();
  if (change == last) return absl::OkStatus();
  return ValidationError(absl::StrCat("change ", change, " is inside of the transaction with the changes ",
                                      first, " to ", last, "; restore to ", first - 1, " or to ", last));
}

// Copies a batch. Leaves out that the space of a deleted table or index was reclaimed, because here it was
// not: the records are in the files of the backup. With `cut_after`, ends behind that change, without what a
// group writes once: size statistics, and table runs, which are made anew.
class CopyBatch : public rocksdb::WriteBatch::Handler {
 public:
  CopyBatch(const Store& store, std::optional<uint64_t> cut_after) : store_(store), cut_after_(cut_after) {}

  rocksdb::Status PutCF(uint32_t family, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    rocksdb::ColumnFamilyHandle* const handle = Find(family);
    if (handle == nullptr) return rocksdb::Status::Corruption("unknown column family");
    if (IsWrittenOnce(handle)) return rocksdb::Status::OK();
    if (cut_after_.has_value() && handle == store_.changes()) {
      const std::optional<v1::ChangeRecord> change = DecodeChange(key, value);
      if (!change.has_value()) return rocksdb::Status::Corruption("a change record is damaged");
      runs_.Add(change->table_storage_id(), change->change_sequence());
      is_done_ = change->change_sequence() == *cut_after_;
    }
    return batch_.Put(handle, key, value);
  }
  rocksdb::Status DeleteCF(uint32_t family, const rocksdb::Slice& key) override {
    rocksdb::ColumnFamilyHandle* const handle = Find(family);
    if (handle == nullptr) return rocksdb::Status::Corruption("unknown column family");
    if (IsWrittenOnce(handle)) return rocksdb::Status::OK();
    if (handle == store_.catalog() && key.starts_with(kDroppedKeyPrefix)) return rocksdb::Status::OK();
    return batch_.Delete(handle, key);
  }
  bool Continue() override { return !is_done_; }

  rocksdb::WriteBatch& Finish() {
    if (cut_after_.has_value()) {
      for (const TableRunsOfGroup::Record& runs : runs_.Encode())
        (void)batch_.Put(store_.table_runs(), runs.key, runs.value);
    }
    return batch_;
  }

 private:
  rocksdb::ColumnFamilyHandle* Find(uint32_t id) const {
    for (int i = 0; i < Store::kFamilies; ++i) {
      rocksdb::ColumnFamilyHandle* const family = store_.family(static_cast<Store::FamilyNumber>(i));
      if (family->GetID() == id) return family;
    }
    return nullptr;
  }
  bool IsWrittenOnce(const rocksdb::ColumnFamilyHandle* family) const {
    return cut_after_.has_value() && (family == store_.stats() || family == store_.table_runs());
  }

  const Store& store_;
  const std::optional<uint64_t> cut_after_;
  rocksdb::WriteBatch batch_;
  TableRunsOfGroup runs_;
  bool is_done_ = false;
};

// The chain that continues a store that is at `sequence`; contents.chains.size() for none.
size_t FindChain(const ArchiveContents& contents, uint64_t chain_id, uint64_t sequence) {
  const auto found =
      std::find_if(contents.chains.begin(), contents.chains.end(), [&](const ArchiveChain& chain) {
        return chain.id == chain_id && chain.after_sequence <= sequence && sequence <= chain.through_sequence;
      });
  return static_cast<size_t>(found - contents.chains.begin());
}

// Why no chain continues a store of the chain `chain_id` that is at `sequence`.
std::string WhyNoChain(const ArchiveContents& contents, uint64_t chain_id, uint64_t sequence) {
  for (const ArchiveChain& chain : contents.chains) {
    if (chain.id != chain_id || chain.after_sequence <= sequence) continue;
    // The segment before the first one that is left.
    if (const uint64_t missing = chain.segments.front().previous; missing != 0)
      return SegmentName(missing) + " is missing or damaged, or older than the window of the archive";
  }
  return contents.chains.empty()
             ? "it has no segments that can be read"
             : "its segments are of other times, because those that follow the backup were "
               "deleted or the data directory was put back from a copy since, or it is of "
               "another database";
}

// Why nothing behind `end`, the end of the chain, can be restored with a backup of the chain. Only if another
// chain follows.
std::string GapText(const ArchiveContents& contents, size_t chain_index, const CommitPosition& end) {
  const ArchiveChain& chain = contents.chains[chain_index];
  const ArchiveChain& next = contents.chains[chain_index + 1];
  std::string text =
      absl::StrCat("the archive has a gap after change ", end.change, " of ", TimeText(end.commit_time_us),
                   ", up to change ", next.after_change, " of ", TimeText(next.begin_time_us));
  // What the next chain goes on with.
  const uint64_t missing = next.segments.front().previous;
  if (missing > chain.segments.back().number)
    absl::StrAppend(&text, ", because ", SegmentName(missing), " is missing or damaged");
  absl::StrAppend(&text, ", and there is no backup behind the gap to begin with; change ", end.change,
                  " can be restored");
  return text;
}

// `sequence`: of the last group in the chain.
absl::Status CheckReaches(const ArchiveContents& contents, size_t chain_index, const CommitPosition& end,
                          uint64_t sequence, const RestorePoint& point) {
  const std::string ends =
      absl::StrCat("the archive ends at change ", end.change, " of ", TimeText(end.commit_time_us));
  const bool is_last = chain_index + 1 == contents.chains.size();
  if (point.change.has_value() && end.change < *point.change) {
    return PointUnknownError(absl::StrCat("change ", *point.change, " cannot be restored: ",
                                          is_last ? ends : GapText(contents, chain_index, end)));
  }
  if (point.time_us.has_value() && *point.time_us > NowMicros())
    return PointUnknownError(absl::StrCat(TimeText(*point.time_us), " is in the future; ", ends));
  if (point.change.has_value() || is_last) return absl::OkStatus();
  const ArchiveChain& next = contents.chains[chain_index + 1];
  // Commits may be missing between the chains, and nobody knows when they were made.
  const bool nothing_is_missing =
      next.store_id == contents.chains[chain_index].store_id && next.after_sequence == sequence;
  if (point.time_us.has_value() && *point.time_us < next.begin_time_us && nothing_is_missing)
    return absl::OkStatus();
  return PointUnknownError(GapText(contents, chain_index, end));
}

}  // namespace

absl::StatusOr<ReplayPlan> PlanReplay(rocksdb::Env* env, const std::string& directory,
                                      const ArchiveContents& contents, uint64_t chain_id, uint64_t sequence,
                                      const RestorePoint& point, const Cancellation& cancellation) {
  const size_t chain_index = FindChain(contents, chain_id, sequence);
  if (chain_index == contents.chains.size()) {
    return PointUnknownError("the archive in " + directory +
                             " does not continue this backup: " + WhyNoChain(contents, chain_id, sequence));
  }
  ReplayPlan plan;
  plan.chain = contents.chains[chain_index];
  plan.store_at_most = sequence;
  bool is_reached = false;
  absl::Status inside;
  const auto look = [&](const ArchivedGroup& group) -> absl::StatusOr<bool> {
    ITEMDB_RETURN_IF_ERROR(cancellation.Check());
    is_reached |= point.change.has_value()
                      ? group.first_change > *point.change
                      : point.time_us.has_value() && group.commit_time_us > *point.time_us;
    if (is_reached) {
      // A group without a change, of expired request tokens for example, leaves the database as it was.
      if (group.first_change <= group.last_change) return false;
      plan.store_at_most = group.last_sequence;
      return true;
    }
    plan.through_sequence = group.last_sequence;
    plan.store_at_most = group.last_sequence;
    plan.end = {.change = group.last_change, .commit_time_us = group.commit_time_us};
    if (!point.change.has_value() || group.last_change < *point.change) return true;
    plan.end.change = *point.change;
    if (group.last_change > *point.change) {
      ITEMDB_RETURN_IF_ERROR(CheckEndsCommit(group, *point.change));
      plan.store_at_most = group.first_sequence - 1;
    }
    is_reached = true;
    return group.last_change == *point.change;
  };
  const absl::StatusOr<ChainEnd> end = ForEachGroup(env, directory, plan.chain, sequence, look);
  // What is damaged behind the point does not matter.
  if (is_reached) return plan;
  ITEMDB_RETURN_IF_ERROR(end.status());
  if (plan.end.change == 0) plan.end = {.change = end->change, .commit_time_us = end->commit_time_us};
  ITEMDB_RETURN_IF_ERROR(CheckReaches(contents, chain_index, plan.end, end->sequence, point));
  return plan;
}

absl::StatusOr<Replayed> Replay(rocksdb::Env* env, const std::string& directory, const ReplayPlan& plan,
                                Store& store, const Cancellation& cancellation) {
  Replayed replayed;
  uint64_t sequence = store.db()->GetLatestSequenceNumber();
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  const auto apply = [&](const ArchivedGroup& group) -> absl::StatusOr<bool> {
    ITEMDB_RETURN_IF_ERROR(cancellation.Check());
    if (group.first_sequence > plan.through_sequence) return false;
    const bool follows = group.first_sequence == sequence + 1 || group.follows_ingestion;
    if (group.first_sequence <= sequence || !follows) {
      return DataLossError(absl::StrCat("the archive does not continue the backup: a commit group begins at ",
                                        group.first_sequence, ", the store ends at ", sequence));
    }
    const bool is_cut = group.last_change > plan.end.change;
    CopyBatch copy(store, is_cut ? std::optional(plan.end.change) : std::nullopt);
    if (!group.batch.Iterate(&copy).ok()) return DamagedGroupError(group);
    if (const rocksdb::Status written = store.db()->Write(write, &copy.Finish()); !written.ok())
      return FromRocksDB("cannot replay a commit group", written);
    sequence = group.last_sequence;
    ++replayed.groups;
    replayed.needs_rebuild |= is_cut || group.follows_ingestion;
    return group.last_sequence < plan.through_sequence;
  };
  ITEMDB_RETURN_IF_ERROR(ForEachGroup(env, directory, plan.chain, sequence, apply).status());
  if (sequence < plan.through_sequence)
    return DataLossError("the archive in " + directory + " changed while it was read");
  replayed.end = plan.end;
  if (replayed.needs_rebuild) {
    const rocksdb::Status noted =
        store.db()->Put(write, store.catalog(), kNeedsRebuildKey, EncodeCatalogNumber(kNeedsRebuildKey, 1));
    if (!noted.ok()) return FromRocksDB("cannot note that indexes must be rebuilt", noted);
  }
  ITEMDB_RETURN_IF_ERROR(store.FlushMemtables(std::chrono::hours(24), cancellation));
  return replayed;
}

}  // namespace itemdb::storage
