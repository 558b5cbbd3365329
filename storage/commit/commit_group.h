// The open commit group: what ordering decides and one RocksDB write makes durable together.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "storage/catalog/catalog.h"
#include "storage/commit/expiry_marks.h"
#include "storage/commit/group_counters.h"
#include "storage/commit/request_tokens.h"
#include "storage/commit/table_runs.h"
#include "storage/commit/write_set.h"
#include "storage/store/counters.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/sequence_key.h"
#include "storage/store/store.h"

namespace itemdb {

class CommitGroup;

// One write as the pipeline sees it: an item write, a transaction, a table change. Made by the layers above;
// they own the semantics, the pipeline owns order and durability.
class CommitUnit {
 public:
  virtual ~CommitUnit() = default;

  // Bytes it holds while it waits, for the queue's bound. Constant.
  virtual size_t SizeBytes() const = 0;

  // Decides the write against the current state and appends it to `group`. Called once, one unit at a time,
  // in commit order. Must not block on anything but reads of what it changes.
  virtual void Order(CommitGroup& group) = 0;

  // Called exactly once, after all units of its group were ordered and the group is durable and visible
  // (`status` OK), or when it will not be: UNKNOWN when the outcome is not known, another error when nothing
  // was written. `change_sequence` is the last change in the state that this unit left, so that answers tell
  // the order of commits within a group too; 0 when it was refused before. May run on any thread; must not
  // block.
  virtual void Answer(const absl::Status& status, uint64_t change_sequence) = 0;
};

// The item a write is about to replace, read during preparation on the request's thread and carried along.
// Ordering uses it unless a later commit group wrote the key.
struct CarriedRead {
  std::optional<std::string> item;
  // ReadView::group() of the view it was read from.
  uint64_t group = 0;
};

// What ordering knows across groups. Owned by the pipeline, touched only by the holder of its role.
struct OrderingState {
  explicit OrderingState(size_t slots) : last_write(slots) {}

  std::shared_ptr<Store> store;
  std::shared_ptr<const Catalog> catalog;
  uint64_t next_sequence = 1;
  int64_t last_commit_time_us = 0;
  // The group being built, or the next one.
  uint64_t next_group = 1;
  // Reads carried from views older than this are not trusted: the store was reopened since.
  uint64_t first_trusted_group = 0;
  // By key hash: the last group that wrote such a key. A collision only costs a read.
  std::vector<uint64_t> last_write;
  // Anybody may read them.
  CurrentCounters counters;
  int64_t max_item_collection_bytes = INT64_MAX;
  RequestTokenState tokens;
  // The clock, in microseconds since the Unix epoch. Default: the real one.
  std::function<int64_t()> clock_us;
};

class CommitGroup {
 public:
  explicit CommitGroup(OrderingState* state);
  CommitGroup(const CommitGroup&) = delete;
  CommitGroup& operator=(const CommitGroup&) = delete;

  // The catalog with the table changes ordered so far.
  const std::shared_ptr<const Catalog>& catalog() const { return catalog_; }
  // Microseconds since the Unix epoch; never decreases from group to group.
  int64_t commit_time_us() const { return commit_time_us_; }
  // Microseconds since the Unix epoch, by the clock: it may have been set back.
  int64_t wall_time_us() const { return wall_time_us_; }
  // The sequence that the next AppendChange uses.
  uint64_t next_sequence() const { return next_sequence_; }

  // The item under `key` as of all units ordered so far: from this group's own writes, else the carried read,
  // else RocksDB. The view is valid until the unit's Order returns, or ForgetReads. DATA_LOSS.
  absl::StatusOr<std::optional<std::string_view>> CurrentItem(const Table& table, const ItemKey& key,
                                                              const CarriedRead& carried);
  // Frees what CurrentItem has read from RocksDB.
  void ForgetReads() { reads_.clear(); }

  // Puts or deletes the item under `key`, both of which borrow from the unit until it is answered.
  void PutItem(const Table& table, const ItemKey& key, std::string_view item, size_t item_size);
  void DeleteItem(const Table& table, const ItemKey& key);

  GroupCounters& counters() { return counters_; }
  GroupTokens& tokens() { return tokens_; }
  int64_t max_item_collection_bytes() const { return state_->max_item_collection_bytes; }

  // Low-level parts of the same write.
  void PutEntry(const Index& index, std::string_view key, std::string_view item, size_t item_size);
  void DeleteEntry(const Index& index, std::string_view key);
  void DeleteRequest(std::string_view key);
  void PutCatalog(std::string_view key, std::string_view record);
  void DeleteCatalog(std::string_view key);
  void SetCatalog(std::shared_ptr<const Catalog> catalog) { catalog_ = std::move(catalog); }
  // The items of a table that is deleted by this commit, or the entries of an index, with their counters.
  // Their records stay until the space is reclaimed (reclaimer.h).
  void DropItems(const Table& table);
  void DropEntries(const Index& index);

  // Appends the encoded itemdb.v1.ChangeRecord `record`, of the table `storage_id`, under next_sequence().
  void AppendChange(uint64_t storage_id, std::string_view record);
  // Which of its changes are of which table.
  const TableRunsOfGroup& changes() const { return changes_; }

  // The entries that were put into indexes of times to live.
  const std::vector<TimeEntry>& time_entries() const { return time_entries_; }

  // Whether there is nothing to write.
  bool empty() const { return writes_.empty() && counters_.empty(); }
  size_t SizeBytes() const { return writes_.SizeBytes(); }

  // Adds what is written once per group (counters, tokens that expired). Called by the pipeline before the
  // batch is written.
  rocksdb::WriteBatch& Finish();
  // Makes what this group decided the state that the next one starts from. Called after the batch was
  // written.
  void Commit();

 private:
  void Drop(DroppedKeyspace dropped);

  OrderingState* state_;
  std::shared_ptr<const Catalog> catalog_;
  // The clock; and commit_time_us().
  int64_t wall_time_us_;
  int64_t commit_time_us_;
  uint64_t next_sequence_;
  WriteSet writes_;
  GroupCounters counters_;
  GroupTokens tokens_;
  TableRunsOfGroup changes_;
  std::vector<TimeEntry> time_entries_;
  // Items read from RocksDB while ordering, which CurrentItem's views borrow from.
  std::vector<std::unique_ptr<std::string>> reads_;
};

}  // namespace itemdb
