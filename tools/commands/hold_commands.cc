#include "tools/commands/hold_commands.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/status_macros.h"
#include "tools/base/number_text.h"
#include "tools/base/text_table.h"
#include "tools/base/time_text.h"
#include "tools/cli/command_table.h"
#include "tools/cli/output.h"
#include "tools/json/status_json.h"

namespace itemdb::tools {
namespace {

void PrintHolds(Context& context, const std::vector<ChangeHold>& holds) {
  TextTable table(
      {{"hold"}, NumberColumn("after change"), NumberColumn("on disk"), {"renewed"}, {"lease"}, {"state"}});
  for (const ChangeHold& hold : holds) {
    const bool is_held = hold.state == ChangeHoldState::kHeld;
    table.AddRow(
        {hold.name, WithSeparators(static_cast<int64_t>(hold.after_sequence)),
         is_held ? BytesText(hold.held_bytes) : "", TimeText(hold.renewed_time),
         absl::FormatDuration(hold.lease),
         is_held ? "held" : absl::StrCat(ChangeHoldStateName(hold.state), " ", TimeText(hold.ended_time))});
  }
  context.Print(table);
}

}  // namespace

absl::Status RunHoldsList(Context& context) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<ChangeHold> holds, client.ListChangeHolds(context.Call()));
  if (context.format() != OutputFormat::kTable) {
    context.Print(JsonValue::Object().Add("change_holds", HoldsToJson(holds)));
  } else if (holds.empty()) {
    context.out() << "no reader holds changes\n";
  } else {
    PrintHolds(context, holds);
  }
  return absl::OkStatus();
}

absl::Status RunHoldRelease(Context& context, const HoldReleaseOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  const std::string action = "release the hold " + options.name +
                             " of the change log, whose reader may then miss changes and has to begin anew";
  ITEMDB_ASSIGN_OR_RETURN(const bool goes_on, Confirm(context, options.confirm, action, Unattended::kRefuse));
  if (!goes_on) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(const ChangeHold hold, client.ReleaseChanges(options.name, context.Call()));
  if (context.format() == OutputFormat::kTable) {
    context.out() << "released; it held the changes after " << hold.after_sequence << '\n';
  } else {
    context.Print(HoldToJson(hold));
  }
  return absl::OkStatus();
}

void RegisterHoldCommands(CommandTable& table) {
  CLI::App* group = table.AddGroup(
      {.name = "change-holds", .summary = "Changes that are kept for readers of the change log"});
  table.Add(
      group,
      {.name = "list",
       .summary = "List the holds: readers whose changes are kept beyond the retention",
       .details = "A hold ends when its reader has not renewed it for its lease, or when it keeps changes "
                  "that must go because the disk is too full. One that has ended is listed for a day.",
       .examples = {{"itemctl change-holds list", "as a table, a line for each hold"},
                    {"itemctl change-holds list -o json", "the same for programs; sizes in bytes"}}},
      RunHoldsList);
  auto release = std::make_shared<HoldReleaseOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "release",
       .summary = "End a hold, so that its changes are kept no longer than others",
       .details =
           "For a reader that will not come back. One that does is told that its hold is gone; itemctl "
           "graduate and adopt then compare everything anew if changes are missing. Without a "
           "terminal, --yes is needed.",
       .examples = {{"itemctl change-holds release move-0123abcd --dry-run", "say what would be released"},
                    {"itemctl change-holds list && itemctl change-holds release move-0123abcd --dry-run",
                     "first list the holds"}}},
      [release](Context& context) { return RunHoldRelease(context, *release); });
  command->add_option("NAME", release->name, "The name of the hold")->required();
  AddConfirmOptions(command, release->confirm, "Print what would be released, and release nothing");
}

}  // namespace itemdb::tools
