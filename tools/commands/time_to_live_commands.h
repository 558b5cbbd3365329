// `itemctl ttl`: the time to live of tables.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct TimeToLiveOptions {
  std::string table_name;
  // Only to enable it.
  std::string attribute_name;
  // Until it is ENABLED.
  bool wait = false;
};

// Each prints the time to live as it is then. Disabling needs no attribute: it is the one that it is enabled
// for.
absl::Status RunTimeToLiveEnable(Context& context, const TimeToLiveOptions& options);
absl::Status RunTimeToLiveDisable(Context& context, const TimeToLiveOptions& options);
absl::Status RunTimeToLiveStatus(Context& context, const TimeToLiveOptions& options);

void RegisterTimeToLiveCommands(CommandTable& table);

}  // namespace itemdb::tools
