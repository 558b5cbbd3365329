// When a backup was done: the file ended/N in the directory of the backups. The times of files do not say it,
// because a copy of the directory has others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "itemdb/v1/admin.pb.h"
#include "rocksdb/env.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// In microseconds since the Unix epoch. std::nullopt: there is no record, it does not decode, or it is of
// another backup that had the number before.
std::optional<int64_t> ReadBackupEnd(rocksdb::Env* env, const std::string& backup_directory,
                                     const v1::DatabaseBackup& backup);
// UNAVAILABLE: the file system says so.
absl::Status WriteBackupEnd(rocksdb::Env* env, const std::string& backup_directory,
                            const v1::DatabaseBackup& backup, int64_t end_time_us);
// Does nothing if there is no record.
void DeleteBackupEnd(rocksdb::Env* env, const std::string& backup_directory, uint32_t backup_id);

}  // namespace itemdb::storage
