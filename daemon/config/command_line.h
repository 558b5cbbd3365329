// The command line: one flag per setting, the commands dev, inspect, salvage, restore and keys, and --config,
// --print-config, --check-config, --help, --version; for the build also --man PAGE.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/access/key_file_changes.h"
#include "daemon/config/settings.h"

namespace itemdb::daemon {

struct CommandLine {
  // One for each setting that has a flag on the command line.
  std::vector<SettingValue> values;
  // --config; empty when not given.
  std::string config_file;
  bool print_config = false;
  bool check_config = false;
  Command command = Command::kServe;
  // `itemd dev`.
  bool dev = false;
  // TO of `itemd salvage DIR TO`. DIR is the value of the setting data-dir.
  std::string salvage_target;
  // BACKUPS and --backup of `itemd restore BACKUPS TO`. TO is the value of the setting data-dir.
  std::string restore_from;
  uint32_t restored_backup_id = 0;
  // --archive and --to of `itemd restore`.
  std::string restored_archive;
  std::optional<uint64_t> restored_change;
  std::optional<int64_t> restored_time_us;
  // Of `itemd keys`.
  std::optional<KeyFileChange> key_change;
  // The text to print for --help, --version or --man; empty without these flags.
  std::string answer;
};

// INVALID_ARGUMENT: an unknown flag (the message names the nearest), a missing value, a stray argument.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv);

}  // namespace itemdb::daemon
