// Loaded into an itemd by LD_PRELOAD (graduate_faults_test.py):
//
//   TARGET_FAULTS=FOLDER      its disk has 1 MiB left while FOLDER has a file full_disk, or as many as that
//   says TARGET_CLOCK_SECONDS=N    its clock is N seconds ahead
#include <dlfcn.h>
#include <sys/statvfs.h>
#include <time.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace {

constexpr unsigned long kMebibyte = 1 << 20;

// libc's own function.
template <typename Function>
Function* Real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <typename Space>
int WithLittleSpace(int result, Space* space) {
  const char* const folder = std::getenv("TARGET_FAULTS");
  if (result != 0 || folder == nullptr) return result;
  std::ifstream file(std::string(folder) + "/full_disk");
  unsigned long mebibytes = 1;
  if (!file.is_open()) return result;
  file >> mebibytes;
  if (mebibytes == 0) mebibytes = 1;  // It says nothing.
  space->f_bavail = space->f_bfree = mebibytes * kMebibyte / space->f_frsize;
  return result;
}

time_t SecondsAhead() {
  const char* const given = std::getenv("TARGET_CLOCK_SECONDS");
  return given == nullptr ? 0 : std::atol(given);
}

}  // namespace

extern "C" {

int statvfs(const char* path, struct statvfs* space) {
  return WithLittleSpace(Real(&statvfs, "statvfs")(path, space), space);
}

int statvfs64(const char* path, struct statvfs64* space) {
  return WithLittleSpace(Real(&statvfs64, "statvfs64")(path, space), space);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  static const auto kReal = Real(&clock_gettime, "clock_gettime");
  static const time_t kAhead = SecondsAhead();
  const int result = kReal(clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += kAhead;
  return result;
}

}  // extern "C"
