// The table of settings: name, type, bounds, default and help of each. Flags, environment variables, keys of
// the configuration file, --help and --print-config come from it; a test holds packaging/itemd.toml to it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/config/options.h"

namespace itemdb::daemon {

// The member of Options that a setting fills. Its type is the type of the setting: text, several texts, a
// size in bytes, a number, a duration, true or false.
using SettingField =
    std::variant<std::string Options::*, std::vector<std::string> Options::*, uint64_t Options::*,
                 int Options::*, absl::Duration Options::*, bool Options::*>;

struct Setting {
  // "data-dir" makes the flag --data-dir, the variable ITEMD_DATA_DIR and the key data-dir.
  std::string_view name;
  SettingField field;
  // The placeholder for the value in --help: "DIR".
  std::string_view value_name;
  // The default value, as text; empty: there is none.
  std::string_view fallback;
  std::string_view help;
  // Allowed values of a text, separated by |; empty: any.
  std::string_view choices = {};
  // Bounds of a size in bytes, a number, or a duration in milliseconds.
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();
  // A size may also be "unlimited", which leaves the 0 in Options.
  bool allows_unlimited = false;

  std::string key() const { return std::string(name); }
  std::string flag() const;
  std::string variable() const;
  bool is_list() const;
  bool is_boolean() const;
  // The allowed values, for messages: "a whole number from 1 to 256".
  std::string allowed() const;
};

const std::vector<Setting>& Settings();
// Null if no setting has this name.
const Setting* FindSetting(std::string_view name);
// The names of all settings in one of the three sources, e.g. NamesOf(&Setting::flag).
std::vector<std::string> NamesOf(std::string (Setting::*name)() const);

// The value of a setting from one source, before it is checked and written into Options.
struct SettingValue {
  const Setting* setting = nullptr;
  // One text; for lists any number.
  std::vector<std::string> texts;
  // "flag", "environment ITEMD_LISTEN", "/etc/itemdb/itemd.toml:3", "default".
  std::string origin;
  // The beginning of messages: "--listen", "ITEMD_LISTEN", "/etc/itemdb/itemd.toml:3: listen".
  std::string subject;
};

// Writes `value` into its field of `options`. A size in percent is a share of `machine_memory_bytes`.
// INVALID_ARGUMENT: wrong type or out of bounds; the message names subject, value and allowed values.
absl::Status ApplySetting(const SettingValue& value, uint64_t machine_memory_bytes, Options& options);

// One value for each environment variable of a setting. Lists are split at commas. ITEMD_CONFIG is skipped.
// INVALID_ARGUMENT: the name of a variable begins with ITEMD_, but no setting has it.
absl::StatusOr<std::vector<SettingValue>> ReadEnvironment(const std::vector<std::string>& environment);

}  // namespace itemdb::daemon
