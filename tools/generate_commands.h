// `itemctl generate`: order-entry data of any size, into the daemon or into a file.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tools/context.h"
#include "tools/generated_data.h"

namespace itemdb::tools {

class CommandTable;

struct GenerateOptions {
  GeneratedSizes sizes;
  // Requests in flight at a time, each with one batch of items.
  int in_flight = 16;
  // Write JSON lines {"table": ..., "item": DynamoDB JSON} here, and nothing to the daemon; empty for the
  // daemon.
  std::string to_file;
};

// Creates the order-entry tables that are missing, writes all items and prints how many, in what time. An
// item that exists under the same key is replaced, so running it again repairs an interrupted run.
// UsageError: the file cannot be written. Otherwise the first error of a write that is not just overload.
absl::Status RunGenerate(Context& context, const GenerateOptions& options);

void RegisterGenerateCommands(CommandTable& table);

}  // namespace itemdb::tools
