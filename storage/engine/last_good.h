// Opens a damaged store with what can be read: recovery with losses, `--recover=last-good`.
#pragma once

#include <memory>
#include <string>

#include "storage/base/status.h"
#include "storage/store/store.h"

namespace itemdb::storage {

// Opens as much of a damaged store as can be read, in the first of these ways that succeeds:
//   1. with a consistent prefix of the write-ahead log
//   2. with every undamaged record of the log
//   3., 4. the same without the table files that are missing or cannot be opened; the other files of their
//      families stay
//   5. when the manifest is damaged: without the log, each column family as it was before it needed a file
//      that is not there
// Then tables that the catalog lacks are taken from its copy (catalog_copy.h), and families that cannot be
// read to the end and are rebuilt from the items, or not needed, are emptied.
//
// Not atomic: after a crash it must begin with the files of before (quarantine.h).
absl::StatusOr<std::shared_ptr<Store>> OpenLastGood(const std::string& directory,
                                                    const StoreOptions& options);

// Reads everything that a recovery with losses can do without: index entries, size statistics, change log,
// request tokens. DATA_LOSS: some of it is damaged.
absl::Status CheckDerivedFamilies(const Store& store);

}  // namespace itemdb::storage
