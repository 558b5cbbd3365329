// A folder of the data directory into which a database is restored for a while.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "storage/base/status.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// A backup that is being proven, and the databases from which a table is restored to a point in time or
// exported, or changes are taken back.
inline constexpr char kProofFolder[] = "proof";
inline constexpr char kPointInTimeFolder[] = "point-in-time";
inline constexpr char kExportFolder[] = "export";
inline constexpr char kExportFromFolder[] = "export-from";
inline constexpr char kUndoFolder[] = "undo";

// Deletes the folder with all that is in it when it is destroyed. Does not make it.
class ScratchFolder {
 public:
  ScratchFolder(const Engine& engine, const char* name);
  // One that is somewhere else.
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

// Deletes the folders that a killed process has left.
void DeleteScratchFolders(const Engine& engine);

// RESOURCE_EXHAUSTED (DISK_FULL): a backup of `bytes` does not fit into the data directory above its
// free-space floor.
absl::Status CheckRoomToRestore(const Engine& engine, int64_t bytes);

}  // namespace itemdb::storage
