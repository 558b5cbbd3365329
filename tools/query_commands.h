// `itemctl query` and `itemctl scan`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "tools/context.h"

namespace itemdb::tools {

class CommandTable;

// What query and scan have in common. By default all pages are read and printed as they come; with `page` or
// `limit` only one, whose LastEvaluatedKey is shown as DynamoDB JSON (which --exclusive-start-key takes
// back): in the object with json, otherwise on stderr.
struct PageOptions {
  std::string table_name;
  std::string index_name;
  std::string filter_expression;
  std::string projection_expression;
  // JSON objects, see ParseNames and ParseValues.
  std::string names;
  std::string values;
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
  // Read the values as plain JSON, even where they look like DynamoDB JSON.
  bool plain = false;
};

struct QueryOptions : PageOptions {
  std::string key_condition_expression;
  bool scan_index_forward = true;
};

absl::Status RunQuery(Context& context, const QueryOptions& options);
absl::Status RunScan(Context& context, const PageOptions& options);

void RegisterQueryCommands(CommandTable& table);

}  // namespace itemdb::tools
