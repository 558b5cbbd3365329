// `itemctl model`: applies, checks, runs and imports data models in files (tools/model/model_folder.h).
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/confirm.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct ModelApplyOptions {
  std::string directory;
  // Create tables, but put no items.
  bool only_tables = false;
  // Put items also into tables that already exist.
  bool items = false;
  // Delete existing tables and create them again.
  bool replace = false;
  ConfirmOptions confirm;
};

// Creates the tables that are missing, with their items, and adds missing global indexes to existing tables.
// FAILED_PRECONDITION: an existing table has another key schema than the model, and nothing was changed; or
// differences are left that this command does not change.
absl::Status RunModelApply(Context& context, const ModelApplyOptions& options);

struct ModelCheckOptions {
  std::string directory;
};

// Prints how the live tables differ from the files. FAILED_PRECONDITION: there are differences.
absl::Status RunModelCheck(Context& context, const ModelCheckOptions& options);

struct ModelRunOptions {
  std::string directory;
  // The names of the patterns to run; empty for all.
  std::vector<std::string> patterns;
  // NAME=VALUE; allowed only if exactly one pattern is run.
  std::vector<std::string> settings;
  // Also run patterns that write.
  bool writes = false;
  bool show_items = false;
};

// Runs the patterns in their order and prints the answer and statistics of each. FAILED_PRECONDITION: an
// answer differs from the expected one, or a request was refused. UsageError: a pattern given by name was not
// run, because a parameter has no value or because it writes. Without names, patterns like this are skipped
// and reported.
absl::Status RunModelRun(Context& context, const ModelRunOptions& options);

struct ModelImportOptions {
  // A data model of NoSQL Workbench; "-" for standard input.
  std::string file;
  std::string directory;
};

// Writes the model as a model folder.
absl::Status RunModelImport(Context& context, const ModelImportOptions& options);

void RegisterModelCommands(CommandTable& table);

}  // namespace itemdb::tools
