// RocksDB's options. ARCHITECTURE.md, "RocksDB's settings", tells what each setting gains.
#pragma once

#include <memory>

#include "common/log/log.h"
#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "storage/store/store.h"

namespace itemdb::storage {

// Number of level 0 files that starts their merge into the next level. Code that lets level 0 grow on purpose
// stays below this number, and below 20, where RocksDB slows writers down.
inline constexpr int kLevel0CompactionFiles = 8;
// The same for items, whose filters GetItem asks one after another, and for index entries: a query of an
// index reads all of them.
inline constexpr int kLevel0CompactionFilesOfItems = 5;
inline constexpr int kLevel0CompactionFilesOfEntries = 4;

// The options of the database and of every column family.
rocksdb::Options RocksDBOptions(const StoreOptions& options, const std::shared_ptr<rocksdb::Logger>& logger);

// Writes RocksDB's log lines to `log`.
std::shared_ptr<rocksdb::Logger> NewRocksDBLogger(common::Log log);

// The key prefix that is in the bloom filters of families with keyspaces, besides the whole key: the storage
// id and the first key attribute. For a table this prefix is an item collection.
std::shared_ptr<const rocksdb::SliceTransform> NewCollectionPrefix();

}  // namespace itemdb::storage
