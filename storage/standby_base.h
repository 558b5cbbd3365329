// What a standby begins with: the primary's database, restored from a backup and the archive.
//
//   DIRECTORY/standby-base   another base, until it is whole and in the place of the store
#pragma once

#include "storage/api/options.h"
#include "storage/base/cancellation.h"
#include "storage/base/status.h"
#include "storage/encryption/environment.h"

namespace itemdb::storage {

// Restores the newest commit of DatabaseOptions::standby_archive into the folder, with all that is computed
// from items. Blocks. Errors as RestoreDatabase; OUT_OF_RANGE (RESTORE_POINT_UNKNOWN) also while the primary
// has not made the backup yet that its archive needs.
absl::Status MakeStandbyBase(const DatabaseOptions& options, const Cancellation& cancellation);

// Puts a base that is whole in the place of the store, which must not be open, and deletes the folder. Does
// nothing if there is none. After a crash it is called again, before the store is opened. `database_id`: of
// the standby; empty: that of the base, which is new.
absl::Status InstallStandbyBase(const Environment& environment, const DatabaseOptions& options,
                                const std::string& database_id);

}  // namespace itemdb::storage
