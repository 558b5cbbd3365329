// A folder with an export: its lock, and the names of the files in it.
//
//   itemdb-manifest.json         written last
//   itemdb-export.json           the state of an export that is not whole
//   data/00000001.json.gz, ...   the items
//   itemdb-import-TABLE.json     the state of an import that has not ended, and the lines that it left out
//   itemdb-import-TABLE-errors.jsonl
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/files/export_manifest.h"

namespace itemdb::tools {

inline constexpr char kDataFolder[] = "data";
inline constexpr char kExportStateName[] = "itemdb-export.json";

// Holds the lock. Movable.
class ExportFolder {
 public:
  // FAILED_PRECONDITION: `path` is no folder, cannot be read, or another itemctl uses it.
  static absl::StatusOr<ExportFolder> Lock(const std::string& path);
  // Makes the folder first if it does not exist.
  static absl::StatusOr<ExportFolder> CreateAndLock(const std::string& path);
  ~ExportFolder();
  ExportFolder(ExportFolder&& other) noexcept;
  ExportFolder& operator=(ExportFolder&&) = delete;

  const std::string& path() const { return path_; }
  std::string PathOf(std::string_view name) const { return path_ + "/" + std::string(name); }
  bool Has(std::string_view name) const;
  // An empty folder data/ and what was to become the first state do not count.
  bool IsEmpty() const;
  // Deletes the data files, also those that are not whole, that are not in `files`. FAILED_PRECONDITION, as
  // FileError.
  absl::Status RemoveOtherDataFiles(const std::vector<DataFile>& files) const;

 private:
  ExportFolder(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;
};

// "data/00000001.json.gz".
std::string DataFileName(size_t number, std::string_view suffix);

}  // namespace itemdb::tools
