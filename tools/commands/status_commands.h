// `itemctl status`.
#pragma once

#include "absl/status/status.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

// Prints the daemon's figures: as a table, named values and a line for each table; as JSON one object whose
// bytes are numbers. Figures the daemon does not send are left out.
absl::Status RunStatus(Context& context);

void RegisterStatusCommands(CommandTable& table);

}  // namespace itemdb::tools
