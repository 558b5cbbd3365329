// The commands of itemctl, all of them.
#pragma once

#include "tools/cli/command_table.h"

namespace itemdb::tools {

// For a CommandTable, in the order of help.
void RegisterAllCommands(CommandTable& table);

}  // namespace itemdb::tools
