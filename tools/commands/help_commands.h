// `itemctl help` and `itemctl version`.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/command_table.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

// Prints the help of the command whose words are `words`, such as {"table", "create"}; without words, that of
// itemctl. UsageError: there is no such command.
absl::Status RunHelp(Context& context, const CommandTable& table, const std::vector<std::string>& words);

// Prints the versions of itemctl and of the daemon. It is no error if no daemon answers within a second.
absl::Status RunVersion(Context& context);

void RegisterHelpCommands(CommandTable& table);

}  // namespace itemdb::tools
