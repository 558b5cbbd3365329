#include "storage/exports/last_writes.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "rocksdb/write_batch.h"
#include "storage/archive/archive_directory.h"
#include "storage/changes/change_record.h"
#include "storage/indexes/record_sorter.h"
#include "storage/store/sequence_key.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

constexpr size_t kLastWritesMemoryBytes = 16 << 20;

absl::Status ChangesMissingError(const ChangeStretch& stretch, const std::string& why) {
  return MakeError(absl::StatusCode::kOutOfRange, kReasonRestorePointUnknown,
                   "the archive does not have all changes from " + std::to_string(stretch.after_change + 1) +
                       " to " + std::to_string(stretch.through_change) + ": " + why);
}

// Gives the changes of one table in a commit group to a sorter.
class FindTableChanges : public rocksdb::WriteBatch::Handler {
 public:
  FindTableChanges(uint32_t changes_family, const Table& table, ChangeStretch stretch, RecordSorter& sorter)
      : changes_family_(changes_family), table_(table), stretch_(stretch), sorter_(sorter) {}

  const absl::Status& error() const { return error_; }

  rocksdb::Status PutCF(uint32_t family, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    if (family == changes_family_ && error_.ok()) error_ = Visit(ToView(key), ToView(value));
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override { return rocksdb::Status::OK(); }

 private:
  absl::Status Visit(std::string_view key, std::string_view value) {
    const std::optional<StoredRecord> record = DecodeRecord(kChangesStorageId, key, value);
    const std::optional<ChangeView> change =
        record.has_value() ? ViewChange(record->payload) : std::optional<ChangeView>();
    if (!change.has_value()) return DataLossError("a change record in the archive is damaged");
    // A change of the table itself has no key.
    if (change->table_storage_id != table_.storage_id || change->key.empty() ||
        change->change_sequence <= stretch_.after_change || change->change_sequence > stretch_.through_change)
      return absl::OkStatus();
    ITEMDB_ASSIGN_OR_RETURN(const std::string item_key, EncodeKeyOfAnySize(table_, ItemView(change->key)));
    return sorter_.Add(item_key, SequenceKey(static_cast<uint64_t>(change->commit_time_us)));
  }

  const uint32_t changes_family_;
  const Table& table_;
  const ChangeStretch stretch_;
  RecordSorter& sorter_;
  absl::Status error_;
};

// Where reading begins: the last place that has every change after `after_change`.
struct ArchiveStart {
  size_t chain = 0;
  uint64_t after_sequence = 0;
  uint64_t after_change = 0;
};

std::optional<ArchiveStart> FindStart(const ArchiveContents& contents, const std::string& database_id,
                                      uint64_t after_change) {
  std::optional<ArchiveStart> start;
  for (size_t i = 0; i < contents.chains.size(); ++i) {
    const ArchiveChain& chain = contents.chains[i];
    if (chain.database_id != database_id) continue;
    for (const SegmentHeader& segment : chain.segments) {
      if (segment.after_change > after_change) continue;
      start = {.chain = i, .after_sequence = segment.after_sequence, .after_change = segment.after_change};
    }
  }
  return start;
}

absl::Status SortChanges(Engine& engine, const Table& table, ChangeStretch stretch,
                         const Cancellation& cancellation, RecordSorter& sorter) {
  CommitArchive* const archive = engine.archive();
  if (archive == nullptr) return ChangesMissingError(stretch, "there is no archive any more");
  ITEMDB_RETURN_IF_ERROR(archive->WriteNow());
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine.View());
  const uint32_t changes_family = view->store()->changes()->GetID();
  const std::string& directory = archive->directory();
  ITEMDB_ASSIGN_OR_RETURN(const ArchiveContents contents, ReadArchive(engine.env(), directory));
  const std::optional<ArchiveStart> start = FindStart(contents, engine.database_id(), stretch.after_change);
  if (!start.has_value()) return ChangesMissingError(stretch, "it begins later");
  uint64_t last_change = start->after_change;
  for (size_t i = start->chain; i < contents.chains.size() && last_change < stretch.through_change; ++i) {
    const ArchiveChain& chain = contents.chains[i];
    if (chain.database_id != engine.database_id()) continue;
    const auto sort = [&](const ArchivedGroup& group) -> absl::StatusOr<bool> {
      ITEMDB_RETURN_IF_ERROR(cancellation.Check());
      if (group.first_change != last_change + 1)
        return ChangesMissingError(stretch, "change " + std::to_string(last_change + 1) + " is missing");
      FindTableChanges changes(changes_family, table, stretch, sorter);
      if (!group.batch.Iterate(&changes).ok())
        return DataLossError("a commit group in the archive does not decode");
      ITEMDB_RETURN_IF_ERROR(changes.error());
      last_change = group.last_change;
      return last_change < stretch.through_change;
    };
    const uint64_t after = i == start->chain ? start->after_sequence : chain.after_sequence;
    ITEMDB_RETURN_IF_ERROR(ForEachGroup(engine.env(), directory, chain, after, sort).status());
  }
  if (last_change >= stretch.through_change) return absl::OkStatus();
  return ChangesMissingError(stretch, "it ends at change " + std::to_string(last_change));
}

}  // namespace

absl::Status VisitLastWrites(Engine& engine, const Table& table, ChangeStretch stretch,
                             const std::string& path_prefix, const Cancellation& cancellation,
                             const VisitLastWrite& visit) {
  RecordSorter sorter(engine.env(), path_prefix, kLastWritesMemoryBytes);
  ITEMDB_RETURN_IF_ERROR(SortChanges(engine, table, stretch, cancellation, sorter));
  // The times of one key follow each other, in any order.
  std::string key;
  std::optional<uint64_t> last_time_us;
  const auto finish_key = [&] {
    return last_time_us.has_value() ? visit(key, static_cast<int64_t>(*last_time_us)) : absl::OkStatus();
  };
  ITEMDB_RETURN_IF_ERROR(sorter.ForEach([&](std::string_view next, std::string_view value) {
    const uint64_t time_us = ParseSequenceKey(value).value_or(0);
    if (last_time_us.has_value() && next == key) {
      last_time_us = std::max(*last_time_us, time_us);
      return absl::OkStatus();
    }
    ITEMDB_RETURN_IF_ERROR(finish_key());
    key.assign(next);
    last_time_us = time_us;
    return absl::OkStatus();
  }));
  return finish_key();
}

}  // namespace itemdb::storage
