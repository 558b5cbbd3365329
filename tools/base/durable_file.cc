#include "tools/base/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "common/status_macros.h"

namespace itemdb::tools {

absl::Status FileError(std::string_view doing, std::string_view path) {
  return absl::FailedPreconditionError(
      std::string("cannot ").append(doing).append(" ").append(path).append(": ").append(
          std::strerror(errno)));
}

absl::StatusOr<std::optional<std::string>> ReadFileIfExists(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open() && errno == ENOENT) return std::nullopt;
  if (!file.is_open()) return FileError("read", path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

absl::Status WriteAll(int descriptor, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return FileError("write", path);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status SyncFolder(const std::string& folder) {
  const std::string path = folder.empty() ? "." : folder;
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return FileError("open", path);
  const absl::Status synced = fsync(descriptor) == 0 ? absl::OkStatus() : FileError("sync", path);
  close(descriptor);
  return synced;
}

absl::Status CheckCanReplaceFile(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    errno = EISDIR;
    return FileError("replace", path);
  }
  const std::string next = path + ".new";
  const int descriptor = open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return FileError("write", next);
  const absl::Status written = WriteAll(descriptor, "{}", next);
  close(descriptor);
  std::remove(next.c_str());
  return written;
}

absl::Status ReplaceFile(const std::string& path, std::string_view text, unsigned int mode) {
  const std::string next = path + ".new";
  const int descriptor = open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (descriptor < 0) return FileError("write", next);
  absl::Status written = WriteAll(descriptor, text, next);
  if (written.ok() && fsync(descriptor) != 0) written = FileError("write", next);
  close(descriptor);
  ITEMDB_RETURN_IF_ERROR(written);
  if (std::rename(next.c_str(), path.c_str()) != 0) return FileError("replace", path);
  return SyncFolder(std::filesystem::path(path).parent_path().string());
}

}  // namespace itemdb::tools
