// The file DIRECTORY/CATALOG: a copy of the catalog outside RocksDB, for recovery with losses.
//
// Without the definitions of tables no record can be read. So they exist twice: in the column family
// `catalog`, which alone counts while it can be read, and in this file, which is about a second older at
// most.
//
//   "itemdb catalog 1\n", then for each record of the family its key and its value, each as a
//   length-delimited field (1 and 2) of the protobuf wire format. Each value has a checksum.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "itemdb/v1/tables.pb.h"
#include "rocksdb/env.h"
#include "storage/base/status.h"
#include "storage/catalog/catalog.h"
#include "storage/store/read_view.h"

namespace itemdb::storage {

inline constexpr char kCatalogFileName[] = "CATALOG";

// The records of the column family `catalog` by key.
using CatalogRecords = std::map<std::string, std::string>;

struct ReadableRecords {
  CatalogRecords records;
  // There were others, which are damaged.
  bool damaged = false;
};

// The undamaged records of the file. Empty when there is no file.
ReadableRecords ReadCatalogCopy(rocksdb::Env* env, const std::string& directory);
// The undamaged records of the column family, as of `snapshot` or, without one, now.
ReadableRecords ReadCatalogRecords(const Store& store, const rocksdb::Snapshot* snapshot = nullptr);

// The definition in a record under a key that begins with kTableKeyPrefix; nullopt when it is damaged.
std::optional<v1::TableDescription> DecodeTable(std::string_view key, std::string_view record);
// Adds the tables and streams of `copy` that `*catalog` lacks, but no table that `*catalog` says is deleted.
// Returns the number of tables.
int64_t AddMissing(const CatalogRecords& copy, CatalogRecords* catalog);

// Keeps the file up to date. Not thread-safe.
class CatalogCopy {
 public:
  CatalogCopy(rocksdb::Env* env, std::string directory) : env_(env), directory_(std::move(directory)) {}

  // Writes the file if the tables of `view` are not those that were written last. Blocks on disk.
  absl::Status Update(const ReadView& view);

 private:
  rocksdb::Env* const env_;
  const std::string directory_;
  // What was written last.
  std::weak_ptr<const Catalog> written_;
};

}  // namespace itemdb::storage
