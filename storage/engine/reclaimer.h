// Gives back the disk space of deleted tables and indexes.
//
// A deletion is one commit: it takes the definition out of the catalog and records the storage ids as dropped
// (dropped_keyspace.h). From then on nobody can begin to read or write their records. A thread does the rest:
//   1. waits until the last snapshot from before the deletion is gone. RocksDB's deletion of files and its
//      compaction filters ignore snapshots, so every reader from before must have finished;
//   2. makes the deletion durable and writes the catalog to a table file: a log that is damaged later must
//      not bring back a table without its items;
//   3. tells the compaction filters, writes memtables that hold such records, or the sizes of such a table's
//      item collections, to files, deletes table files that hold nothing else, one after another, and
//      compacts the range of what is left, at DatabaseOptions::reclaim_bytes_per_second;
//   4. deletes the record of the drop.
// A crash anywhere only repeats steps. What fails is logged and tried again later. Storage ids are never
// given out again, so nothing can come in between.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "storage/base/background_thread.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/reclaim_pace.h"

namespace itemdb {

class Engine;

class Reclaimer {
 public:
  explicit Reclaimer(Engine& engine);
  // Stops what is under way; the next opening goes on.
  ~Reclaimer();

  // Begins. Everything that was dropped before is reclaimed too.
  void Start();
  // Stops what is under way, so that the store can be closed: at once, or when RocksDB's background job that
  // it waits for has ended. It is begun anew when the store was reopened.
  void Interrupt() { pace_->Interrupt(); }

 private:
  void Loop();
  // Reclaims what is ready. CANCELLED: interrupted. ABORTED: some of it is left for the next time.
  absl::Status Reclaim();
  // Of `dropped`, as of RocksDB's sequence number `now`, what nobody can read any more; empty while it is
  // worth waiting for more.
  std::vector<DroppedKeyspace> TakeReady(const Store& store, const std::vector<DroppedKeyspace>& dropped,
                                         uint64_t now);
  // Writes what is in the memtables of `families` to table files. CANCELLED: interrupted.
  absl::Status Flush(const Store& store, const std::vector<rocksdb::ColumnFamilyHandle*>& families);
  absl::Status AwaitWritten(const Store& store, const std::vector<rocksdb::ColumnFamilyHandle*>& families);
  // Steps 3 and 4.
  absl::Status RemoveRecords(const Store& store, const std::vector<DroppedKeyspace>& ready);
  // Deletes the table files of `family` that lie within one of `ranges` of stored keys. CANCELLED:
  // interrupted.
  absl::Status DeleteFiles(const Store& store, rocksdb::ColumnFamilyHandle* family,
                           std::vector<KeyRange> ranges);
  // Rewrites the table files that have a part of `range`. CANCELLED: interrupted.
  absl::Status Compact(const Store& store, rocksdb::ColumnFamilyHandle* family, const KeyRange& range);

  Engine& engine_;
  // RocksDB's threads may have it for longer than we are.
  const std::shared_ptr<ReclaimPace> pace_;
  // Of the thread, about store_: RocksDB's sequence number when a dropped storage id was first seen.
  // Snapshots that are not older were taken after the drop.
  std::map<uint64_t, uint64_t> seen_at_;
  std::weak_ptr<Store> store_;

  BackgroundThread thread_;
};

}  // namespace itemdb
