// `itemctl transact`: one transaction of reads or of writes, of any tables.
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
  // Allow more than 100 actions, and more than 4 MiB.
  bool large = false;
  // ClientRequestToken; empty for a random one.
  std::string client_request_token;
  // Print DynamoDB JSON.
  bool typed = false;
  ConfirmOptions confirm;
};

// For reads, prints the items in the order of the request. If the daemon cancels a transaction of writes,
// prints for each action why it would or would not have been applied, and returns the error. On a terminal it
// asks before it deletes. A dry run prints the number of writes and sends nothing.
absl::Status RunTransact(Context& context, const TransactOptions& options);

void RegisterTransactCommands(CommandTable& table);

}  // namespace itemdb::tools
