// `itemctl explain`: what a query or scan reads, what it costs, and advice for a cheaper read.
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
  // Items to evaluate, before the filter.
  std::optional<int32_t> limit;
};

// Reads one page and prints statistics about it instead of its items.
absl::Status RunExplain(Context& context, const ExplainOptions& options);

void RegisterExplainCommands(CommandTable& table);

}  // namespace itemdb::tools
