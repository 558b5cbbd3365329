#include "storage/scratch_folder.h"

#include <filesystem>

#include "absl/strings/str_cat.h"

namespace itemdb::storage {

ScratchFolder::ScratchFolder(const Engine& engine, const char* name)
    : path_(engine.options().data_directory + "/" + name) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void DeleteScratchFolders(const Engine& engine) {
  const ScratchFolder proof(engine, kProofFolder);
  const ScratchFolder point_in_time(engine, kPointInTimeFolder);
  const ScratchFolder exported(engine, kExportFolder);
  const ScratchFolder exported_from(engine, kExportFromFolder);
  const ScratchFolder undone(engine, kUndoFolder);
}

absl::Status CheckRoomToRestore(const Engine& engine, int64_t bytes) {
  const uint64_t floor = engine.options().free_space_floor_bytes;
  const uint64_t free = engine.disk_space().FreeBytes();
  if (free >= floor + static_cast<uint64_t>(bytes)) return absl::OkStatus();
  return MakeError(
      absl::StatusCode::kResourceExhausted, kReasonDiskFull,
      absl::StrCat("restoring a backup takes ", bytes, " bytes on the disk of the data directory, which has ",
                   free, " free, and ", floor, " must stay free"));
}

}  // namespace itemdb::storage
