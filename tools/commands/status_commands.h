// `itemctl status`.
#pragma once

#include "absl/status/status.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

// Prints the daemon's statistics. In the table form: named values and one line for each table. In JSON: one
// object, with sizes as numbers of bytes. Values that the daemon does not send are left out.
absl::Status RunStatus(Context& context);

void RegisterStatusCommands(CommandTable& table);

}  // namespace itemdb::tools
