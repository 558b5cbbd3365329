// `itemctl count`: the number of items of a table, an index or an item collection, optionally with a filter.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/context.h"
#include "tools/cli/read_options.h"

namespace itemdb::tools {

class CommandTable;

struct CountOptions : ReadOptions {
  // Empty for the whole table or index.
  std::string key_condition_expression;
  // Count on behind items that cannot be read, and print where they are on stderr.
  bool skip_damage = false;
};

// Counts the whole range in one call and in one snapshot.
absl::Status RunCount(Context& context, const CountOptions& options);

void RegisterCountCommands(CommandTable& table);

}  // namespace itemdb::tools
