// `itemctl search`.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct SearchOptions {
  std::string table_name;
  std::string index_name;
  // A JSON array of numbers, plain or DynamoDB JSON, or the name of a file with one.
  std::string near;
  int32_t top = 10;
  std::string search_condition_expression;
  std::string projection_expression;
  // JSON objects, see ParseNames and ParseValues.
  std::string names;
  std::string values;
  // Read the values as plain JSON, even where they look like DynamoDB JSON.
  bool plain = false;
  // Print DynamoDB JSON.
  bool typed = false;
};

absl::Status RunSearch(Context& context, const SearchOptions& options);

void RegisterSearchCommands(CommandTable& table);

}  // namespace itemdb::tools
