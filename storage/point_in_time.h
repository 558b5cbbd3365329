// The items of a table as it was after an earlier commit, for restores and exports.
#pragma once

#include <memory>

#include "itemdb/v1/backups.pb.h"
#include "storage/base/cancellation.h"
#include "storage/engine/engine.h"
#include "storage/loading/item_source.h"

namespace itemdb::storage {

// Restores the database to the commit that `table` names (its to_change, or to_time_us) in the folder
// `folder` (scratch_folder.h) of the data directory, and reads the table with its source_storage_id there.
// The folder is deleted with the source. Blocks, first until there is a backup to begin with. One source at a
// time for each folder.
//
// RESOURCE_EXHAUSTED (DISK_FULL): the data directory has not the space above its free-space floor. DATA_LOSS:
// a backup or the archive is damaged. Otherwise errors as RestoreDatabase.
absl::StatusOr<PointInTime> OpenPointInTimeSource(Engine& engine, const v1::RestoringTable& table,
                                                  const char* folder, const Cancellation& cancellation);

}  // namespace itemdb::storage
