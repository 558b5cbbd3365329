// The admin tool as a function: what `itemctl ARGUMENTS...` does.
#pragma once

#include <string>
#include <vector>

#include "tools/context.h"
#include "tools/exit_codes.h"

namespace itemdb::tools {

// Parses `arguments` (without the program's name), runs the command, and reports an error as one line on
// streams.err (error_report.h). Data goes to streams.out. Reads the environment variables ITEMCTL_*. Without
// a command on a terminal it is the interactive shell. Blocks until the command is done; throws nothing.
ExitCode RunItemctl(const std::vector<std::string>& arguments, Streams streams);

// The same for one statement of a shell, with what `session` says for a default.
ExitCode RunStatement(const std::vector<std::string>& arguments, Streams streams, Session& session);

}  // namespace itemdb::tools
