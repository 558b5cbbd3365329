// Work on a data directory that no itemd has open and that may be damaged. Nothing here changes it.
//
// Every function recovers the directory as Database::Open with recover_last_good does, but elsewhere: in a
// folder with symbolic links to its table files. That folder needs space for a copy of the write-ahead log,
// and when MANIFEST is lost for all items. All items are read. Functions block.
//
// Errors of all functions: as Database::Open. DATA_LOSS: there is nothing to recover, or a recovery of the
// directory was not finished. FAILED_PRECONDITION (DATA_DIRECTORY_FOREIGN): there is no such directory, or no
// database in it.
#pragma once

#include <string>
#include <vector>

#include "storage/api/damage_report.h"
#include "storage/api/options.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// What Database::Open with recover_last_good keeps and loses. The recovery runs in a folder of $TMPDIR, or of
// /tmp. Of `options` only the directory, the log, the file system and the sizes of caches count.
absl::StatusOr<RecoveryReport> PlanRecovery(const DatabaseOptions& options);

// All files of the store, in the order of their names. Reads all table files.
absl::StatusOr<std::vector<FileReport>> InspectFiles(const DatabaseOptions& options);

// Writes everything that is intact into a new database in `target`, which must be missing or empty, and which
// has the same database id. Its indexes are built when it is first opened. Unlike after a recovery with
// losses, no damaged block stays in it.
//
// INVALID_ARGUMENT: `target` is not empty, or lies inside the directory.
absl::StatusOr<RecoveryReport> Salvage(const DatabaseOptions& options, const std::string& target);

}  // namespace itemdb::storage
