// The admin tool as a function: what `itemctl ARGUMENTS...` does.
#pragma once

#include <string>
#include <vector>

#include "tools/base/exit_codes.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

// Parses `arguments` (without the program's name), runs the command, and reports an error as one line on
// streams.err (tools/cli/error_report.h). Data goes to streams.out. Reads the environment variables
// ITEMCTL_*. Without a command on a terminal it is the interactive shell. Blocks until the command is done;
// throws nothing.
ExitCode RunItemctl(const std::vector<std::string>& arguments, Streams streams);

}  // namespace itemdb::tools
