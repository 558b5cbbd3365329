// `itemctl import table`: puts the items of files on this machine into a table.
//
// The sizes and checksums of all files are compared first. Then the items are put by the bulk write, in the
// order of the files. A state file in the folder says up to which line they are acknowledged, so an import
// that was killed goes on there; only what was put since is put twice. Lines that are no items,
// and items that the daemon refuses, are left out and listed in a report in the folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tools/files/item_format.h"
#include "tools/files/table_export.h"

namespace itemdb::tools {

struct TableImportOptions {
  std::string table_name;
  std::string folder;
  // Make the table, as the manifest describes it. Not with `format`.
  bool create = false;
  // Read all files of the folder whose names are those of this format, which need no manifest.
  std::optional<ItemFormat> format = std::nullopt;
};

struct TableImportResult {
  int64_t put_items = 0;
  int64_t left_out_lines = 0;
  int64_t files = 0;
  // Empty: nothing was left out.
  std::string report = {};
};

// NOT_FOUND: there is no such table, or a file is missing. ALREADY_EXISTS: the table to be made.
// FAILED_PRECONDITION: the folder has no export, one that is not whole, of another version or with other
// keys, or the state of another import. DATA_LOSS: a file is not as it was written. Nothing was written then,
// unless a file has another number of items (DATA_LOSS) or the table was made again meanwhile
// (FAILED_PRECONDITION); the state stays then.
// Other errors of the client; then the same call goes on.
absl::StatusOr<TableImportResult> ImportTable(const LongCommand& command, const TableImportOptions& options);

}  // namespace itemdb::tools
