// `itemctl patterns`: how the daemon has seen tables being read and written.
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

// Prints the patterns, most calls first; those that read more than they should are marked.
absl::Status RunPatterns(Context& context, const PatternsOptions& options);

// What is wrong with how a pattern reads, without a full stop; empty when nothing is.
std::string AdviceFor(const AccessPattern& pattern);

void RegisterPatternCommands(CommandTable& table);

}  // namespace itemdb::tools
