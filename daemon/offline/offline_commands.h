// The commands of itemd that serve nothing: --recover=plan, inspect, salvage, restore.
#pragma once

#include <memory>

#include "common/log/log.h"
#include "daemon/config/options.h"
#include "daemon/process/exit_codes.h"

namespace spdlog {
class logger;
}

namespace itemdb::daemon {

// Whether `options` ask for one of these commands.
bool IsOfflineCommand(const Options& options);

// Runs it: the report goes to stdout, errors go to `log`. Blocks.
ExitCode RunOfflineCommand(const Options& options, const common::Log& log);

}  // namespace itemdb::daemon
