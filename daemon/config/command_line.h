// The command line: the flags of the settings, and what else itemd can be asked for.
#pragma once

#include <string>
#include <vector>

#include "daemon/config/settings.h"

namespace itemdb {

struct CommandLine {
  // One for each flag given.
  std::vector<SettingValue> values;
  // --config; empty when not given.
  std::string config_file;
  bool print_config = false;
  bool check_config = false;
  // What --help or --version prints; empty otherwise.
  std::string answer;
};

// INVALID_ARGUMENT: an unknown flag (the message names the nearest), one without its value, a stray word.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv);

}  // namespace itemdb
