#include "tools/cli/profile.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/nearest.h"
#include "tools/base/exit_codes.h"

namespace itemdb::tools {
namespace {

constexpr char kDefault[] = "default";

// The options that a profile may have: all of the root that take a value or are a flag, except those that
// choose a profile or a command.
std::vector<std::string> AllowedKeys(const CLI::App& root) {
  static const std::set<std::string> kExcluded = {"help", "version", "profile", "command"};
  std::vector<std::string> keys;
  for (const CLI::Option* option : root.get_options([](const CLI::Option*) { return true; })) {
    for (const std::string& name : option->get_lnames()) {
      if (!kExcluded.contains(name)) keys.push_back(name);
    }
  }
  return keys;
}

}  // namespace

std::string ProfilesPath() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (std::string path = variable("ITEMDB_PROFILES"); !path.empty()) return path;
  if (const std::string config = variable("XDG_CONFIG_HOME"); !config.empty())
    return config + "/itemdb/profiles.toml";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.config/itemdb/profiles.toml";
}

absl::Status ApplyProfile(const std::string& path, const std::string& name, bool over_environment,
                          const std::set<std::string>& given, CLI::App& root) {
  errno = 0;
  std::ifstream file(path);
  if (path.empty() || !file.is_open()) {
    if (name.empty() && (path.empty() || errno == ENOENT || errno == ENOTDIR)) return absl::OkStatus();
    return UsageError(absl::StrFormat("cannot read the profiles in %s: %s",
                                      path.empty() ? "~/.config/itemdb/profiles.toml" : path,
                                      path.empty() ? "HOME is not set" : std::strerror(errno)));
  }
  std::vector<CLI::ConfigItem> items;
  // CLI11 reports errors by exceptions.
  try {
    items = CLI::ConfigTOML().from_config(file);
  } catch (const std::exception& error) {
    return UsageError(absl::StrFormat("cannot parse the profiles in %s: %s", path, error.what()));
  }
  const std::string wanted = name.empty() ? kDefault : name;
  std::set<std::string> profiles;
  const std::vector<std::string> allowed = AllowedKeys(root);
  for (const CLI::ConfigItem& item : items) {
    // CLI11 leaves out the name of the section "default".
    const std::string profile = item.parents.empty() ? kDefault : item.parents.front();
    profiles.insert(profile);
    // CLI11 marks the beginning and the end of a section.
    if (profile != wanted || item.name == "++" || item.name == "--") continue;
    CLI::Option* option = root.get_option_no_throw("--" + item.name);
    if (option == nullptr || std::find(allowed.begin(), allowed.end(), item.name) == allowed.end()) {
      return UsageError(absl::StrFormat("the profile %s in %s has an unknown key %s; allowed are %s%s",
                                        wanted, path, item.name, absl::StrJoin(allowed, ", "),
                                        common::DidYouMean(item.name, allowed)));
    }
    if (over_environment ? given.contains(item.name) : option->count() > 0) continue;
    try {
      option->clear();
      for (const std::string& value : item.inputs) option->add_result(value);
      option->run_callback();
    } catch (const CLI::Error& error) {
      return UsageError(absl::StrFormat("the profile %s in %s: %s", wanted, path, error.what()));
    }
  }
  if (name.empty() || profiles.contains(name)) return absl::OkStatus();
  const std::vector<std::string> known(profiles.begin(), profiles.end());
  return UsageError(absl::StrFormat("there is no profile %s in %s; it has %s%s", name, path,
                                    known.empty() ? "none" : absl::StrJoin(known, ", "),
                                    common::DidYouMean(name, known)));
}

}  // namespace itemdb::tools
