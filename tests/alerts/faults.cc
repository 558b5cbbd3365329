// Loaded into itemd by LD_PRELOAD (alerts_test.py): makes its disk fail or slow while a file of that name
// exists in the folder $ALERT_FAULTS.
//
//   slow_syncs   each sync takes 0.4 s
//   held_syncs   each sync of another file than a write-ahead log waits until the file is gone
//   held_tables  each sync of a table file waits until the file is gone, so no memtable becomes one
//   failing_log  syncs of write-ahead logs fail
//   full_disk    the disk of the data has 1 MiB left
//   full_audit   writes to a file named audit.log fail
#include <dlfcn.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

namespace {

constexpr std::chrono::milliseconds kSlowSync(400);
constexpr std::chrono::milliseconds kHeldSyncLooks(10);
constexpr unsigned long kFreeBytes = 1 << 20;

bool IsOn(const char* fault) {
  const char* const folder = std::getenv("ALERT_FAULTS");
  return folder != nullptr && access((std::string(folder) + "/" + fault).c_str(), F_OK) == 0;
}

// Whether the name of the file behind `fd` ends with `end`.
bool IsNamed(int fd, std::string_view end) {
  char path[4096];
  const ssize_t length =
      readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), static_cast<char*>(path), sizeof(path));
  return length > 0 && std::string_view(static_cast<char*>(path), static_cast<size_t>(length)).ends_with(end);
}

// libc's own function.
template <typename Function>
Function* Real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool SyncFails(int fd) {
  if (IsOn("slow_syncs")) std::this_thread::sleep_for(kSlowSync);
  while (IsOn("held_tables") && IsNamed(fd, ".sst")) std::this_thread::sleep_for(kHeldSyncLooks);
  while (IsOn("held_syncs") && !IsNamed(fd, ".log")) std::this_thread::sleep_for(kHeldSyncLooks);
  return IsOn("failing_log") && IsNamed(fd, ".log");
}

int FailWith(int error) {
  errno = error;
  return -1;
}

bool WriteFails(int fd) { return IsOn("full_audit") && IsNamed(fd, "/audit.log"); }

template <typename Space>
int WithLittleSpace(int result, Space* space) {
  if (result == 0 && IsOn("full_disk")) space->f_bavail = space->f_bfree = kFreeBytes / space->f_frsize;
  return result;
}

}  // namespace

extern "C" {

int fdatasync(int fd) { return SyncFails(fd) ? FailWith(EIO) : Real(&fdatasync, "fdatasync")(fd); }

int fsync(int fd) { return SyncFails(fd) ? FailWith(EIO) : Real(&fsync, "fsync")(fd); }

int statvfs(const char* path, struct statvfs* space) {
  return WithLittleSpace(Real(&statvfs, "statvfs")(path, space), space);
}

int statvfs64(const char* path, struct statvfs64* space) {
  return WithLittleSpace(Real(&statvfs64, "statvfs64")(path, space), space);
}

ssize_t write(int fd, const void* bytes, size_t count) {
  return WriteFails(fd) ? FailWith(ENOSPC) : Real(&write, "write")(fd, bytes, count);
}

ssize_t writev(int fd, const struct iovec* parts, int count) {
  return WriteFails(fd) ? FailWith(ENOSPC) : Real(&writev, "writev")(fd, parts, count);
}

}  // extern "C"
