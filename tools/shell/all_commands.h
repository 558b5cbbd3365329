// The list of all commands of itemctl.
#pragma once

#include "tools/cli/command_table.h"

namespace itemdb::tools {

// Adds all commands to `table`, in the order in which the help lists them.
void RegisterAllCommands(CommandTable& table);

}  // namespace itemdb::tools
