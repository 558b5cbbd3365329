// `itemctl ttl`: the time to live of tables.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct TimeToLiveOptions {
  std::string table_name;
  // Used only by enable.
  std::string attribute_name;
  // Wait until the time to live is ENABLED.
  bool wait = false;
};

// Each prints the time to live after the change. Disabling needs no attribute: the command asks the daemon
// for the enabled one.
absl::Status RunTimeToLiveEnable(Context& context, const TimeToLiveOptions& options);
absl::Status RunTimeToLiveDisable(Context& context, const TimeToLiveOptions& options);
absl::Status RunTimeToLiveStatus(Context& context, const TimeToLiveOptions& options);

void RegisterTimeToLiveCommands(CommandTable& table);

}  // namespace itemdb::tools
