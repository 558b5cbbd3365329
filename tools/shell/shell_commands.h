// `itemctl shell`, which is also `itemctl` without a command on a terminal.
#pragma once

#include "absl/status/status.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

// Runs statements until the end of input or \q: on a terminal with line editing, history and completion,
// otherwise one a line from stdin. Ends with the exit code of the last statement that failed.
absl::Status RunShell(Context& context);

void RegisterShellCommands(CommandTable& table);

}  // namespace itemdb::tools
