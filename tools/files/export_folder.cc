#include "tools/files/export_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/durable_file.h"

namespace itemdb::tools {
namespace {

// "00000001.json.gz", also with ".partial" behind it.
bool IsNameOfDataFile(std::string_view name) {
  if (name.ends_with(".partial")) name.remove_suffix(std::string_view(".partial").size());
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  if (digits < 8) return false;
  name.remove_prefix(digits);
  for (const ItemFormat format : {ItemFormat::kDynamoDbJson, ItemFormat::kJson, ItemFormat::kCsv})
    if (name == SuffixOf(format, CompressionOfFile(name))) return true;
  return false;
}

}  // namespace

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
  std::filesystem::directory_iterator entries(path_, error);
  for (const std::filesystem::directory_iterator end; !error && entries != end; entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (name == std::string(kExportStateName) + ".new") continue;
    std::error_code ignored;
    if (name != kDataFolder || !std::filesystem::is_empty(entries->path(), ignored)) return false;
  }
  return !error;
}

absl::Status ExportFolder::RemoveOtherDataFiles(const std::vector<DataFile>& files) const {
  const std::string data = PathOf(kDataFolder);
  std::set<std::string> kept;
  for (const DataFile& file : files) kept.insert(file.key);
  std::vector<std::string> others;
  std::error_code error;
  std::filesystem::directory_iterator entries(data, error);
  for (const std::filesystem::directory_iterator end; !error && entries != end; entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (IsNameOfDataFile(name) && !kept.contains(std::string(kDataFolder) + "/" + name))
      others.push_back(data + "/" + name);
  }
  if (error == std::errc::no_such_file_or_directory) return absl::OkStatus();
  if (error) return absl::FailedPreconditionError("cannot list " + data + ": " + error.message());
  for (const std::string& path : others)
    if (std::remove(path.c_str()) != 0) return FileError("delete", path);
  return SyncFolder(data);
}

std::string DataFileName(size_t number, std::string_view suffix) {
  return absl::StrFormat("%s/%08d%s", kDataFolder, number, std::string(suffix));
}

}  // namespace itemdb::tools
