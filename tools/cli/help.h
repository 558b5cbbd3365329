// The text of `--help`: a command's description, options and examples.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "tools/cli/command_table.h"

namespace itemdb::tools {

// The help of a command or a group; for the root, of itemctl as a whole. Lines have at most 80 letters.
std::string HelpText(const CommandTable& table, const CLI::App& command);

// How the command is called: "itemctl table create [OPTIONS] -f FILE".
std::string UsageOf(const CLI::App& command);

// "-f, --file FILE".
std::string SyntaxOf(const CLI::Option& option);

// The shell's own commands, as \? prints them.
std::string_view ShellHelp();

// The version of this itemctl, such as "0.2.0".
std::string_view ToolVersion();

}  // namespace itemdb::tools
