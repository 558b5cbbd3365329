// `itemctl generate`: order-entry data of any size, into the daemon or into a file.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/context.h"
#include "tools/commands/generated_data.h"

namespace itemdb::tools {

class CommandTable;

struct GenerateOptions {
  GeneratedSizes sizes;
  // How many chunks of items may be sent and not acknowledged yet.
  int in_flight = 8;
  // Write JSON lines {"table": ..., "item": DynamoDB JSON} to this file instead of items to the daemon; empty
  // for the daemon.
  std::string to_file;
};

// Creates the order-entry tables that are missing, writes all items, and prints their number and the time. An
// existing item with the same key is replaced, so a second run completes an interrupted one. UsageError: the
// file cannot be written. ToolError (kRefused): the daemon refuses items because an existing table has
// another definition. Otherwise: the writer's error.
absl::Status RunGenerate(Context& context, const GenerateOptions& options);

void RegisterGenerateCommands(CommandTable& table);

}  // namespace itemdb::tools
