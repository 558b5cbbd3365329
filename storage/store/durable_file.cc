#include "storage/store/durable_file.h"

#include <filesystem>
#include <memory>

namespace itemdb::storage {

rocksdb::Status SyncDirectory(rocksdb::Env* env, const std::string& directory) {
  std::unique_ptr<rocksdb::Directory> handle;
  const rocksdb::Status status = env->NewDirectory(directory, &handle);
  return status.ok() ? handle->Fsync() : status;
}

rocksdb::Status ReplaceFile(rocksdb::Env* env, const std::string& path, const std::string& contents) {
  const std::string next = path + ".next";
  rocksdb::Status status = rocksdb::WriteStringToFile(env, contents, next, /*should_sync=*/true);
  if (status.ok()) status = env->RenameFile(next, path);
  if (status.ok()) status = SyncDirectory(env, std::filesystem::path(path).parent_path());
  return status;
}

}  // namespace itemdb::storage
