#include "daemon/process/file_bytes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"

namespace itemdb::daemon {
namespace {

absl::Status CannotRead(const std::string& path, const std::string& reason) {
  return absl::UnavailableError(absl::StrFormat("%s cannot be read: %s", path, reason));
}

}  // namespace

absl::StatusOr<std::string> ReadFileBytes(const std::string& path, size_t max_bytes) {
  // O_NONBLOCK: opening a named pipe without a writer would block otherwise.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return CannotRead(path, std::strerror(errno));
  std::string content;
  char chunk[16 << 10];
  ssize_t bytes = 0;
  while (content.size() <= max_bytes && (bytes = read(fd, chunk, sizeof(chunk))) > 0) {
    content.append(chunk, static_cast<size_t>(bytes));
  }
  int error = errno;
  close(fd);
  if (bytes < 0) return CannotRead(path, std::strerror(error));
  if (content.size() > max_bytes)
    return CannotRead(path, absl::StrFormat("it is longer than %d bytes", max_bytes));
  return content;
}

}  // namespace itemdb::daemon
