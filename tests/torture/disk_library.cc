// libtorture_disk.so: loaded into itemd with LD_PRELOAD, it stands between the daemon and libc's file and
// clock functions. DiskControl says which operations fail, how much space is left, when the power fails and
// what time it is.
//
// As in PowerLossFileSystem, every changing operation below the data directory runs under one mutex, so that
// the records of unsynced_state.h agree with the directory; no real sync is made. Files of RocksDB's
// information log, and LOCK, are passed through.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>

#include "tests/support/unsynced_state.h"
#include "tests/torture/disk_control.h"

namespace itemdb::torture {
namespace {

using testing::UnsyncedFile;
using testing::UnsyncedState;

// The function that this library stands before.
template <typename Function>
Function* Next(const char* name, const char* version = nullptr) {
  void* found = version == nullptr ? nullptr : dlvsym(RTLD_NEXT, name, version);
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  return reinterpret_cast<Function*>(found);
}

#define NEXT(name)                                           \
  (*[] {                                                     \
    static auto* const next = Next<decltype(::name)>(#name); \
    return next;                                             \
  }())

// Set while this thread runs code of this library, whose own calls are passed through.
thread_local bool inside = false;
class Inside {
 public:
  Inside() { inside = true; }
  ~Inside() { inside = false; }
};

struct Handle {
  std::string path;
  // Null: a directory.
  std::shared_ptr<UnsyncedFile> file;
  uint64_t offset = 0;
};

// Never destroyed: threads of the daemon run until its very end.
class Disk {
 public:
  // Null: this process is not to be tortured.
  static Disk* Get() {
    static Disk* const disk = Make();
    return disk;
  }

  DiskControl& control() { return *control_; }

  // The normal form of `path` if it is recorded; otherwise empty.
  std::string Recorded(const char* path) const {
    std::string normal = std::filesystem::path(path).lexically_normal().string();
    if (!normal.empty() && normal.back() == '/') normal.pop_back();
    if (normal != root_ && !normal.starts_with(root_ + "/")) return "";
    const std::string name = normal.substr(normal.rfind('/') + 1);
    return name == "LOCK" || name.starts_with("LOG") ? "" : normal;
  }

  std::mutex& mutex() { return mutex_; }
  UnsyncedState& state() { return state_; }

  Handle* Find(int descriptor) {
    const auto handle = handles_.find(descriptor);
    return handle == handles_.end() ? nullptr : &handle->second;
  }
  void Add(int descriptor, Handle handle) { handles_[descriptor] = std::move(handle); }
  void Remove(int descriptor) { handles_.erase(descriptor); }
  // What is written through a descriptor of a file that was deleted or replaced cannot be lost.
  void Deleted(const std::string& path) {
    std::erase_if(handles_, [&path](const auto& handle) { return handle.second.path == path; });
  }
  // A spare log gets its name while it is open.
  void Renamed(const std::string& from, const std::string& to) {
    Deleted(to);
    for (auto& [descriptor, handle] : handles_)
      if (handle.path == from) handle.path = to;
  }

  // Counts a changing operation; does not return when the power fails.
  void Count() {
    const uint64_t number = control_->operations.fetch_add(1) + 1;
    const uint64_t cut_at = control_->cut_at;
    if (cut_at != 0 && number >= cut_at) CutPower();
  }
  // Counts, and returns the error that the operation shall have, or 0.
  int Admit(DiskOperation operation, const std::string& path) {
    Count();
    return TakeFault(operation, path);
  }

  // -1: no fault. 0: a short write. Otherwise an error.
  int FaultOf(DiskOperation operation, const std::string& path) {
    if ((control_->fault_operations & operation) == 0 || control_->faults_left == 0) return -1;
    if ((control_->fault_files & KindOf(path)) == 0) return -1;
    const uint32_t one_in = control_->fault_one_in;
    std::minstd_rand random(static_cast<uint32_t>(control_->fault_random.fetch_add(7919)));
    random.discard(3);
    if (one_in > 1 && random() % one_in != 0) return -1;
    if (control_->faults_left > 0) --control_->faults_left;
    ++control_->faults_injected;
    return control_->fault_errno;
  }
  int TakeFault(DiskOperation operation, const std::string& path) {
    return std::max(0, FaultOf(operation, path));
  }

  // Takes up to `bytes` of the space that is left. Returns how many there were.
  uint64_t TakeSpace(uint64_t bytes) {
    int64_t left = control_->free_bytes;
    if (left < 0) return bytes;
    const uint64_t taken = std::min<uint64_t>(bytes, static_cast<uint64_t>(left));
    control_->free_bytes = left - static_cast<int64_t>(taken);
    return taken;
  }
  void GiveSpace(uint64_t bytes) {
    if (control_->free_bytes >= 0) control_->free_bytes += static_cast<int64_t>(bytes);
  }

  static DiskFile KindOf(const std::string& path) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name.ends_with(".log")) return kLogFile;
    if (name.ends_with(".sst")) return kTableFile;
    if (name.starts_with("MANIFEST") || name.starts_with("CURRENT") || name.ends_with(".dbtmp"))
      return kManifestFile;
    if (name.starts_with("WATERMARK")) return kWatermarkFile;
    if (path.find("/builds/") != std::string::npos) return kBuildFile;
    return kOtherFile;
  }

 private:
  Disk(std::string root, DiskControl* control) : root_(std::move(root)), control_(control), state_(root_) {}

  static Disk* Make() {
    const char* file = getenv(kControlVariable);
    const char* root = getenv(kRootVariable);
    if (file == nullptr || root == nullptr) return nullptr;
    const Inside guard;
    const int descriptor = NEXT(open)(file, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) abort();
    void* mapped = mmap(nullptr, sizeof(DiskControl), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED) abort();
    NEXT(close)(descriptor);
    return new Disk(root, static_cast<DiskControl*>(mapped));
  }

  [[noreturn]] void CutPower() {
    std::mt19937_64 random(control_->cut_seed);
    const testing::PowerLossReport report = state_.DropUnsynced(
        random, control_->cut_any_sectors != 0 ? testing::LostBytes::kAnySectors : testing::LostBytes::kEnd);
    control_->lost_bytes = report.lost_bytes;
    control_->undone_overwrites = static_cast<uint64_t>(report.undone_overwrites);
    control_->undone_entries = static_cast<uint64_t>(report.undone_entries);
    control_->cut_done = 1;
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }

  const std::string root_;
  DiskControl* const control_;
  std::mutex mutex_;
  UnsyncedState state_;
  std::map<int, Handle> handles_;
};

// Null while this thread is inside the library, and in processes that are not to be tortured.
Disk* Outside() { return inside ? nullptr : Disk::Get(); }

int Fail(int error) {
  errno = error;
  return -1;
}

uint64_t SizeOf(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

// Both kinds of write. `at` null: at the offset of the descriptor.
ssize_t Write(Disk& disk, Handle& handle, int descriptor, const void* bytes, size_t count, const off_t* at) {
  const uint64_t offset = at != nullptr ? static_cast<uint64_t>(*at) : handle.offset;
  const int fault = disk.FaultOf(kWrite, handle.path);
  size_t length = fault >= 0 ? count / 2 : count;
  const uint64_t end = offset + length;
  const uint64_t growth = end > handle.file->size ? end - handle.file->size : 0;
  const uint64_t taken = disk.TakeSpace(growth);
  length -= growth - taken;
  if (length > 0) {
    disk.state().BeforeOverwrite(handle.path, offset, length);
    const ssize_t written =
        at != nullptr ? NEXT(pwrite)(descriptor, bytes, length, *at) : NEXT(write)(descriptor, bytes, length);
    if (written < 0) return written;
    handle.file->size = std::max(handle.file->size, offset + static_cast<uint64_t>(written));
    if (at == nullptr) handle.offset = offset + static_cast<uint64_t>(written);
    length = static_cast<size_t>(written);
  }
  if (fault > 0) return Fail(fault);
  if (length == 0 && count > 0) {
    if (taken < growth) return Fail(ENOSPC);
    return Fail(EINTR);  // A short write of one byte.
  }
  return static_cast<ssize_t>(length);
}

int Sync(int descriptor) {
  Disk* const disk = Outside();
  if (disk == nullptr) return NEXT(fsync)(descriptor);
  const Inside guard;
  const uint32_t pause_us = disk->control().sync_microseconds;
  {
    std::lock_guard<std::mutex> lock(disk->mutex());
    Handle* const handle = disk->Find(descriptor);
    if (handle == nullptr) return NEXT(fsync)(descriptor);
    if (handle->file == nullptr) {
      if (const int fault = disk->Admit(kSyncDirectory, handle->path)) return Fail(fault);
      disk->state().SyncDirectory(handle->path);
    } else {
      if (const int fault = disk->Admit(kSync, handle->path)) {
        handle->file->sync_failed = true;
        return Fail(fault);
      }
      disk->state().SyncFile(handle->file);
    }
  }
  if (pause_us > 0) usleep(pause_us);
  return 0;
}

timespec Unshifted(timespec time) {
  Disk* const disk = Disk::Get();
  // Times of the monotonic clock are much smaller.
  constexpr time_t kLeastWallTime = 1'000'000'000;
  if (disk != nullptr && time.tv_sec > kLeastWallTime) time.tv_sec -= disk->control().clock_shift_seconds;
  return time;
}

}  // namespace
}  // namespace itemdb::torture

using namespace itemdb::torture;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  Disk* const disk = Outside();
  if (disk == nullptr) return NEXT(open)(path, flags, mode);
  const Inside guard;
  const std::string recorded = disk->Recorded(path);
  if (recorded.empty()) return NEXT(open)(path, flags, mode);
  std::lock_guard<std::mutex> lock(disk->mutex());
  struct stat status;
  const bool exists = stat(path, &status) == 0;
  const bool directory = exists && S_ISDIR(status.st_mode);
  if ((flags & O_ACCMODE) != O_RDONLY && !directory) {
    if (const int fault = disk->Admit(kCreate, recorded)) return Fail(fault);
    if (exists && (flags & O_TRUNC) != 0) {
      disk->GiveSpace(SizeOf(recorded));
      disk->state().BeforeTruncate(recorded, 0);
    }
  }
  const int descriptor = NEXT(open)(path, flags, mode);
  if (descriptor < 0) return descriptor;
  Handle handle = {.path = recorded, .file = nullptr};
  if (!directory) {
    handle.file = exists ? disk->state().Find(recorded) : disk->state().CreateFile(recorded);
    if ((flags & O_APPEND) != 0) handle.offset = handle.file->size;
  }
  disk->Add(descriptor, std::move(handle));
  return descriptor;
}

int close(int descriptor) {
  if (Disk* const disk = Outside(); disk != nullptr) {
    const Inside guard;
    std::lock_guard<std::mutex> lock(disk->mutex());
    disk->Remove(descriptor);
    return NEXT(close)(descriptor);
  }
  return NEXT(close)(descriptor);
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  Disk* const disk = Outside();
  if (disk == nullptr) return NEXT(write)(descriptor, bytes, count);
  {
    const Inside guard;
    std::lock_guard<std::mutex> lock(disk->mutex());
    if (Handle* const handle = disk->Find(descriptor); handle != nullptr && handle->file != nullptr) {
      disk->Count();
      return Write(*disk, *handle, descriptor, bytes, count, nullptr);
    }
  }
  return NEXT(write)(descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  Disk* const disk = Outside();
  if (disk == nullptr) return NEXT(pwrite)(descriptor, bytes, count, offset);
  const Inside guard;
  std::lock_guard<std::mutex> lock(disk->mutex());
  Handle* const handle = disk->Find(descriptor);
  if (handle == nullptr || handle->file == nullptr) return NEXT(pwrite)(descriptor, bytes, count, offset);
  disk->Count();
  return Write(*disk, *handle, descriptor, bytes, count, &offset);
}

ssize_t pread(int descriptor, void* bytes, size_t count, off_t offset) {
  Disk* const disk = Outside();
  if (disk != nullptr && (disk->control().fault_operations & kRead) != 0) {
    const Inside guard;
    std::lock_guard<std::mutex> lock(disk->mutex());
    if (Handle* const handle = disk->Find(descriptor)) {
      if (const int fault = disk->TakeFault(kRead, handle->path)) return Fail(fault);
    }
  }
  return NEXT(pread)(descriptor, bytes, count, offset);
}

int fsync(int descriptor) { return Sync(descriptor); }
int fdatasync(int descriptor) { return Sync(descriptor); }
// An error here ends a process with the RocksDB that Debian packages, so itemd must never ask for it. RocksDB
// tries it without flags, which does nothing, for each file.
int sync_file_range(int, off64_t, off64_t, unsigned flags) { return flags == 0 ? 0 : Fail(EIO); }

int ftruncate(int descriptor, off_t length) noexcept {
  Disk* const disk = Outside();
  if (disk == nullptr) return NEXT(ftruncate)(descriptor, length);
  const Inside guard;
  std::lock_guard<std::mutex> lock(disk->mutex());
  Handle* const handle = disk->Find(descriptor);
  if (handle == nullptr || handle->file == nullptr) return NEXT(ftruncate)(descriptor, length);
  if (const int fault = disk->Admit(kWrite, handle->path)) return Fail(fault);
  const uint64_t before = handle->file->size;
  const uint64_t after = static_cast<uint64_t>(length);
  disk->state().BeforeTruncate(handle->path, after);
  if (after < before) disk->GiveSpace(before - after);
  return NEXT(ftruncate)(descriptor, length);
}

int posix_fallocate(int descriptor, off_t offset, off_t length) {
  Disk* const disk = Outside();
  if (disk == nullptr) return NEXT(posix_fallocate)(descriptor, offset, length);
  const Inside guard;
  std::lock_guard<std::mutex> lock(disk->mutex());
  Handle* const handle = disk->Find(descriptor);
  if (handle == nullptr || handle->file == nullptr) return NEXT(posix_fallocate)(descriptor, offset, length);
  if (const int fault = disk->Admit(kWrite, handle->path)) return fault;
  const uint64_t end = static_cast<uint64_t>(offset + length);
  if (end > handle->file->size) {
    const uint64_t growth = end - handle->file->size;
    if (const uint64_t taken = disk->TakeSpace(growth); taken < growth) return disk->GiveSpace(taken), ENOSPC;
    disk->state().BeforeTruncate(handle->path, end);
    // A sparse file will do.
    return NEXT(ftruncate)(descriptor, static_cast<off_t>(end)) == 0 ? 0 : errno;
  }
  return 0;
}

int rename(const char* from, const char* to) noexcept {
  Disk* const disk = Outside();
  if (disk == nullptr) return NEXT(rename)(from, to);
  const Inside guard;
  const std::string old_path = disk->Recorded(from);
  const std::string new_path = disk->Recorded(to);
  if (old_path.empty() || new_path.empty()) return NEXT(rename)(from, to);
  std::lock_guard<std::mutex> lock(disk->mutex());
  if (const int fault = disk->Admit(kRename, new_path)) return Fail(fault);
  const std::string kept = disk->state().KeepAside(new_path);
  const uint64_t replaced = kept.empty() ? 0 : SizeOf(new_path);
  if (NEXT(rename)(from, to) != 0) return -1;
  disk->GiveSpace(replaced);
  disk->state().RenameFile(old_path, new_path, kept);
  disk->Renamed(old_path, new_path);
  return 0;
}

int unlink(const char* path) noexcept {
  Disk* const disk = Outside();
  if (disk == nullptr) return NEXT(unlink)(path);
  const Inside guard;
  const std::string recorded = disk->Recorded(path);
  if (recorded.empty()) return NEXT(unlink)(path);
  std::lock_guard<std::mutex> lock(disk->mutex());
  if (const int fault = disk->Admit(kUnlink, recorded)) return Fail(fault);
  const std::string kept = disk->state().KeepAside(recorded);
  if (kept.empty()) return NEXT(unlink)(path);
  const uint64_t bytes = SizeOf(recorded);
  if (NEXT(unlink)(path) != 0) return -1;
  disk->GiveSpace(bytes);
  disk->state().DeleteFile(recorded, kept);
  disk->Deleted(recorded);
  return 0;
}

int link(const char* from, const char* to) noexcept {
  Disk* const disk = Outside();
  if (disk == nullptr) return NEXT(link)(from, to);
  const Inside guard;
  const std::string old_path = disk->Recorded(from);
  const std::string new_path = disk->Recorded(to);
  if (old_path.empty() || new_path.empty()) return NEXT(link)(from, to);
  std::lock_guard<std::mutex> lock(disk->mutex());
  if (const int fault = disk->Admit(kCreate, new_path)) return Fail(fault);
  if (NEXT(link)(from, to) != 0) return -1;
  disk->state().LinkFile(old_path, new_path);
  return 0;
}

int mkdir(const char* path, mode_t mode) noexcept {
  Disk* const disk = Outside();
  if (disk == nullptr) return NEXT(mkdir)(path, mode);
  const Inside guard;
  const std::string recorded = disk->Recorded(path);
  if (recorded.empty()) return NEXT(mkdir)(path, mode);
  std::lock_guard<std::mutex> lock(disk->mutex());
  if (const int fault = disk->Admit(kCreate, recorded)) return Fail(fault);
  if (NEXT(mkdir)(path, mode) != 0) return -1;
  disk->state().CreateDirectory(recorded);
  return 0;
}

int rmdir(const char* path) noexcept {
  Disk* const disk = Outside();
  if (disk == nullptr) return NEXT(rmdir)(path);
  const Inside guard;
  const std::string recorded = disk->Recorded(path);
  if (recorded.empty()) return NEXT(rmdir)(path);
  std::lock_guard<std::mutex> lock(disk->mutex());
  if (const int fault = disk->Admit(kUnlink, recorded)) return Fail(fault);
  if (NEXT(rmdir)(path) != 0) return -1;
  disk->state().DeleteDirectory(recorded);
  return 0;
}

int statvfs(const char* path, struct statvfs* status) noexcept {
  const int result = NEXT(statvfs)(path, status);
  Disk* const disk = Outside();
  if (result == 0 && disk != nullptr && disk->control().free_bytes >= 0)
    status->f_bavail = status->f_bfree = static_cast<uint64_t>(disk->control().free_bytes) / status->f_frsize;
  return result;
}

// ---- the clock -----------------------------------------------------------------------------------

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const int result = NEXT(clock_gettime)(clock, time);
  if (result == 0 && !inside && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    if (Disk* const disk = Disk::Get()) time->tv_sec += disk->control().clock_shift_seconds;
  }
  return result;
}

int gettimeofday(timeval* time, void* zone) noexcept {
  const int result = NEXT(gettimeofday)(time, zone);
  if (Disk* const disk = Outside(); result == 0 && disk != nullptr)
    time->tv_sec += disk->control().clock_shift_seconds;
  return result;
}

time_t time(time_t* result) noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != nullptr) *result = now.tv_sec;
  return now.tv_sec;
}

// Waits until a time on the wall clock: the kernel does not know of the shift.
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* end) {
  static auto* const next = Next<decltype(pthread_cond_timedwait)>("pthread_cond_timedwait", "GLIBC_2.3.2");
  const timespec real_end = Unshifted(*end);
  return next(condition, mutex, &real_end);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* end) {
  const timespec real_end = clock == CLOCK_REALTIME ? Unshifted(*end) : *end;
  return NEXT(pthread_cond_clockwait)(condition, mutex, clock, &real_end);
}

long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  timespec real_end;
  if (number == SYS_futex && (arguments[1] & FUTEX_CLOCK_REALTIME) != 0 && arguments[3] != 0) {
    real_end = Unshifted(*reinterpret_cast<const timespec*>(arguments[3]));
    arguments[3] = reinterpret_cast<long>(&real_end);
  }
  return NEXT(syscall)(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                       arguments[5]);
}

}  // extern "C"
