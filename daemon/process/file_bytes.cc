#include "daemon/process/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"
#include "daemon/process/descriptor.h"

namespace itemdb::daemon {
namespace {

absl::Status CannotRead(const std::string& path, const std::string& reason) {
  return absl::UnavailableError(absl::StrFormat("%s cannot be read: %s", path, reason));
}

// Reads the whole of an open file.
absl::StatusOr<std::string> ReadWhole(int fd, const std::string& path, size_t max_bytes) {
  std::string content;
  char chunk[16 << 10];
  ssize_t bytes = 0;
  while (content.size() <= max_bytes && (bytes = read(fd, chunk, sizeof(chunk))) > 0) {
    content.append(chunk, static_cast<size_t>(bytes));
  }
  if (bytes < 0) return CannotRead(path, std::strerror(errno));
  if (content.size() > max_bytes)
    return CannotRead(path, absl::StrFormat("it is longer than %d bytes", max_bytes));
  return content;
}

// O_NONBLOCK: opening a named pipe without a writer would block otherwise.
Descriptor Open(const std::string& path) {
  return Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

absl::Status CheckSecrecy(int fd, const std::string& path) {
  struct stat info = {};
  if (fstat(fd, &info) != 0) return CannotRead(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return absl::OkStatus();
  const bool given_to_group = info.st_uid == 0 && geteuid() != 0;
  const mode_t forbidden = given_to_group ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
  if ((info.st_mode & forbidden) == 0) return absl::OkStatus();
  return storage::ValidationError(absl::StrFormat(
      "%s holds secrets, and %s may use it (mode %04o): chmod %s %s", path,
      (info.st_mode & S_IRWXO) != 0 ? "everybody on this machine" : "the members of its group",
      info.st_mode & 07777, given_to_group ? "0640" : "0600", path));
}

}  // namespace

absl::StatusOr<std::string> ReadFileBytes(const std::string& path, size_t max_bytes) {
  const Descriptor file = Open(path);
  if (file.get() < 0) return CannotRead(path, std::strerror(errno));
  return ReadWhole(file.get(), path, max_bytes);
}

absl::StatusOr<std::string> ReadSecretFile(const std::string& path, size_t max_bytes) {
  const Descriptor file = Open(path);
  if (file.get() < 0) return CannotRead(path, std::strerror(errno));
  ITEMDB_RETURN_IF_ERROR(CheckSecrecy(file.get(), path));
  return ReadWhole(file.get(), path, max_bytes);
}

}  // namespace itemdb::daemon
