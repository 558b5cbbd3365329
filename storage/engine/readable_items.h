// Reads all items of a store of which some blocks are damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "rocksdb/env.h"
#include "storage/base/status.h"
#include "storage/store/store.h"

namespace itemdb::storage {

struct ItemsRead {
  // Damaged blocks; those next to each other count once.
  int64_t damaged_ranges = 0;
  // Items that were left out, because a damaged block may have a newer version of them or their deletion.
  int64_t in_doubt = 0;
};

// Calls `visit` for all readable records of the items, in the order of their keys. Blocks.
//
// An iterator over all files stops at a damaged block, and can only go on behind it. In between it hides the
// records of the other files, whose keys may lie close together where those of the damaged file are far
// apart. So these are read without the damaged files. For each of them, RocksDB's Get says whether the
// damaged block may have a newer version: its file's filter knows most keys that it does not have.
//
// Errors of `visit`, or UNAVAILABLE: an I/O error that is no damage.
absl::StatusOr<ItemsRead> ForEachReadableItem(
    rocksdb::Env* env, const Store& store,
    const std::function<absl::Status(std::string_view key, std::string_view record)>& visit);

}  // namespace itemdb::storage
