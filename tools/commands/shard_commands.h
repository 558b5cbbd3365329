// `itemctl shards`: computes how many write shards a load needs, and prints each step.
#pragma once

#include "itemdb/sharding.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

// Does not call the daemon. UsageError: a value of `load` is out of its bounds.
absl::Status RunShards(Context& context, const ShardLoad& load);

void RegisterShardCommands(CommandTable& table);

}  // namespace itemdb::tools
