#include "tools/files/export_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/durable_file.h"

namespace itemdb::tools {

absl::StatusOr<ExportFolder> ExportFolder::Lock(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return FileError("open the folder", path);
  ExportFolder folder(path, descriptor);
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return folder;
  if (errno == EWOULDBLOCK) return absl::FailedPreconditionError("another itemctl uses the folder " + path);
  return FileError("lock the folder", path);
}

absl::StatusOr<ExportFolder> ExportFolder::CreateAndLock(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return absl::FailedPreconditionError("cannot make the folder " + path + ": " + error.message());
  return Lock(path);
}

ExportFolder::~ExportFolder() {
  if (descriptor_ >= 0) close(descriptor_);
}

ExportFolder::ExportFolder(ExportFolder&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

bool ExportFolder::Has(std::string_view name) const {
  std::error_code error;
  return std::filesystem::exists(PathOf(name), error);
}

bool ExportFolder::IsEmpty() const {
  std::error_code error;
  return std::filesystem::is_empty(path_, error);
}

std::string DataFileName(size_t number, std::string_view suffix) {
  return absl::StrFormat("%s/%08d%s", kDataFolder, number, std::string(suffix));
}

}  // namespace itemdb::tools
