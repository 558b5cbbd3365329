// Runs one statement: a command line without the program's name.
#pragma once

#include <string>
#include <vector>

#include "tools/base/exit_codes.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

// Parses `arguments`, runs the command with the default options of `session`, and reports an error as one
// line on streams.err (tools/cli/error_report.h). In a shell, environment variables are ignored. Blocks until
// the command is done; throws nothing.
ExitCode RunStatement(const std::vector<std::string>& arguments, Streams streams, Session& session);

}  // namespace itemdb::tools
