// Every command of itemctl with its options, sentences and examples: the one source of the parser, of help
// (help.h), of completion (completion.h) and of the manual pages (man_pages.h).
//
// Built on CLI11. What an option or argument is called says what it takes, for completion: TABLE a table
// name, INDEX an index of the table given, FILE and FOLDER a path, `a|b|c` one of these words.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/context.h"

namespace itemdb::tools {

inline constexpr std::string_view kTableName = "TABLE";
inline constexpr std::string_view kIndexName = "INDEX";
inline constexpr std::string_view kFileName = "FILE";
inline constexpr std::string_view kFolderName = "FOLDER";

struct Example {
  // A line for a shell, with "itemctl"; it succeeds after `itemctl order-entry load`, with a table `music`
  // and the files that the tests make (tests/tools/examples_test.cc).
  std::string line;
  // What it does, a phrase.
  std::string what;
};

struct CommandSpec {
  std::string name;
  // One sentence without its full stop.
  std::string summary;
  // More sentences, where one does not say all.
  std::string details = "";
  // Two, of every command that is not hidden. A group has none.
  std::vector<Example> examples = {};
  // For programs: in no list of commands.
  bool hidden = false;
};

class CommandTable {
 public:
  // With the options of every command and the commands that `add_commands` adds. Neither movable nor
  // copyable: the parser points into it.
  explicit CommandTable(void (*add_commands)(CommandTable&));
  CommandTable(const CommandTable&) = delete;
  CommandTable& operator=(const CommandTable&) = delete;

  CLI::App& root() { return root_; }
  const CLI::App& root() const { return root_; }
  // What the command line said, once it has been parsed.
  GlobalOptions& options() { return options_; }
  const Command& selected() const { return selected_; }

  // Environment variables count for nothing: in a shell they were looked at when it started.
  void IgnoreEnvironment();

  // Adds a command that has others below it.
  CLI::App* AddGroup(CommandSpec spec);
  // Adds a command below the root or a group; `run` is called when it was parsed.
  CLI::App* Add(CLI::App* parent, CommandSpec spec, Command run);

  // Of the root: only name and summary.
  const CommandSpec& SpecOf(const CLI::App* command) const { return specs_.at(command); }

 private:
  CLI::App root_;
  GlobalOptions options_;
  Command selected_;
  std::map<const CLI::App*, CommandSpec> specs_;
};

// Commands below `app` in the order of the table; hidden ones only when asked for.
std::vector<const CLI::App*> CommandsOf(const CLI::App& app, bool with_hidden = false);
// The innermost command that was named.
const CLI::App& Innermost(const CLI::App& root);
// "table create"; empty for the root.
std::string PathOf(const CLI::App& command);
// The arguments of `command` without dashes, in their order, and its options, without --help.
std::vector<const CLI::Option*> ArgumentsOf(const CLI::App& command);
std::vector<const CLI::Option*> OptionsOf(const CLI::App& command);
// "-f", "--file": all spellings of an option.
std::vector<std::string> SpellingsOf(const CLI::Option& option);
// What the option's value is called; empty for a flag.
std::string ValueNameOf(const CLI::Option& option);

}  // namespace itemdb::tools
