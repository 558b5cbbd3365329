// Proves that a backup can be restored, by restoring it.
#pragma once

#include <cstdint>

#include "itemdb/v1/admin.pb.h"
#include "storage/base/cancellation.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Restores the backup, by default (0) the newest, into the folder `proof` of the data directory, opens the
// database there without its background work, checks everything, and deletes the folder. Notes in the backup
// directory that it is proven, or damaged. Blocks for as long as that takes; one at a time
// (Engine::TryBeginBackupCall).
//
// DATA_LOSS: the backup is damaged, or the check has findings; the message has the first. RESOURCE_EXHAUSTED
// (DISK_FULL): the data directory has not the space of the backup above its free-space floor. Otherwise
// errors as RestoreDatabase and Engine::Open.
absl::StatusOr<v1::DatabaseBackup> ProveBackup(Engine& engine, uint32_t backup_id,
                                               const CancellationPtr& cancellation);

// The same for a backup that the schedule has made, beside the service of the database: in a folder beside
// the backups, copying and reading at most 32 MiB a second, or DatabaseOptions::backup_bytes_per_second.
// Notes nothing. Another call about backups may run meanwhile.
//
// RESOURCE_EXHAUSTED (DISK_FULL): the disk of the backups has not the space of the backup above three times
// the free-space floor, or came below twice the floor meanwhile. Otherwise errors as ProveBackup.
absl::Status ProveScheduledBackup(const Engine& engine, const v1::DatabaseBackup& backup,
                                  const CancellationPtr& cancellation);

}  // namespace itemdb::storage
