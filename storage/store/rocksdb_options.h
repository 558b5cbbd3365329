// How RocksDB is set. What each setting bought is in ARCHITECTURE.md, "RocksDB's settings".
#pragma once

#include <memory>

#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "storage/store/store.h"

namespace itemdb {

// So many files of level 0 are merged into the next level. What lets level 0 grow on purpose keeps some
// distance from this, and from 20, where RocksDB slows writers down.
inline constexpr int kLevel0CompactionFiles = 8;

// The options of the database and of every column family.
rocksdb::Options RocksDBOptions(const StoreOptions& options, const std::shared_ptr<rocksdb::Logger>& logger);

// RocksDB's log lines, into ours.
std::shared_ptr<rocksdb::Logger> NewRocksDBLogger(std::shared_ptr<spdlog::logger> log);

// What the bloom filters of families with keyspaces know of a key besides the whole: the storage id and the
// first key attribute, which is an item collection.
std::shared_ptr<const rocksdb::SliceTransform> NewCollectionPrefix();

}  // namespace itemdb
