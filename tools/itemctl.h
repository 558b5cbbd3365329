// itemctl as a function, so that tests can run it in process.
#pragma once

#include <string>
#include <vector>

#include "tools/base/exit_codes.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

// Parses `arguments` (without the program's name), runs the command, and reports an error as one line on
// streams.err (tools/cli/error_report.h). Data goes to streams.out. Reads the environment variables ITEMCTL_*
// and those of the access key, ITEMDB_*. Without a command on a terminal it runs the interactive shell.
// Blocks until the command is done; throws nothing.
ExitCode RunItemctl(const std::vector<std::string>& arguments, Streams streams);

}  // namespace itemdb::tools
