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

// Prints every key with its item or, where there is none, with null: missing items are no error.
absl::Status RunBatchGet(Context& context, const BatchGetOptions& options);

// Prints how many writes were applied. Lines are read and written a thousand at a time, so that a file may be
// of any size; when one fails, the message says what was applied before. On a terminal it asks before it
// deletes.
absl::Status RunBatchWrite(Context& context, const BatchWriteOptions& options);

void RegisterBatchCommands(CommandTable& table);

}  // namespace itemdb::tools
