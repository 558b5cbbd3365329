// `itemctl shards`: how many shards a load needs, step by step.
#pragma once

#include "itemdb/sharding.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

// Calls no daemon. UsageError: the load is out of its bounds.
absl::Status RunShards(Context& context, const ShardLoad& load);

void RegisterShardCommands(CommandTable& table);

}  // namespace itemdb::tools
