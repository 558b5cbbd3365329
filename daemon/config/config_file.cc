#include "daemon/config/config_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "common/nearest.h"
#include "daemon/config/setting_values.h"
#include "daemon/process/file_bytes.h"

namespace itemdb::daemon {
namespace {

// The type of `node` for messages: "an array".
std::string TypeOf(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

// `node` in TOML's syntax on one line, cut at 80 bytes.
std::string Written(const toml::node& node) {
  constexpr size_t kLongest = 80;
  std::ostringstream out;
  node.visit([&out](const auto& value) { out << value; });
  std::string text = absl::StrReplaceAll(out.str(), {{"\n", " "}});
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

// The text of a single value of `setting`; nullopt if the setting does not take the type of `node`.
std::optional<std::string> TextOf(const toml::node& node, const Setting& setting) {
  bool takes_numbers = std::holds_alternative<uint64_t Options::*>(setting.field) ||
                       std::holds_alternative<int Options::*>(setting.field);
  if (const auto* boolean = node.as_boolean(); boolean != nullptr && setting.is_boolean()) {
    return boolean->get() ? "true" : "false";
  }
  if (const auto* number = node.as_integer(); number != nullptr && takes_numbers) {
    return absl::StrFormat("%d", number->get());
  }
  const auto* text = node.as_string();
  if (text == nullptr || setting.is_boolean()) return std::nullopt;
  return text->get();
}

absl::Status WrongType(const SettingValue& value, const toml::node& node) {
  std::string takes = value.setting->is_list() ? "a text or an array of texts" : value.setting->allowed();
  return storage::ValidationError(
      absl::StrFormat("%s: %s is %s: it takes %s", value.subject, Written(node), TypeOf(node), takes));
}

absl::StatusOr<SettingValue> ReadValue(const std::string& path, const toml::key& key,
                                       const toml::node& node) {
  std::string place = absl::StrFormat("%s:%d", path, key.source().begin.line);
  std::string name(key.str());
  const Setting* setting = FindSetting(name);
  if (setting == nullptr) {
    return storage::ValidationError(absl::StrFormat("%s: %s%s is not a setting%s", place,
                                                    node.is_table() ? "table " : "", name,
                                                    common::DidYouMean(name, NamesOf(&Setting::key))));
  }
  SettingValue value{setting, {}, place, place + ": " + name};
  if (const toml::array* array = node.as_array(); array != nullptr && setting->is_list()) {
    for (const toml::node& element : *array) {
      std::optional<std::string> text = TextOf(element, *setting);
      if (!text.has_value()) return WrongType(value, node);
      value.texts.push_back(*std::move(text));
    }
    return value;
  }
  std::optional<std::string> text = TextOf(node, *setting);
  if (!text.has_value()) return WrongType(value, node);
  value.texts.push_back(*std::move(text));
  return value;
}

}  // namespace

absl::StatusOr<std::vector<SettingValue>> ReadConfigFile(const std::string& path) {
  absl::StatusOr<std::string> content = ReadFileBytes(path, kMaxConfigFileBytes);
  if (!content.ok()) {
    return absl::Status(content.status().code(),
                        "the configuration file " + storage::MessageOf(content.status()));
  }
  toml::table table;
  try {
    table = toml::parse(*content, path);
  } catch (const toml::parse_error& error) {
    return storage::ValidationError(absl::StrFormat(
        "%s:%d: this is not TOML: %s", path, error.source().begin.line, std::string(error.description())));
  }
  std::vector<SettingValue> values;
  for (const auto& [key, node] : table) {
    ITEMDB_ASSIGN_OR_RETURN(SettingValue value, ReadValue(path, key, node));
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace itemdb::daemon
