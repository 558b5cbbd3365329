// Files as ImportTable reads them, and imports of them.
#pragma once

#include <cstdint>
#include <string>

#include "bench/session.h"
#include "itemdb/v1/imports.pb.h"
#include "storage/database.h"

namespace itemdb::bench {

inline constexpr int kImportFiles = 4;

// Writes the items 0 to `items` - 1 of items.h, of item collections of one item each, as gzip files into the
// new folder `folder`. Returns how many bytes of JSON they have.
absl::StatusOr<int64_t> WriteImportFiles(const Session& session, const std::string& folder, uint64_t items);

// An import of all such files of a bucket. The table has `indexes` global indexes of the keys, at most 4.
v1::ImportTableRequest ImportOf(const std::string& bucket, const std::string& table, int indexes);

// Imports `items` items and waits for the end.
absl::Status RunImport(const Session& session, storage::Database& database,
                       const v1::ImportTableRequest& request, uint64_t items);

}  // namespace itemdb::bench
