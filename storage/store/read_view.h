// ReadView: one committed state of the whole database.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/catalog/catalog.h"
#include "storage/store/store.h"

namespace itemdb::storage {

// Immutable and thread-safe. A request holds it by shared_ptr while it reads. Every read uses exactly one
// view and answers with its change sequence (invariant OneView).
class ReadView {
 public:
  // Takes a snapshot of `store` as it is now.
  ReadView(std::shared_ptr<Store> store, std::shared_ptr<const Catalog> catalog, uint64_t change_sequence,
           uint64_t group_number);
  ~ReadView();
  ReadView(const ReadView&) = delete;
  ReadView& operator=(const ReadView&) = delete;

  const std::shared_ptr<Store>& store() const { return store_; }
  const rocksdb::Snapshot* snapshot() const { return snapshot_; }
  const Catalog& catalog() const { return *catalog_; }
  const std::shared_ptr<const Catalog>& shared_catalog() const { return catalog_; }
  // The last change contained in the snapshot.
  uint64_t change_sequence() const { return change_sequence_; }
  // The number of the last commit group contained in the snapshot. Numbers are in commit order; they are not
  // stored and begin anew with each start.
  uint64_t group_number() const { return group_number_; }

 private:
  std::shared_ptr<Store> store_;
  std::shared_ptr<const Catalog> catalog_;
  const rocksdb::Snapshot* snapshot_;
  uint64_t change_sequence_;
  uint64_t group_number_;
};

// Whether a read may wait for the disk.
enum class ReadTier {
  // Reads only memtables and block cache. Never waits for the disk, so any thread may use it.
  kCacheOnly,
  kDisk,
};

// What a point read found.
struct Lookup {
  // The record is on disk and the tier was kCacheOnly: read again with kDisk on an I/O thread.
  bool would_block = false;
  // The stored item, canonical. Empty when there is no item.
  std::optional<std::string> item;
  // By SEM-002.
  size_t item_size = 0;
};

// Reads the item of `table` under the encoded key `key` in `view`. DATA_LOSS names table and key.
absl::StatusOr<Lookup> LookupItem(const ReadView& view, const Table& table, std::string_view key,
                                  ReadTier tier);

// DATA_LOSS: the record of `owner` ("table Order", "index ...") under `key` is damaged.
absl::Status DamagedRecordError(std::string_view owner, std::string_view key);

}  // namespace itemdb::storage
