// `itemctl shell`, which is also `itemctl` without a command on a terminal.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

// Runs statements until the end of input or \q: on a terminal with line editing, history and completion,
// otherwise one a line from stdin. Ends with the exit code of the last statement that failed.
absl::Status RunShell(Context& context);

// Runs `lines` as a pipe to the shell would: itemctl -c.
absl::Status RunLines(Context& context, const std::string& lines);

void RegisterShellCommands(CommandTable& table);

}  // namespace itemdb::tools
