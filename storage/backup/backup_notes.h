// What is known of a backup beside its description: the file ended/N in the directory of the backups.
//
//   begun 1764250000000000 ended 1764250000100000
//   verified 1764250000200000
//   proven 1764250000300000
//   damaged 1764250000400000                       instead of the two before, when it was last found so
//   tables 1
//   table 4 812 1 Music                            items, bytes, indexes, name
//
// The times of files do not say when a backup was done, because a copy of the directory has others. Version
// 0.2 wrote and reads the first line only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/v1/admin.pb.h"
#include "rocksdb/env.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// Times are in microseconds since the Unix epoch; 0: none.
struct BackupNotes {
  int64_t end_time_us = 0;
  int64_t verified_time_us = 0;
  int64_t proven_time_us = 0;
  int64_t damaged_time_us = 0;
  // As the backup was begun. std::nullopt: a version that did not note them made the backup.
  std::optional<std::vector<v1::TableStatistics>> tables = std::nullopt;
};

// std::nullopt: there are no notes, they do not decode, or they are of another backup that had the number
// before.
std::optional<BackupNotes> ReadBackupNotes(rocksdb::Env* env, const std::string& backup_directory,
                                           const v1::DatabaseBackup& backup);
// UNAVAILABLE: the file system says so.
absl::Status WriteBackupNotes(rocksdb::Env* env, const std::string& backup_directory,
                              const v1::DatabaseBackup& backup, const BackupNotes& notes);
// Does nothing if there are none.
void DeleteBackupNotes(rocksdb::Env* env, const std::string& backup_directory, uint32_t backup_id);

}  // namespace itemdb::storage
