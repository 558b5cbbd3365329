// `itemctl batch-get` and `itemctl batch-write`: any number of items over any tables.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/confirm.h"
#include "tools/cli/consumed_capacity.h"
#include "tools/cli/context.h"
#include "tools/cli/document_option.h"

namespace itemdb::tools {

class CommandTable;

struct BatchGetOptions : DocumentOptions, CapacityOptions {
  // Print DynamoDB JSON.
  bool typed = false;
};

struct BatchWriteOptions : DocumentOptions, CapacityOptions {
  // Write JSON lines into this table; empty for a document of request items.
  std::string table_name;
  ConfirmOptions confirm;
};

// Prints every key with its item, or with null if there is no item. A missing item is not an error.
absl::Status RunBatchGet(Context& context, const BatchGetOptions& options);

// Prints the number of applied writes. JSON lines are read and written 1,000 at a time, so a file may have
// any size. If a write fails, the message says how many were applied before. On a terminal it asks before it
// deletes.
absl::Status RunBatchWrite(Context& context, const BatchWriteOptions& options);

void RegisterBatchCommands(CommandTable& table);

}  // namespace itemdb::tools
