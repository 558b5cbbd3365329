// `itemctl completion bash|zsh`, and the hidden commands behind completion and the manual pages.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/command_table.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

// Prints the script that makes the shell, "bash" or "zsh", ask itemctl what may come next.
absl::Status RunCompletion(Context& context, const std::string& shell);

// Prints "words" and the candidates for the last of `words` one a line, or "files" where a path may stand.
// Never an error: completion that fails is silent.
absl::Status RunComplete(Context& context, const CommandTable& table, const std::vector<std::string>& words);

// Writes the manual pages into `directory`, or the one called `page` to stdout.
struct ManOptions {
  std::string page = "itemctl";
  std::string directory;
};
absl::Status RunMan(Context& context, const CommandTable& table, const ManOptions& options);

void RegisterCompletionCommands(CommandTable& table);

}  // namespace itemdb::tools
