// Every command of itemctl with its options, descriptions and examples. The parser, the help (help.h), the
// completion (completion.h) and the manual pages (man_pages.h) are made from this table.
//
// Built on CLI11. The value name of an option or argument tells the completion which values are possible:
// TABLE a table name, INDEX an index of the given table, FILE and FOLDER a path, `a|b|c` one of these words.
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
  // A shell line that begins with "itemctl". It must succeed after `itemctl order-entry load`, with a table
  // `music` and the files that tests/tools/examples_test.cc writes.
  std::string line;
  // What the line does, as a phrase.
  std::string what;
};

struct CommandSpec {
  std::string name;
  // One sentence without its full stop.
  std::string summary;
  // More sentences, if one is not enough.
  std::string details = "";
  // Two for each command that is not hidden; none for a group.
  std::vector<Example> examples = {};
  // Meant for programs: not shown in lists of commands.
  bool hidden = false;
  // Long output on a terminal is shown with a pager. Only for commands that end by themselves and ask
  // nothing.
  bool pages = false;
};

class CommandTable {
 public:
  // Adds the global options, then calls `add_commands` to add the commands. Neither movable nor copyable,
  // because the parser has pointers into this object.
  explicit CommandTable(void (*add_commands)(CommandTable&));
  CommandTable(const CommandTable&) = delete;
  CommandTable& operator=(const CommandTable&) = delete;

  CLI::App& root() { return root_; }
  const CLI::App& root() const { return root_; }
  // The options and the command of the command line, set when it has been parsed.
  GlobalOptions& options() { return options_; }
  const Command& selected() const { return selected_; }

  // Makes the parser ignore environment variables. For statements of a shell: it read the variables when it
  // started.
  void IgnoreEnvironment();

  // Adds a command that has subcommands.
  CLI::App* AddGroup(CommandSpec spec);
  // Adds a command below the root or a group. When the parser meets the command, selected() becomes `run`.
  CLI::App* Add(CLI::App* parent, CommandSpec spec, Command run);

  // The spec of the root has only a name and a summary.
  const CommandSpec& SpecOf(const CLI::App* command) const { return specs_.at(command); }

 private:
  CLI::App root_;
  GlobalOptions options_;
  Command selected_;
  std::map<const CLI::App*, CommandSpec> specs_;
};

// Commands below `app` in the order of the table; hidden ones only if `with_hidden`.
std::vector<const CLI::App*> CommandsOf(const CLI::App& app, bool with_hidden = false);
// The innermost command that the parsed command line names.
const CLI::App& Innermost(const CLI::App& root);
// "table create"; empty for the root.
std::string PathOf(const CLI::App& command);
// The positional arguments of `command` in their order, and its options except --help.
std::vector<const CLI::Option*> ArgumentsOf(const CLI::App& command);
std::vector<const CLI::Option*> OptionsOf(const CLI::App& command);
// "-f", "--file": all spellings of an option.
std::vector<std::string> SpellingsOf(const CLI::Option& option);
// The name of the option's value, such as TABLE; empty for a flag.
std::string ValueNameOf(const CLI::Option& option);

}  // namespace itemdb::tools
