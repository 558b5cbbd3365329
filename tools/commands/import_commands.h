// `itemctl import`: new tables that are made of files.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "itemdb/imports.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct ImportStartOptions {
  // A CreateTable document; "-" for standard input.
  std::string file;
  std::string bucket;
  std::string prefix;
  std::string format = "DYNAMODB_JSON";
  std::string compression = "NONE";
  // Of CSV; empty: not given.
  std::string delimiter;
  // Of CSV: names with commas between them; empty: not given.
  std::string header;
  // Wait until the import has ended.
  bool wait = false;
};

// Prints the import. With `wait`, an import that fails is an error of the command.
absl::Status RunImportStart(Context& context, const ImportStartOptions& options);

struct ImportOptions {
  // An ARN, or the name of a table: its newest import.
  std::string import;
};

absl::Status RunImportDescribe(Context& context, const ImportOptions& options);

struct ImportListOptions {
  // Empty: of all tables.
  std::string table_name;
};

absl::Status RunImportList(Context& context, const ImportListOptions& options);

void RegisterImportCommands(CommandTable& table);

}  // namespace itemdb::tools
