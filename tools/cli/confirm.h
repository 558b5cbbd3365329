// --yes and --dry-run of the commands that delete or overwrite data.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

struct ConfirmOptions {
  // Do not ask.
  bool yes = false;
  // Show what would be deleted or overwritten, and change nothing.
  bool dry_run = false;
};

// `dry_run` is the help text of the command's --dry-run.
void AddConfirmOptions(CLI::App* command, ConfirmOptions& options,
                       const std::string& dry_run = "Print what would be deleted, and delete nothing");

// What Confirm does without --yes if stdin or stderr is not a terminal.
enum class Unattended { kRefuse, kGoOn };

// Returns whether to execute `action`, such as "delete the table Order with 12 items". With --dry-run it
// prints `action` to stderr and returns false. With --yes it returns true. On a terminal it asks on stderr
// and reads the answer from stdin; "y", "Y" and "yes" mean true. UsageError: another answer; or there is no
// terminal and `unattended` is kRefuse.
absl::StatusOr<bool> Confirm(Context& context, const ConfirmOptions& options, const std::string& action,
                             Unattended unattended);

}  // namespace itemdb::tools
