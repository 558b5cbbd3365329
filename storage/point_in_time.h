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

}  // namespace itemdb::storage
