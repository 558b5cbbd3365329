// Profiles: named sets of itemctl's options of every command, kept in a file.
//
//   # ~/.config/itemdb/profiles.toml
//   [default]
//   endpoint = "127.0.0.1:7420"
//   [production]
//   endpoint = "db.example.com:7420"
//   tls-ca = "/etc/itemdb/ca.pem"
//   access-key-id = "OPERATOR"
//   secret-access-key-file = "/home/ann/.config/itemdb/operator.secret"
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <string>

#include "absl/status/status.h"

namespace itemdb::tools {

// The path of the file: the environment variable ITEMDB_PROFILES, else itemdb/profiles.toml in
// $XDG_CONFIG_HOME or ~/.config. Empty if the home directory is not known.
std::string ProfilesPath();

// Sets the options of `root`, which has been parsed, to the values of the profile `name` in the file `path`:
// all but those that the command line has set and, unless `over_environment`, those that the environment has
// set. An empty name is the profile "default", and it is no error if the file or this profile does not exist.
// `given` are the names of the options of the command line, without "--".
//
// UsageError: the file cannot be read or parsed, it has no profile of this name, a key is not the name of
// an option of every command, or a value is not allowed.
absl::Status ApplyProfile(const std::string& path, const std::string& name, bool over_environment,
                          const std::set<std::string>& given, CLI::App& root);

}  // namespace itemdb::tools
