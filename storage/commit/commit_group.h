// The open commit group: what its units have decided, and what one RocksDB write makes durable together.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "storage/base/call_trace.h"
#include "storage/base/time_of_day.h"
#include "storage/catalog/catalog.h"
#include "storage/commit/group_statistics.h"
#include "storage/commit/request_tokens.h"
#include "storage/commit/table_runs.h"
#include "storage/commit/ttl_cursors.h"
#include "storage/commit/write_set.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/sequence_key.h"
#include "storage/store/size_statistics.h"
#include "storage/store/store.h"

namespace itemdb::storage {

class CommitGroup;

// One write as the pipeline sees it: an item write, a transaction, a table change. Implemented by the folders
// above: they decide what is written, the pipeline decides the order and makes it durable.
class CommitUnit {
 public:
  virtual ~CommitUnit() = default;

  // Bytes of memory that the unit holds while it is queued. Must not change.
  virtual size_t SizeBytes() const = 0;

  // Decides the write against the current state and appends it to `group`. Called once, one unit at a time,
  // in commit order. Must not block on anything but reads of what it changes.
  virtual void Apply(CommitGroup& group) = 0;

  // Called exactly once. `status` OK: the unit's group is visible, and durable in durable mode. UNKNOWN: the
  // RocksDB write failed, and nobody knows whether the group is on disk. Any other error: nothing was
  // written. `change_sequence` is the last change in the state that this unit left, so that replies show the
  // order of commits within a group too; 0 when Apply was not called. May run on any thread; must not block.
  virtual void Complete(const absl::Status& status, uint64_t change_sequence) = 0;

  // Whether the unit completes only when a standby has it (PipelineOptions::await_standby). Set before it is
  // submitted.
  bool waits_for_standby = false;
  // Null: the write is not traced. Set before it is submitted; valid until Complete().
  CallTrace* trace = nullptr;
  // When a traced write was submitted.
  CallTrace::Clock::time_point submitted;
};

// The item that a write will replace, read while the write is prepared, before it is submitted. Apply uses it
// unless a later commit group wrote the key.
struct PrefetchedRead {
  std::optional<std::string> item;
  // ReadView::group_number() of the view it was read from.
  uint64_t group_number = 0;
};

// State that passes from one commit group to the next. Owned by the pipeline, touched by the commit leader
// only.
struct ApplyState {
  explicit ApplyState(size_t slots) : last_write_group_numbers(slots) {}

  std::shared_ptr<Store> store;
  std::shared_ptr<const Catalog> catalog;
  uint64_t next_sequence = 1;
  int64_t last_commit_time_us = 0;
  // The number of the group being built, or the next one.
  uint64_t next_group_number = 1;
  // The read-validity epoch: prefetched reads from views before this group are invalid after a reopening.
  uint64_t first_valid_read_group_number = 0;
  // By key hash: the number of the last group that wrote a key with this hash. Two keys in one slot only cost
  // a read.
  std::vector<uint64_t> last_write_group_numbers;
  // Thread-safe, unlike the other members.
  CurrentStatistics size_statistics;
  int64_t max_item_collection_bytes = INT64_MAX;
  RequestTokenState tokens;
  // Never null. Thread-safe.
  std::shared_ptr<TimeOfDay> time_of_day = std::make_shared<TimeOfDay>();
};

class CommitGroup {
 public:
  explicit CommitGroup(ApplyState* state);
  CommitGroup(const CommitGroup&) = delete;
  CommitGroup& operator=(const CommitGroup&) = delete;

  // The catalog with the table changes applied so far, those of this group included.
  const std::shared_ptr<const Catalog>& catalog() const { return catalog_; }
  // Microseconds since the Unix epoch; never decreases from group to group.
  int64_t commit_time_us() const { return commit_time_us_; }
  // Microseconds since the Unix epoch, TimeOfDay::NowMicros(): decreases when the clock is set back.
  int64_t wall_time_us() const { return wall_time_us_; }
  // The sequence that the next AppendChange uses.
  uint64_t next_sequence() const { return next_sequence_; }

  // The item under `key` as all units applied so far have left it: from this group's own writes, else from
  // the prefetched read if it is valid, else from RocksDB. The returned view is valid until the unit's Apply
  // returns or calls ReleaseReads. DATA_LOSS: the stored item does not decode.
  absl::StatusOr<std::optional<std::string_view>> CurrentItem(const Table& table, const ItemKey& key,
                                                              const PrefetchedRead& prefetched);
  // Frees what CurrentItem has read from RocksDB.
  void ReleaseReads() { reads_.clear(); }

  // Makes room for `bytes` more in the batch at once: a batch that grows by itself is in memory up to three
  // times at its last step.
  void ReserveBytes(size_t bytes) { writes_.ReserveBytes(bytes); }

  // Puts or deletes the item under `key`. `key` and `item` must stay valid until the unit completes. PutItem
  // and PutEntry return the checksum of the record, for the size statistics.
  uint64_t PutItem(const Table& table, const ItemKey& key, std::string_view item, size_t item_size);
  void DeleteItem(const Table& table, const ItemKey& key);

  GroupStatistics& size_statistics() { return size_statistics_; }
  GroupTokens& tokens() { return tokens_; }
  int64_t max_item_collection_bytes() const { return state_->max_item_collection_bytes; }

  // Low-level parts of the same RocksDB write.
  uint64_t PutEntry(const Index& index, std::string_view key, std::string_view item, size_t item_size);
  void DeleteEntry(const Index& index, std::string_view key);
  void DeleteRequest(std::string_view key);
  void PutCatalog(std::string_view key, std::string_view record);
  void DeleteCatalog(std::string_view key);
  void SetCatalog(std::shared_ptr<const Catalog> catalog) { catalog_ = std::move(catalog); }
  // Marks the items of a deleted table, or the entries of a deleted index, as dropped, and deletes their size
  // statistics. The items and entries stay on disk until the space is reclaimed (reclaimer.h).
  void DropItems(const Table& table);
  void DropEntries(const Index& index);

  // Appends the encoded itemdb.v1.ChangeRecord `record`, of the table `storage_id`, under next_sequence().
  void AppendChange(uint64_t storage_id, std::string_view record);

  // ---- of a commit group of another database that this one follows (storage/standby) ----

  // A record as the other database has written it.
  void PutReplicated(rocksdb::ColumnFamilyHandle* family, std::string_view key, std::string_view record) {
    writes_.Put(family, key, record);
  }
  void DeleteReplicated(rocksdb::ColumnFamilyHandle* family, std::string_view key) {
    writes_.Delete(family, key);
  }
  // The same for a change record: that of next_sequence(), of the table `storage_id`.
  void PutReplicatedChange(uint64_t storage_id, std::string_view key, std::string_view record);
  // The size statistics of a table or index were deleted.
  void DropStatistics(uint64_t storage_id) { (void)size_statistics_.Drop(storage_id, &writes_); }
  // Commits after this group are not earlier than `time_us`. Items that were read before it may have been
  // replaced by it.
  void EndReplicated(int64_t time_us);

  // The changes appended so far, by table.
  const TableRunsOfGroup& changes() const { return changes_; }

  // The entries that were put into TTL indexes.
  const std::vector<TimeEntry>& time_entries() const { return time_entries_; }

  // True when the group has nothing to write.
  bool empty() const { return writes_.empty() && size_statistics_.empty(); }
  size_t SizeBytes() const { return writes_.SizeBytes(); }

  // Adds what is written once per group: size statistics, table runs, deletions of expired tokens. Called by
  // the pipeline before it writes the returned batch.
  rocksdb::WriteBatch& SealBatch();
  // The batch that SealBatch has returned. It may be taken away once it is written.
  rocksdb::WriteBatch& batch() { return writes_.batch(); }
  // Moves the state of this group into ApplyState, from which the next group starts. Called after the batch
  // was written.
  void InstallState();

 private:
  void Drop(DroppedKeyspace dropped);

  ApplyState* state_;
  std::shared_ptr<const Catalog> catalog_;
  int64_t wall_time_us_;
  int64_t commit_time_us_;
  uint64_t next_sequence_;
  WriteSet writes_;
  GroupStatistics size_statistics_;
  GroupTokens tokens_;
  TableRunsOfGroup changes_;
  std::vector<TimeEntry> time_entries_;
  bool is_replicated_ = false;
  // Items that CurrentItem has read from RocksDB; the views that it returned point into them.
  std::vector<std::unique_ptr<std::string>> reads_;
};

}  // namespace itemdb::storage
