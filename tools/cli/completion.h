// What may stand next on a command line: for bash, zsh and the interactive shell.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/cli/command_table.h"

namespace itemdb::tools {

// Where names that only the daemon knows come from.
struct NameSources {
  std::function<std::vector<std::string>()> tables;
  // Of the table given, or of all.
  std::function<std::vector<std::string>(const std::string& table_name)> indexes;
  // Of the table given. Null: attribute names are not completed.
  std::function<std::vector<std::string>(const std::string& table_name)> attributes = nullptr;
};

struct Completion {
  // What is being completed: the last word, or what follows "=" or, in an expression, the last name in it.
  std::string partial;
  // All that begin with `partial`, in order.
  std::vector<std::string> candidates;
  // A path may stand here.
  bool files = false;
};

// `words` without the program's name; the last one is the one to complete, empty after a space.
Completion Complete(const CommandTable& table, const std::vector<std::string>& words,
                    const NameSources& names);

// What the words say already about the connection: "--endpoint", "--tls-ca", ...
GlobalOptions ConnectionOf(const std::vector<std::string>& words, GlobalOptions defaults);

// The daemon's names for as long as a person likes to wait for them, and none when it is not there.
NameSources LiveNames(Session& session, const GlobalOptions& options);

}  // namespace itemdb::tools
