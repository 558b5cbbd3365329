// `itemctl promote` and `itemctl standby diverged`.
#pragma once

#include "absl/status/status.h"
#include "tools/cli/confirm.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct PromoteOptions {
  bool force = false;
  ConfirmOptions confirm;
};

// Makes a standby the primary. Prints the last change that it has followed.
absl::Status RunPromote(Context& context, const PromoteOptions& options);

struct DivergedOptions {
  // Print DynamoDB JSON.
  bool typed = false;
};

// Prints the changes that the standby has not which was promoted.
absl::Status RunStandbyDiverged(Context& context, const DivergedOptions& options);

void RegisterPromoteCommand(CommandTable& table);

}  // namespace itemdb::tools
