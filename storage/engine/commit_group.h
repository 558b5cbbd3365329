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
#include "rocksdb/write_batch.h"
#include "storage/catalog/catalog.h"
#include "storage/engine/counters.h"
#include "storage/engine/dropped_keyspace.h"
#include "storage/engine/expiry_marks.h"
#include "storage/engine/request_tokens.h"
#include "storage/engine/sequence_key.h"
#include "storage/engine/store.h"
#include "storage/engine/table_runs.h"

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

// The encoded primary key of an item, with what is derived from it once.
struct ItemKey {
  ItemKey() = default;
  ItemKey(uint64_t storage_id, std::string encoded);

  std::string encoded;
  // Of storage id and key.
  uint64_t hash = 0;
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
  absl::flat_hash_map<uint64_t, Counters> counters;
  // Those of tables where readers look for them, by storage id.
  absl::flat_hash_map<uint64_t, std::shared_ptr<TableCounters>> table_counters;
  int64_t max_item_collection_bytes = INT64_MAX;
  RequestTokenState tokens;
  // The clock, in microseconds since the Unix epoch. Default: the real one.
  std::function<int64_t()> clock_us;
};

class CommitGroup {
 public:
  explicit CommitGroup(OrderingState* state);

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

  // ---- item collections of tables with local indexes ----

  // The item collection that the item under `key` is in, as of all units ordered so far. DATA_LOSS, or what
  // the store answers.
  absl::StatusOr<Counters> FindCollection(const Table& table, const ItemKey& key);
  // Adds `change` to a collection that FindCollection has answered for.
  void CountCollection(const Table& table, const ItemKey& key, const Counters& change);
  // Replaces what is recorded of a collection for which FindCollection has answered DATA_LOSS.
  void PutCollection(const Table& table, const ItemKey& key, const Counters& counters);
  int64_t max_item_collection_bytes() const { return state_->max_item_collection_bytes; }

  // ---- client request tokens (request_tokens.h) ----

  // The request applied under `token`, by an earlier group or this one; nothing when there is none or it is
  // too long ago. DATA_LOSS, or what the store answers.
  absl::StatusOr<std::optional<AppliedRequest>> FindRequest(std::string_view token);
  // RESOURCE_EXHAUSTED: as many tokens are remembered as may be.
  absl::Status CheckRoomForRequest() const;
  // Records a request, which FindRequest has just not found, as applied.
  void RememberRequest(std::string_view token, std::string_view fingerprint,
                       std::optional<std::string> attributes);

  // Low-level parts of the same write.
  void PutEntry(const Index& index, std::string_view key, std::string_view item, size_t item_size);
  void DeleteEntry(const Index& index, std::string_view key);
  void DeleteRequest(std::string_view key);
  void PutCatalog(std::string_view key, std::string_view record);
  void DeleteCatalog(std::string_view key);
  void SetCatalog(std::shared_ptr<const Catalog> catalog) { catalog_ = std::move(catalog); }
  // Adds to the counters of a table or index.
  void Count(uint64_t storage_id, int64_t items, int64_t bytes);
  void SetCounters(uint64_t storage_id, const Counters& counters);
  // Keeps Table::counters of a new table from now on.
  void CountIn(const Table& table) { state_->table_counters[table.storage_id] = table.counters; }
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
  bool empty() const { return batch_.Count() == 0 && counters_.empty(); }
  size_t SizeBytes() const { return batch_.GetDataSize(); }

  // Deletes up to so many tokens that have expired.
  void ForgetExpiredRequests(size_t at_most);

  // Adds what is written once per group (counters, tokens that expired). Called by the pipeline before the
  // batch is written.
  rocksdb::WriteBatch& Finish();
  // Makes what this group decided the state that the next one starts from. Called after the batch was
  // written.
  void Commit();

 private:
  void Put(const Keyspace& keyspace, std::string_view key, std::string_view record);
  void Delete(const Keyspace& keyspace, std::string_view key);
  void Drop(DroppedKeyspace dropped);

  struct ExpiredToken {
    int64_t time_us;
    int64_t bytes;
  };
  struct Collection {
    uint64_t storage_id = 0;
    Counters counters;
    bool changed = false;
  };

  OrderingState* state_;
  std::shared_ptr<const Catalog> catalog_;
  // The clock; and commit_time_us().
  int64_t wall_time_us_;
  int64_t commit_time_us_;
  uint64_t next_sequence_;
  rocksdb::WriteBatch batch_;
  // Every item this group wrote, by storage id and key; what is missing was deleted. Without it most
  // increments of a hot counter would be lost.
  absl::flat_hash_map<std::pair<uint64_t, std::string_view>, std::optional<std::string_view>> overlay_;
  absl::flat_hash_map<uint64_t, Counters> counters_;
  // What FindCollection found, with this group's changes, by key.
  absl::flat_hash_map<std::string, Collection> collections_;
  TableRunsOfGroup changes_;
  std::vector<TimeEntry> time_entries_;
  GroupTokens tokens_;
  // Tokens that FindRequest found expired.
  absl::flat_hash_map<std::string, ExpiredToken> expired_tokens_;
  // Items read from RocksDB while ordering, which CurrentItem's views borrow from.
  std::vector<std::unique_ptr<std::string>> reads_;
};

}  // namespace itemdb
