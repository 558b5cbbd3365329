// `itemctl export table` and `itemctl import table`: tables as files on this machine.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct ExportTableOptions {
  std::string table_name;
  std::string folder;
  std::string format = "DYNAMODB_JSON";
  std::string compression = "GZIP";
  // Of CSV, with commas between them.
  std::string columns;
  int64_t items_per_file = 100'000;
  bool one_state = false;
};

// Prints how much was exported.
absl::Status RunExportTable(Context& context, const ExportTableOptions& options);

struct ImportTableOptions {
  std::string table_name;
  std::string folder;
  bool create = false;
  // Empty: the manifest says it.
  std::string format;
};

// Prints how much was imported. kRefused: lines were left out.
absl::Status RunImportTable(Context& context, const ImportTableOptions& options);

// Into the groups "export" and "import", which must be there.
void RegisterTableFilesCommands(CommandTable& table);

}  // namespace itemdb::tools
