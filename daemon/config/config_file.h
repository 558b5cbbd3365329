// The configuration file: TOML, one key per setting, no tables.
//
//   data-dir = "/var/lib/itemdb"
//   listen = ["127.0.0.1:7420", "unix:/run/itemdb/itemd.sock"]
//   memory = "4GiB"
#pragma once

#include <string>
#include <vector>

#include "daemon/config/settings.h"

namespace itemdb::daemon {

// Longest configuration file read, in bytes.
inline constexpr size_t kMaxConfigFileBytes = 1 << 20;

// The settings in the TOML file `path`. A boolean is true or false. Every other value may be a string, with
// the text that its flag takes; numbers and sizes in bytes may be whole numbers, lists arrays of strings.
//
// UNAVAILABLE: the file cannot be read. INVALID_ARGUMENT: it is not TOML, a key is not a setting, or a value
// has a wrong type; the message names file and line. ApplySetting() checks the bounds.
absl::StatusOr<std::vector<SettingValue>> ReadConfigFile(const std::string& path);

}  // namespace itemdb::daemon
