// `itemctl partiql`: PartiQL statements. The shell runs a statement that is typed at its prompt by this
// command too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/consumed_capacity.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct PartiqlOptions : CapacityOptions {
  // One or more statements with semicolons between them; "-": standard input.
  std::string statement;
  // Read the statements from this file instead.
  std::string file;
  // JSON, plain or DynamoDB JSON: one for each `?` of all statements, in their order.
  std::vector<std::string> parameters;
  // Execute all statements or none.
  bool transaction = false;
  // Items to evaluate; reads one page.
  std::optional<int32_t> limit;
  // Continue a read behind the page that printed this token.
  std::string next_token;
  // Print DynamoDB JSON.
  bool typed = false;
};

// Reads all pages of a SELECT and prints its items; prints the item that RETURNING asks for. Statements are
// executed one after the other until one fails.
absl::Status RunPartiql(Context& context, const PartiqlOptions& options);

void RegisterPartiqlCommands(CommandTable& table);

}  // namespace itemdb::tools
