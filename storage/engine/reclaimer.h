// Gives back the disk space of deleted tables and indexes.
//
// A deletion is one commit: it removes the definition from the catalog and records the storage ids as dropped
// (dropped_keyspace.h). From then on no new request can read or write their records. A thread does the rest:
//   1. It waits until the last snapshot from before the deletion is released: RocksDB's deletion of files and
//      its compaction filters ignore snapshots, so all readers of the records must have finished.
//   2. It makes the deletion durable and flushes the catalog to a table file. So a write-ahead log that is
//      damaged later cannot bring back the table without its items.
//   3. It removes the dropped records, at DatabaseOptions::reclaim_bytes_per_second: it passes the dropped
//      storage ids to the compaction filters, flushes the memtables that hold dropped records or the size
//      statistics of their item collections, deletes the table files that hold only such records, one after
//      another, and compacts the ranges that are left.
//   4. It deletes the record of the drop.
// After a crash steps are only repeated. An error is logged and the work tried again later. Storage ids are
// never given out again, so no new table can write into the dropped ranges.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "storage/base/background_thread.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/reclaim_pace.h"

namespace itemdb::storage {

class Engine;

class Reclaimer {
 public:
  explicit Reclaimer(Engine& engine);
  // Stops the work; the next opening of the database goes on with it.
  ~Reclaimer();

  // Starts the thread. It also reclaims what was dropped before the database was opened.
  void Start();
  // Stops the current work, so that the store can be closed: at once, or when the RocksDB background job that
  // it waits for has ended. The work begins again once the store is reopened.
  void Interrupt() { pace_->Interrupt(); }

 private:
  void Loop();
  // Steps 1 to 4. CANCELLED: interrupted. ABORTED: some records are left for the next call.
  absl::Status Reclaim();
  // Those of `dropped` that no snapshot can read any more. Empty while they are few, so that more are
  // reclaimed at once. `now`: RocksDB's sequence number of the snapshot in which `dropped` was read.
  std::vector<DroppedKeyspace> TakeReady(const Store& store, const std::vector<DroppedKeyspace>& dropped,
                                         uint64_t now);
  // Flushes the memtables of `families` to table files. CANCELLED: interrupted.
  absl::Status Flush(const Store& store, const std::vector<rocksdb::ColumnFamilyHandle*>& families);
  // Waits until no full memtable of `families` is left to be flushed. CANCELLED: interrupted.
  absl::Status AwaitWritten(const Store& store, const std::vector<rocksdb::ColumnFamilyHandle*>& families);
  // Steps 3 and 4.
  absl::Status RemoveRecords(const Store& store, const std::vector<DroppedKeyspace>& ready);
  // Deletes the table files of `family` that lie within one of `ranges` (stored keys). CANCELLED:
  // interrupted.
  absl::Status DeleteFiles(const Store& store, rocksdb::ColumnFamilyHandle* family,
                           std::vector<KeyRange> ranges);
  // Rewrites the table files that have a part of `range`. CANCELLED: interrupted.
  absl::Status Compact(const Store& store, rocksdb::ColumnFamilyHandle* family, const KeyRange& range);

  Engine& engine_;
  // Shared: RocksDB's threads may use it after this object is destroyed.
  const std::shared_ptr<ReclaimPace> pace_;
  // Only for the thread. By storage id: RocksDB's sequence number in store_ when its drop was first read. A
  // snapshot with this number or a higher one was taken after the drop.
  std::map<uint64_t, uint64_t> seen_at_;
  std::weak_ptr<Store> store_;

  BackgroundThread thread_;
};

}  // namespace itemdb::storage
