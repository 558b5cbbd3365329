// `itemctl query` and `itemctl scan`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/consumed_capacity.h"
#include "tools/cli/context.h"
#include "tools/cli/read_options.h"

namespace itemdb::tools {

class CommandTable;

// What query and scan have in common. By default all pages are read and printed as they come; with `page` or
// `limit` only one, whose LastEvaluatedKey is shown as DynamoDB JSON (which --exclusive-start-key takes
// back): in the object with json, otherwise on stderr.
struct PageOptions : ReadOptions, CapacityOptions {
  // JSON object; empty for the first page.
  std::string exclusive_start_key;
  // Items to evaluate; implies `page`.
  std::optional<int32_t> limit;
  // Items to evaluate in each page when all are read.
  std::optional<int32_t> page_size;
  bool page = false;
  // Write to this file instead of stdout; empty for stdout.
  std::string to_file;
  // Print DynamoDB JSON.
  bool typed = false;
};

struct ScanOptions : PageOptions {
  // Read in so many segments at once; 1 for one page after another.
  int32_t segments = 1;
};

struct QueryOptions : PageOptions {
  std::string key_condition_expression;
  bool scan_index_forward = true;
};

absl::Status RunQuery(Context& context, const QueryOptions& options);
absl::Status RunScan(Context& context, const ScanOptions& options);

void RegisterQueryCommands(CommandTable& table);

}  // namespace itemdb::tools
