// `--help`: a command's sentence, options and examples as text for people.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "tools/cli/command_table.h"

namespace itemdb::tools {

// Of one command, group or, for the root, of itemctl as a whole. Lines of at most 100 letters.
std::string HelpText(const CommandTable& table, const CLI::App& command);

// "itemctl table create [OPTIONS] -f FILE": how the command is called.
std::string UsageOf(const CLI::App& command);

// "-f, --file FILE".
std::string SyntaxOf(const CLI::Option& option);

// What \? prints in the shell: its own commands.
std::string_view ShellHelp();

}  // namespace itemdb::tools
