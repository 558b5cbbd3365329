// `itemctl undo`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/confirm.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct UndoOptions {
  std::string table_name;
  uint64_t from = 0;
  uint64_t to = 0;
  // JSON; only these items. Empty: all.
  std::vector<std::string> keys;
  ConfirmOptions confirm;
};

// Finds out what would be written, asks, and takes the changes back. Prints an item a line.
// ExitCode::kFindings if an item was changed since and left as it is.
absl::Status RunUndo(Context& context, const UndoOptions& options);

void RegisterUndoCommands(CommandTable& table);

}  // namespace itemdb::tools
