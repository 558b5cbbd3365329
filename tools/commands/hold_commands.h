// `itemctl change-holds list` and `release`.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/confirm.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

// Prints the holds of the change log, one a line, also those that ended within a day.
absl::Status RunHoldsList(Context& context);

struct HoldReleaseOptions {
  std::string name;
  ConfirmOptions confirm;
};

// Asks, then ends the hold. Prints it as it was.
absl::Status RunHoldRelease(Context& context, const HoldReleaseOptions& options);

void RegisterHoldCommands(CommandTable& table);

}  // namespace itemdb::tools
