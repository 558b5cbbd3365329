#include "storage/engine/ballast.h"

#include <fcntl.h>
#include <unistd.h>

namespace itemdb::storage {
namespace {

constexpr size_t kBallastBytes = 32 << 20;

std::string BallastPath(const std::string& directory) { return directory + "/BALLAST"; }

}  // namespace

absl::StatusOr<std::shared_ptr<Store>> OpenWithBallast(const std::string& directory,
                                                       const StoreOptions& options) {
  absl::StatusOr<std::shared_ptr<Store>> store = Store::Open(options);
  if (store.ok() || !absl::IsResourceExhausted(store.status())) return store;
  (void)DeleteBallast(options.env, directory);
  return Store::Open(options);
}

void EnsureBallast(rocksdb::Env* env, const std::string& directory) {
  const std::string path = BallastPath(directory);
  uint64_t free_bytes = 0;
  if (env->FileExists(path).ok() || !env->GetFreeSpace(directory, &free_bytes).ok() ||
      free_bytes < 8 * kBallastBytes)
    return;
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return;
  // Reserves blocks without writing them, where the file system can.
  (void)posix_fallocate(file, 0, kBallastBytes);
  close(file);
}

bool DeleteBallast(rocksdb::Env* env, const std::string& directory) {
  return env->DeleteFile(BallastPath(directory)).ok();
}

uint64_t BallastBytes(rocksdb::Env* env, const std::string& directory) {
  uint64_t bytes = 0;
  return env->GetFileSize(BallastPath(directory), &bytes).ok() ? bytes : 0;
}

}  // namespace itemdb::storage
