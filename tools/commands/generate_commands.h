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
  // Chunks of items sent and not yet acknowledged.
  int in_flight = 8;
  // Write JSON lines {"table": ..., "item": DynamoDB JSON} here, and nothing to the daemon; empty for the
  // daemon.
  std::string to_file;
};

// Creates the order-entry tables that are missing, writes all items and prints how many, in what time. An
// item that exists under the same key is replaced, so running it again repairs an interrupted run.
// UsageError: the file cannot be written. ToolError (kRefused): the daemon refuses
// items, of tables that are not what was created. Otherwise what ended the writer.
absl::Status RunGenerate(Context& context, const GenerateOptions& options);

void RegisterGenerateCommands(CommandTable& table);

}  // namespace itemdb::tools
