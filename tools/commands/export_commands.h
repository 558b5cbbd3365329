// `itemctl export`: exports of tables into files.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct ExportStartOptions {
  std::string table_name;
  std::string bucket;
  std::string prefix;
  // Empty: all items. A time: what changed since then.
  std::string from;
  // "latest" or a time.
  std::string to = "latest";
  // Of changes: without the images before them.
  bool new_images = false;
  bool ion = false;
  std::string key_condition_expression;
  std::string filter_expression;
  std::string projection_expression;
  // JSON objects, see ParseNames and ParseValues.
  std::string names;
  std::string values;
  // Read the values as plain JSON, even where they look like DynamoDB JSON.
  bool plain = false;
  // Wait until the export has ended.
  bool wait = false;
};

// Begins an export and prints it. With `wait`, fails if the export has failed.
absl::Status RunExportStart(Context& context, const ExportStartOptions& options);

struct ExportOptions {
  // An ARN, or the name of a table: its newest export.
  std::string name;
};

absl::Status RunExportDescribe(Context& context, const ExportOptions& options);

struct ExportListOptions {
  // Empty: of all tables.
  std::string table_name;
};

absl::Status RunExportList(Context& context, const ExportListOptions& options);

void RegisterExportCommands(CommandTable& table);

}  // namespace itemdb::tools
