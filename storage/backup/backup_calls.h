// The calls of itemdb.v1.Admin about backups. They run on an I/O thread, one at a time.
#pragma once

#include <functional>

#include "storage/engine/engine.h"

namespace itemdb::storage {

// These implement Database's methods of the same names.
void CreateDatabaseBackup(Engine& engine, Done<v1::DatabaseBackup> done, CancellationPtr cancellation);
void ListDatabaseBackups(Engine& engine, const v1::ListDatabaseBackupsRequest& request,
                         Done<v1::ListDatabaseBackupsReply> done);
// `prove` does what by_restoring asks for.
using ProveBackupFunction = std::function<absl::StatusOr<v1::DatabaseBackup>(
    Engine& engine, uint32_t backup_id, const CancellationPtr& cancellation)>;
void VerifyDatabaseBackup(Engine& engine, const v1::VerifyDatabaseBackupRequest& request,
                          ProveBackupFunction prove, Done<v1::DatabaseBackup> done,
                          CancellationPtr cancellation);
void DeleteDatabaseBackups(Engine& engine, const v1::DeleteDatabaseBackupsRequest& request,
                           Done<v1::DeleteDatabaseBackupsReply> done);

}  // namespace itemdb::storage
