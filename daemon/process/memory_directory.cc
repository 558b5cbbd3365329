#include "daemon/process/memory_directory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_format.h"

namespace itemdb::daemon {
namespace {

namespace fs = std::filesystem;

absl::Status CannotMake(const std::string& parent, std::string_view why) {
  return absl::UnavailableError(
      absl::StrFormat("--in-memory: %s %s; --data-dir DIR instead keeps the database on disk", parent, why));
}

std::string NameBegin() { return absl::StrFormat("itemd-in-memory-%d-", geteuid()); }

absl::Status CheckParent(const std::string& parent) {
  struct statfs info = {};
  if (statfs(parent.c_str(), &info) != 0)
    return CannotMake(parent, absl::StrFormat("cannot be used: %s", std::strerror(errno)));
  if (info.f_type != TMPFS_MAGIC && info.f_type != RAMFS_MAGIC)
    return CannotMake(parent, "is not a file system in memory (tmpfs)");
  const uint64_t free_bytes = info.f_bavail * static_cast<uint64_t>(info.f_bsize);
  if (info.f_type == TMPFS_MAGIC && info.f_blocks != 0 && free_bytes < MemoryDirectory::kMinFreeBytes) {
    return CannotMake(parent,
                      absl::StrFormat("has %d MiB free and %d MiB are needed (a container gets more with "
                                      "docker run --shm-size=2g)",
                                      free_bytes >> 20, MemoryDirectory::kMinFreeBytes >> 20));
  }
  return absl::OkStatus();
}

// Opens the directory `path` and locks it; none if another process has locked it, or if it is not there.
Descriptor Lock(const std::string& path) {
  Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory.get() < 0 || flock(directory.get(), LOCK_EX | LOCK_NB) != 0) return Descriptor();
  // Another process may have removed it before it was locked.
  struct stat locked = {}, named = {};
  const bool is_same = fstat(directory.get(), &locked) == 0 && lstat(path.c_str(), &named) == 0 &&
                       locked.st_ino == named.st_ino && locked.st_uid == geteuid();
  return is_same ? std::move(directory) : Descriptor();
}

// Removes the directories of this user whose processes have ended.
void RemoveAbandoned(const std::string& parent) {
  std::error_code ignored;
  for (fs::directory_iterator at(parent, ignored), end; at != end; at.increment(ignored)) {
    if (!at->path().filename().string().starts_with(NameBegin())) continue;
    const Descriptor lock = Lock(at->path().string());
    if (lock.get() < 0) continue;
    std::error_code stays;
    fs::remove_all(at->path(), stays);
  }
}

}  // namespace

absl::StatusOr<MemoryDirectory> MemoryDirectory::Make(const std::string& parent) {
  ITEMDB_RETURN_IF_ERROR(CheckParent(parent));
  RemoveAbandoned(parent);
  // Another process that is starting too may take a directory that is not locked yet for an abandoned one.
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string path = parent + "/" + NameBegin() + "XXXXXX";
    if (mkdtemp(path.data()) == nullptr)
      return CannotMake(parent, absl::StrFormat("cannot be written: %s", std::strerror(errno)));
    if (Descriptor lock = Lock(path); lock.get() >= 0) return MemoryDirectory(path, std::move(lock));
  }
  return CannotMake(parent, "has no directory of ours for long: other processes remove them");
}

MemoryDirectory::~MemoryDirectory() {
  if (lock_.get() < 0) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace itemdb::daemon
