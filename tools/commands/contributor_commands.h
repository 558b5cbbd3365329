// `itemctl contributors show|enable|disable|list`: contributor insights, and the keys that were used most
// while they were on.
#pragma once

#include "itemdb/client.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

// Prints the most used keys of a table or global index.
absl::Status RunContributorsShow(Context& context, const TopKeysRequest& options);

// Turns the insights on or off, and prints what they are then.
absl::Status RunContributorsUpdate(Context& context, const UpdateContributorInsightsRequest& options);

// Prints the tables and global indexes whose insights are on, of one table or, without a name, of all.
absl::Status RunContributorsList(Context& context, const std::string& table_name);

void RegisterContributorCommands(CommandTable& table);

}  // namespace itemdb::tools
