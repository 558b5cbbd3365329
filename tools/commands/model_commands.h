// `itemctl model`: data models kept as files (tools/model/model_folder.h), made, compared and tested.
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
  // Tables only, no items.
  bool only_tables = false;
  // Items also into tables that were there.
  bool items = false;
  // Delete the tables that are there, and make them anew.
  bool replace = false;
  ConfirmOptions confirm;
};

// Creates the tables that are missing, with their items, and adds missing global indexes to the others.
// Refuses, before it changes anything, when a table has another key than the model's. FAILED_PRECONDITION:
// that, or something else differs that only --replace can change.
absl::Status RunModelApply(Context& context, const ModelApplyOptions& options);

struct ModelCheckOptions {
  std::string directory;
};

// Prints how the live tables differ from the files. FAILED_PRECONDITION: they do.
absl::Status RunModelCheck(Context& context, const ModelCheckOptions& options);

struct ModelRunOptions {
  std::string directory;
  // Names; empty for all.
  std::vector<std::string> patterns;
  // NAME=VALUE, of the one pattern that is named.
  std::vector<std::string> settings;
  // Also run patterns that write.
  bool writes = false;
  bool show_items = false;
};

// Runs the patterns in their order and prints what each found and cost. FAILED_PRECONDITION: an answer is
// another than the expected one, or a request was refused. UsageError: a pattern that was named could not be
// run, because it lacks a value or writes; without names such patterns are left out and said.
absl::Status RunModelRun(Context& context, const ModelRunOptions& options);

struct ModelImportOptions {
  // A data model of NoSQL Workbench; "-" for standard input.
  std::string file;
  std::string directory;
};

// Writes the model as a folder.
absl::Status RunModelImport(Context& context, const ModelImportOptions& options);

void RegisterModelCommands(CommandTable& table);

}  // namespace itemdb::tools
