// Loaded into itemd by LD_PRELOAD (alerts_test.py): makes its disk fail or slow while a file of that name exists in
// the folder $ALERT_FAULTS.
//
//   slow_syncs   each sync takes 0.4 s
//   failing_log  syncs of write-ahead logs fail
//   full_disk    the disk of the data has 1 MiB left
//   full_audit   writes to a file named audit.log fail
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_on(const char* fault) {
  char path[4096];
  const char* folder = getenv("ALERT_FAULTS");
  if (folder == NULL) return 0;
  snprintf(path, sizeof path, "%s/%s", folder, fault);
  return access(path, F_OK) == 0;
}

// Whether the name of the file behind `fd` ends with `end`.
static int is_named(int fd, const char* end) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path);
  const size_t end_length = strlen(end);
  return length > (ssize_t)end_length && memcmp(path + length - end_length, end, end_length) == 0;
}

static int sync_fault(int fd) {
  if (is_on("slow_syncs")) usleep(400000);
  return is_on("failing_log") && is_named(fd, ".log");
}

int fdatasync(int fd) {
  if (sync_fault(fd)) return errno = EIO, -1;
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}

int fsync(int fd) {
  if (sync_fault(fd)) return errno = EIO, -1;
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

static int statvfs_of(const char* name, const char* path, struct statvfs* out) {
  const int result = ((int (*)(const char*, struct statvfs*))dlsym(RTLD_NEXT, name))(path, out);
  if (result == 0 && is_on("full_disk")) out->f_bavail = out->f_bfree = (1 << 20) / out->f_frsize;
  return result;
}

int statvfs(const char* path, struct statvfs* out) { return statvfs_of("statvfs", path, out); }
int statvfs64(const char* path, struct statvfs64* out) {
  return statvfs_of("statvfs64", path, (struct statvfs*)out);
}

ssize_t write(int fd, const void* bytes, size_t count) {
  if (is_on("full_audit") && is_named(fd, "/audit.log")) return errno = ENOSPC, -1;
  return ((ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write"))(fd, bytes, count);
}

ssize_t writev(int fd, const struct iovec* parts, int count) {
  if (is_on("full_audit") && is_named(fd, "/audit.log")) return errno = ENOSPC, -1;
  return ((ssize_t(*)(int, const struct iovec*, int))dlsym(RTLD_NEXT, "writev"))(fd, parts, count);
}
