#include "storage/backup/backup_end.h"

#include <cinttypes>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "storage/store/durable_file.h"
#include "storage/store/store.h"

namespace itemdb::storage {
namespace {

std::string EndFolderOf(const std::string& backup_directory) { return backup_directory + "/ended"; }

std::string EndPathOf(const std::string& backup_directory, uint32_t backup_id) {
  return absl::StrCat(EndFolderOf(backup_directory), "/", backup_id);
}

}  // namespace

std::optional<int64_t> ReadBackupEnd(rocksdb::Env* env, const std::string& backup_directory,
                                     const v1::DatabaseBackup& backup) {
  std::string text;
  const std::string path = EndPathOf(backup_directory, backup.backup_id());
  if (!rocksdb::ReadFileToString(env, path, &text).ok()) return std::nullopt;
  int64_t begin_time_us = 0;
  int64_t end_time_us = 0;
  const int fields =
      std::sscanf(text.c_str(), "begun %" SCNd64 " ended %" SCNd64, &begin_time_us, &end_time_us);
  if (fields != 2 || begin_time_us != backup.begin_time_us() || end_time_us < begin_time_us)
    return std::nullopt;
  return end_time_us;
}

absl::Status WriteBackupEnd(rocksdb::Env* env, const std::string& backup_directory,
                            const v1::DatabaseBackup& backup, int64_t end_time_us) {
  rocksdb::Status written = env->CreateDirIfMissing(EndFolderOf(backup_directory));
  if (written.ok()) written = SyncDirectory(env, backup_directory);
  if (written.ok()) {
    written = ReplaceFile(env, EndPathOf(backup_directory, backup.backup_id()),
                          absl::StrFormat("begun %d ended %d\n", backup.begin_time_us(), end_time_us));
  }
  return written.ok() ? absl::OkStatus() : FromRocksDB("cannot note when a backup was done", written);
}

void DeleteBackupEnd(rocksdb::Env* env, const std::string& backup_directory, uint32_t backup_id) {
  (void)env->DeleteFile(EndPathOf(backup_directory, backup_id));
}

}  // namespace itemdb::storage
