#include "storage/engine/ballast.h"

#include <fcntl.h>
#include <unistd.h>

namespace itemdb::storage {
namespace {

constexpr char kBallastFileName[] = "BALLAST";
constexpr size_t kBallastBytes = 32 << 20;

}  // namespace

absl::StatusOr<std::shared_ptr<Store>> OpenWithBallast(const std::string& directory,
                                                       const StoreOptions& options) {
  absl::StatusOr<std::shared_ptr<Store>> store = Store::Open(options);
  if (store.ok() || !absl::IsResourceExhausted(store.status())) return store;
  DeleteBallast(options.env, directory);
  return Store::Open(options);
}

void DeleteBallast(rocksdb::Env* env, const std::string& directory) {
  (void)env->DeleteFile(directory + "/" + kBallastFileName);
}

void EnsureBallast(rocksdb::Env* env, const std::string& directory) {
  std::string path = directory + "/" + kBallastFileName;
  uint64_t free_bytes = 0;
  if (env->FileExists(path).ok() || !env->GetFreeSpace(directory, &free_bytes).ok() ||
      free_bytes < 8 * kBallastBytes)
    return;
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) return;
  // Reserves blocks without writing them, where the file system can.
  (void)posix_fallocate(file, 0, kBallastBytes);
  close(file);
}

}  // namespace itemdb::storage
