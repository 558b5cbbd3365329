// Completion of a command line, for bash, zsh and the interactive shell.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/cli/command_table.h"

namespace itemdb::tools {

// Functions that return names known only to the daemon.
struct NameSources {
  std::function<std::vector<std::string>()> tables;
  // The indexes of `table_name`; of all tables if it is empty.
  std::function<std::vector<std::string>(const std::string& table_name)> indexes;
  // The attributes of `table_name`. A null function: attribute names are not completed.
  std::function<std::vector<std::string>(const std::string& table_name)> attributes = nullptr;
};

struct Completion {
  // The text to complete: the last word, its part after "=", or the last name in an expression.
  std::string partial;
  // All candidates that begin with `partial`, in order.
  std::vector<std::string> candidates;
  // What candidates are, as far as it is known: of commands and options.
  std::map<std::string, std::string> descriptions = {};
  // A path is possible here.
  bool files = false;
};

// `words` are the words of the command line without the program's name. The last word is completed; it is
// empty after a space.
Completion Complete(const CommandTable& table, const std::vector<std::string>& words,
                    const NameSources& names);

// `defaults` with the connection options that `words` contain: "--endpoint", "--tls-ca", ...
GlobalOptions ConnectionOf(const std::vector<std::string>& words, GlobalOptions defaults);

// Asks the daemon for names, each time for a short time only. No names if the daemon does not answer in time.
NameSources LiveNames(Session& session, const GlobalOptions& options);

}  // namespace itemdb::tools
