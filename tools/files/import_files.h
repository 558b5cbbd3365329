// The files that an import reads.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "tools/files/export_folder.h"
#include "tools/files/export_manifest.h"

namespace itemdb::tools {

// The manifest of the export in the folder, all of whose files have the sizes and checksums that it says.
// FAILED_PRECONDITION: there is no export, it is not whole, or it cannot be imported here. NOT_FOUND,
// DATA_LOSS: a file is missing or damaged.
absl::StatusOr<ExportManifest> FindExport(const ExportFolder& folder);

// The same for files of other programs: all files in the folder itself whose names end as those of `format`,
// compressed or not, in the order of their names. Only files, their format and nothing of the table is set.
absl::StatusOr<ExportManifest> ListFiles(const ExportFolder& folder, ItemFormat format);

}  // namespace itemdb::tools
