// `itemctl completion bash|zsh`, and the hidden commands behind completion and the manual pages.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/command_table.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

// Prints the script with which `shell`, "bash" or "zsh", asks itemctl for completions.
absl::Status RunCompletion(Context& context, const std::string& shell);

// Prints "words", or "files" if a path is possible, and then the candidates for the last of `words`, one a
// line; with `with_descriptions` what it is behind it, after a tab. Always OK: a failed completion prints no
// candidates.
absl::Status RunComplete(Context& context, const CommandTable& table, const std::vector<std::string>& words,
                         bool with_descriptions);

// Writes the manual pages into `directory`, or the one called `page` to stdout.
struct ManOptions {
  std::string page = "itemctl";
  std::string directory;
};
absl::Status RunMan(Context& context, const CommandTable& table, const ManOptions& options);

void RegisterCompletionCommands(CommandTable& table);

}  // namespace itemdb::tools
