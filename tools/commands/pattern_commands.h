// `itemctl patterns`: the access patterns with which clients have read and written tables.
#pragma once

#include <string>

#include "itemdb/client.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct PatternsOptions {
  // Empty: every table.
  std::string table_name;
};

// Prints the patterns, most calls first. Patterns that read more than necessary are marked.
absl::Status RunPatterns(Context& context, const PatternsOptions& options);

void RegisterPatternCommands(CommandTable& table);

}  // namespace itemdb::tools
