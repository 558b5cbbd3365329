// --yes and --dry-run of the commands that destroy something.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

struct ConfirmOptions {
  // Do not ask.
  bool yes = false;
  // Show what would be destroyed, and leave it.
  bool dry_run = false;
};

// `dry_run` is what the command says of its own.
void AddConfirmOptions(CLI::App* command, ConfirmOptions& options,
                       const std::string& dry_run = "Print what would be deleted, and delete nothing");

// What happens when there is nobody to ask and no --yes.
enum class Unattended { kRefuse, kGoOn };

// Whether to go on with `deed`, such as "delete the table Order with 12 items". With --yes it goes on. On a
// terminal it asks on stderr and reads the answer from stdin; only "y" or "yes" goes on. With --dry-run it
// says on stderr what would happen, and does not go on. UsageError: nobody to ask, and `unattended` says to
// refuse; or the answer was no.
absl::StatusOr<bool> Confirm(Context& context, const ConfirmOptions& options, const std::string& deed,
                             Unattended unattended);

}  // namespace itemdb::tools
