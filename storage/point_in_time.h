// The items of a table as it was after an earlier commit, for restores and exports.
#pragma once

#include <memory>

#include "itemdb/v1/backups.pb.h"
#include "storage/base/cancellation.h"
#include "storage/engine/engine.h"
#include "storage/loading/item_source.h"

namespace itemdb::storage {

// Restores the database to the commit that `table` names (its to_change, or to_time_us; neither: the last
// one) in the folder `folder` and reads the table with its source_storage_id there. Blocks. Errors as
// EarlierDatabase::Restore.
absl::StatusOr<PointInTime> OpenPointInTimeSource(const Engine& engine, const v1::RestoringTable& table,
                                                  const char* folder, const Cancellation& cancellation);

// Whether OpenPointInTimeSource would find the commit: an error that can be known without restoring anything.
// `creation_time_ms`: of the table that is read. Writes nothing. Waits two seconds for commits that are not
// in the archive yet and for its answer, and five for a file system that does not answer before it is read;
// one that ceases to answer while it is read holds the call up. What takes longer to find out, the source
// finds out. OUT_OF_RANGE (RESTORE_POINT_UNKNOWN) also if the table was created later.
absl::Status CheckPointInTime(const Engine& engine, const v1::RestoringTable& table,
                              int64_t creation_time_ms);

}  // namespace itemdb::storage
