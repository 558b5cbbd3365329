// `itemctl explain`: what a query or scan reads, what that costs, and what would be better.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/context.h"
#include "tools/cli/read_options.h"

namespace itemdb::tools {

class CommandTable;

struct ExplainOptions : ReadOptions {
  // Empty for a scan.
  std::string key_condition_expression;
  bool scan_index_forward = true;
  // Items to evaluate.
  std::optional<int32_t> limit;
};

// Reads one page and prints figures about it instead of its items.
absl::Status RunExplain(Context& context, const ExplainOptions& options);

void RegisterExplainCommands(CommandTable& table);

}  // namespace itemdb::tools
