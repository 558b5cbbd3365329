// `itemctl query` and `itemctl scan`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "itemdb/requests.h"
#include "tools/cli/consumed_capacity.h"
#include "tools/cli/context.h"
#include "tools/cli/read_options.h"

namespace itemdb::tools {

class CommandTable;

// The options that query and scan have in common. By default all pages are read and printed as they arrive.
// With `page` or `limit` only one page is read, and its LastEvaluatedKey is printed as DynamoDB JSON, for use
// with --exclusive-start-key: with json in the object, otherwise on stderr.
struct PageOptions : ReadOptions, CapacityOptions {
  // JSON object; empty for the first page.
  std::string exclusive_start_key;
  // Items to evaluate, before the filter; implies `page`.
  std::optional<int32_t> limit;
  // Items to evaluate in each page if all pages are read.
  std::optional<int32_t> page_size;
  bool page = false;
  // Write to this file instead of stdout; empty for stdout.
  std::string to_file;
  // Print DynamoDB JSON.
  bool typed = false;
  // Read on behind items that cannot be read, and print where they are on stderr.
  bool skip_damage = false;
};

struct ScanOptions : PageOptions {
  // The number of segments to read in parallel; 1: one page after another.
  int32_t segments = 1;
};

struct QueryOptions : PageOptions {
  std::string key_condition_expression;
  bool scan_index_forward = true;
};

// Prints the places where a page could not be read on stderr, because standard output has the items alone.
void PrintSkippedDamage(Context& context, const ItemPage& page);
// OK without places. DATA_LOSS: a program that only looks at the exit code must not take the output for
// everything.
absl::Status SkippedDamageError(size_t places);

absl::Status RunQuery(Context& context, const QueryOptions& options);
absl::Status RunScan(Context& context, const ScanOptions& options);

void RegisterQueryCommands(CommandTable& table);

}  // namespace itemdb::tools
