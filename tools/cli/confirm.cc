#include "tools/cli/confirm.h"

#include <istream>
#include <string>

#include "absl/strings/ascii.h"
#include "tools/base/exit_codes.h"

namespace itemdb::tools {

void AddConfirmOptions(CLI::App* command, ConfirmOptions& options, const std::string& dry_run) {
  command->add_flag("-y,--yes", options.yes, "Do not ask");
  command->add_flag("-n,--dry-run", options.dry_run, dry_run);
}

absl::StatusOr<bool> Confirm(Context& context, const ConfirmOptions& options, const std::string& action,
                             Unattended unattended) {
  if (options.dry_run) {
    context.err() << "dry run: this would " << action << '\n';
    return false;
  }
  if (options.yes) return true;
  const Streams& streams = context.streams();
  if (!streams.in_is_terminal || !streams.err_is_terminal) {
    if (unattended == Unattended::kGoOn) return true;
    return UsageError("this would " + action + "; without a terminal to ask on, --yes is needed");
  }
  context.err() << "This will " << action << ". Go on? [y/N] " << std::flush;
  std::string answer;
  std::getline(context.in(), answer);
  // End of input counts as the answer "no". Cleared, because a shell continues to read.
  context.in().clear();
  answer = std::string(absl::StripAsciiWhitespace(answer));
  if (answer == "y" || answer == "Y" || answer == "yes") return true;
  return UsageError("the answer was not \"y\", so nothing was deleted");
}

}  // namespace itemdb::tools
