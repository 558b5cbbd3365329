// The configuration file: TOML, one key a setting, no tables.
//
//   data-dir = "/var/lib/itemdb"
//   listen = ["127.0.0.1:7420", "unix:/run/itemdb/itemd.sock"]
//   memory = "4GiB"
#pragma once

#include <string>
#include <vector>

#include "daemon/config/settings.h"

namespace itemdb {

// Longest configuration file read, in bytes.
inline constexpr size_t kMaxConfigFileBytes = 1 << 20;

// The settings in the TOML file `path`, in its order. Texts are taken as they are; whole numbers are allowed
// for numbers and sizes in bytes, true and false for booleans, arrays of texts for lists.
//
// UNAVAILABLE: the file cannot be read. INVALID_ARGUMENT: it is not TOML, has a key that is no setting, or a
// value of a type that the setting does not take; the message names file and line. Bounds are ApplySetting's
// business.
absl::StatusOr<std::vector<SettingValue>> ReadConfigFile(const std::string& path);

}  // namespace itemdb
