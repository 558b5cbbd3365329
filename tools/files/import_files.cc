#include "tools/files/import_files.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "common/status_macros.h"
#include "tools/base/durable_file.h"
#include "tools/files/data_file.h"

namespace itemdb::tools {
namespace {

// "music.jsonl.gz" for ItemFormat::kJson; JSON of either form may also end in ".json".
bool HasNameOf(ItemFormat format, const std::string& name) {
  if (name.starts_with("itemdb-")) return false;
  const Compression compression = CompressionOfFile(name);
  return name.ends_with(SuffixOf(format, compression)) ||
         (format == ItemFormat::kJson && name.ends_with(SuffixOf(ItemFormat::kDynamoDbJson, compression))) ||
         (format == ItemFormat::kDynamoDbJson && name.ends_with(SuffixOf(ItemFormat::kJson, compression)));
}

}  // namespace

absl::StatusOr<ExportManifest> FindExport(const ExportFolder& folder) {
  const std::string path = folder.PathOf(kManifestName);
  ITEMDB_ASSIGN_OR_RETURN(const std::optional<std::string> text, ReadFileIfExists(path));
  if (!text.has_value()) {
    return absl::FailedPreconditionError(
        folder.Has(kExportStateName)
            ? "the export in " + folder.path() +
                  " was interrupted and is not whole: run its \"itemctl export table\" again first"
            : folder.path() + " has no whole export: there is no " + kManifestName +
                  "; with --format the files of other programs are read");
  }
  ITEMDB_ASSIGN_OR_RETURN(ExportManifest manifest, ParseManifest(*text, path));
  for (const DataFile& file : manifest.files)
    ITEMDB_RETURN_IF_ERROR(CheckDataFile(folder.PathOf(file.key), file));
  return manifest;
}

absl::StatusOr<ExportManifest> ListFiles(const ExportFolder& folder, ItemFormat format) {
  ExportManifest manifest{.format = format};
  std::error_code error;
  std::filesystem::directory_iterator entries(folder.path(), error);
  for (const std::filesystem::directory_iterator end; !error && entries != end; entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    std::error_code ignored;
    if (!HasNameOf(format, name) || !entries->is_regular_file(ignored)) continue;
    ITEMDB_ASSIGN_OR_RETURN(DataFile file, MeasureFile(folder.PathOf(name)));
    file.key = name;
    manifest.files.push_back(std::move(file));
  }
  if (error) return absl::FailedPreconditionError("cannot list " + folder.path() + ": " + error.message());
  std::sort(manifest.files.begin(), manifest.files.end(),
            [](const DataFile& a, const DataFile& b) { return a.key < b.key; });
  if (!manifest.files.empty()) return manifest;
  return absl::FailedPreconditionError(folder.path() + " has no files whose names end in " +
                                       SuffixOf(format, Compression::kNone));
}

}  // namespace itemdb::tools
