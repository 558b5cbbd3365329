// `itemctl transact`: reads or writes of any tables, all together.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/confirm.h"
#include "tools/cli/consumed_capacity.h"
#include "tools/cli/context.h"
#include "tools/cli/document_option.h"

namespace itemdb::tools {

class CommandTable;

struct TransactOptions : DocumentOptions, CapacityOptions {
  // More than 100 actions, or more than 4 MiB.
  bool large = false;
  // Of the caller's own; empty for a random one.
  std::string client_request_token;
  // Print DynamoDB JSON.
  bool typed = false;
  ConfirmOptions confirm;
};

// Prints the items of a reading transaction in its order. Of a cancelled writing one it prints for each
// action why it would or would not have been applied, and ends with that error. On a terminal it asks before
// it deletes; a dry run says how much it would write, and sends nothing.
absl::Status RunTransact(Context& context, const TransactOptions& options);

void RegisterTransactCommands(CommandTable& table);

}  // namespace itemdb::tools
