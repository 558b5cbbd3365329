// The options and request members that query, scan, count and explain have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "absl/status/status.h"
#include "itemdb/requests.h"
#include "tools/base/exit_codes.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {

struct ReadOptions {
  std::string table_name;
  std::string index_name;
  std::string filter_expression;
  std::string projection_expression;
  // JSON objects, see ParseNames and ParseValues.
  std::string names;
  std::string values;
  // Read the values as plain JSON, even where they look like DynamoDB JSON.
  bool plain = false;
};

// Copies the options into the members that QueryRequest and ScanRequest have in common. UsageError: names or
// values are malformed.
template <typename Request>
absl::Status FillRead(const ReadOptions& options, Request& request) {
  request.table_name = options.table_name;
  request.index_name = options.index_name;
  request.filter_expression = options.filter_expression;
  request.projection_expression = options.projection_expression;
  return FillPlaceholders(options, request);
}

// Adds every option except --projection.
void AddReadOptions(CLI::App* command, ReadOptions& options);
void AddProjectionOption(CLI::App* command, ReadOptions& options);
// Without a key condition the whole table or index is read; `required`: the command cannot do that.
void AddKeyConditionOption(CLI::App* command, std::string& key_condition, bool required);
void AddDirectionFlag(CLI::App* command, bool& scan_index_forward);

}  // namespace itemdb::tools
