// Proves that a backup can be restored, by restoring it.
#pragma once

#include <cstdint>

#include "itemdb/v1/admin.pb.h"
#include "storage/base/cancellation.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Restores the backup, by default (0) the newest, into the folder `proof` of the data directory, opens the
// database there, checks everything, and deletes the folder. Notes a success in the backup directory. Blocks
// for as long as that takes; one at a time (Engine::TryBeginBackupCall).
//
// DATA_LOSS: the backup is damaged, or the check has findings; the message has the first. RESOURCE_EXHAUSTED
// (DISK_FULL): the data directory has not the space of the backup above its free-space floor. Otherwise
// errors as RestoreDatabase and Database::Open.
absl::StatusOr<v1::DatabaseBackup> ProveBackup(Engine& engine, uint32_t backup_id,
                                               const CancellationPtr& cancellation);

}  // namespace itemdb::storage
