// The table of settings: one line each with its name, type, bounds, default and help. Flags, variables, keys
// of the configuration file, --help, --print-config and the example in packaging/ all come from it, so they
// cannot differ.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/config/options.h"

namespace itemdb {

// The field a setting fills, which is also its type: text, several texts, a size in bytes, a number, a
// duration, true or false.
using SettingField =
    std::variant<std::string Options::*, std::vector<std::string> Options::*, uint64_t Options::*,
                 int Options::*, absl::Duration Options::*, bool Options::*>;

struct Setting {
  // "data-dir": --data-dir, ITEMD_DATA_DIR, data-dir.
  std::string_view name;
  SettingField field;
  // What --help calls the value.
  std::string_view value_name;
  // As somebody would write it; empty: none.
  std::string_view fallback;
  std::string_view help;
  // Allowed values of a text, separated by |; empty: any.
  std::string_view choices = {};
  // Of sizes in bytes, of numbers, of durations in milliseconds.
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();

  std::string key() const { return std::string(name); }
  std::string flag() const;
  std::string variable() const;
  bool is_list() const;
  bool is_boolean() const;
  // "a size from 64MiB to 1024TiB, such as 512MiB": what is allowed, for messages.
  std::string allowed() const;
};

const std::vector<Setting>& Settings();
// Null when there is none.
const Setting* FindSetting(std::string_view name);
// How all settings are called in one of the three places, e.g. NamesOf(&Setting::flag).
std::vector<std::string> NamesOf(std::string (Setting::*name)() const);

// A value on its way into Options.
struct SettingValue {
  const Setting* setting = nullptr;
  // One; for lists any number.
  std::vector<std::string> texts;
  // "flag", "environment ITEMD_LISTEN", "/etc/itemdb/itemd.toml:3", "default".
  std::string origin;
  // How messages begin: "--listen", "ITEMD_LISTEN", "/etc/itemdb/itemd.toml:3: listen".
  std::string subject;
};

// Writes `value` into its field of `options`. INVALID_ARGUMENT: it is not of the setting's type or out of
// bounds; the message names subject, value and what is allowed. `machine_memory_bytes` is what a size in
// percent is a share of.
absl::Status ApplySetting(const SettingValue& value, uint64_t machine_memory_bytes, Options& options);

// The variables that set something: a value for each. INVALID_ARGUMENT: one begins with ITEMD_ and is none of
// ours, or is empty. ITEMD_CONFIG is left out.
absl::StatusOr<std::vector<SettingValue>> ReadEnvironment(const std::vector<std::string>& environment);

}  // namespace itemdb
