#include "tools/commands/promote_commands.h"

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/strings/str_format.h"
#include "itemdb/client.h"
#include "tools/cli/command_table.h"
#include "tools/commands/admin_commands.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

absl::Status RunPromote(Context& context, const PromoteOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const DaemonStatus status, client.GetStatus({}, context.Call()));
  if (options.confirm.dry_run && !status.standby.has_value()) {
    context.err() << "the database at " << client.endpoint() << " is no standby\n";
    return absl::OkStatus();
  }
  const std::string action = absl::StrFormat(
      "make the database at %s the primary, at change %d or later, and let the old primary "
      "take no more writes",
      client.endpoint(), status.change_sequence);
  ITEMDB_ASSIGN_OR_RETURN(const bool go_on, Confirm(context, options.confirm, action, Unattended::kRefuse));
  if (!go_on) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t change_sequence,
                          client.Promote(options.force, context.ExplicitTimeout()));
  if (context.format() == OutputFormat::kTable) {
    context.out() << absl::StrFormat("promoted at change %d\n", change_sequence);
    return absl::OkStatus();
  }
  context.Print(JsonValue::Object().Add("change_sequence", change_sequence));
  return absl::OkStatus();
}

absl::Status RunStandbyDiverged(Context& context, const DivergedOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const DaemonStatus status, client.GetStatus({}, context.Call()));
  if (!status.fenced_after_change.has_value()) context.err() << "no standby of this database was promoted\n";
  // Without a promotion nothing follows.
  return RunChangesRead(context, {.after_sequence = status.fenced_after_change.value_or(UINT64_MAX),
                                  .limit = std::nullopt,
                                  .typed = options.typed});
}

void RegisterPromoteCommand(CommandTable& table) {
  auto options = std::make_shared<PromoteOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "promote",
       .summary = "Make a standby the primary",
       .details =
           "The primary that it has followed takes no more writes, if it runs and can read its archive; "
           "the standby waits for it, at most 3 seconds, applies what the archive has, and accepts "
           "writes. Asks first; without a terminal, --yes is needed.",
       .examples = {{"itemctl promote --dry-run", "show which database would be promoted"},
                    {"itemctl status && itemctl promote --dry-run", "first see how far it has followed"}}},
      [options](Context& context) { return RunPromote(context, *options); });
  command->add_flag(
      "--force", options->force,
      "Promote it also if the archive cannot be read or written, or has a gap: writes behind are "
      "lost, and the old primary may go on");
  AddConfirmOptions(command, options->confirm, "Print what would be promoted, and promote nothing");

  CLI::App* group = table.AddGroup({.name = "standby", .summary = "What a promotion has left behind"});
  auto diverged = std::make_shared<DivergedOptions>();
  command = table.Add(
      group,
      {.name = "diverged",
       .summary = "Print the changes of an old primary that its promoted standby has not",
       .details = "Ask the old primary, which still serves reads. It prints these changes as 'changes read' "
                  "does, and nothing if no standby was promoted.",
       .examples = {{"itemctl standby diverged", "the changes that are only here"},
                    {"itemctl standby diverged -o jsonl --typed", "as lines, with DynamoDB JSON"}}},
      [diverged](Context& context) { return RunStandbyDiverged(context, *diverged); });
  command->add_flag("--typed", diverged->typed, "Print DynamoDB JSON");
}

}  // namespace itemdb::tools
