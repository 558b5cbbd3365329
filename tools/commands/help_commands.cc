#include "tools/commands/help_commands.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "common/nearest.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/cli/help.h"

namespace itemdb::tools {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(1);

}  // namespace

absl::Status RunHelp(Context& context, const CommandTable& table, const std::vector<std::string>& words) {
  const CLI::App* command = &table.root();
  for (const std::string& word : words) {
    std::vector<std::string> names;
    const CLI::App* found = nullptr;
    for (const CLI::App* below : CommandsOf(*command)) {
      names.push_back(below->get_name());
      if (below->get_name() == word) found = below;
    }
    if (found == nullptr) {
      return UsageError(absl::StrFormat("there is no command %s%s", absl::StrJoin(words, " "),
                                        common::DidYouMean(word, names)));
    }
    command = found;
  }
  context.out() << HelpText(table, *command);
  return absl::OkStatus();
}

absl::Status RunVersion(Context& context) {
  JsonValue versions = JsonValue::Object().Add("itemctl", std::string(ToolVersion()));
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  CallOptions call = context.Call();
  call.timeout = kPatience;
  const absl::StatusOr<DaemonStatus> status = client.GetStatus({}, call);
  if (status.ok()) versions.Add("itemd", status->version).Add("endpoint", client.endpoint());
  context.PrintSummary(versions);
  return absl::OkStatus();
}

void RegisterHelpCommands(CommandTable& table) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      table.Add(&table.root(),
                {.name = "help",
                 .summary = "Explain itemctl, or one of its commands",
                 .examples = {{"itemctl help", "what there is"},
                              {"itemctl help table create", "one command, with its options and examples"}},
                 .pages = true},
                [words, &table](Context& context) { return RunHelp(context, table, *words); });
  command->add_option("COMMAND", *words, "The words of the command. Default: itemctl itself");

  table.Add(&table.root(),
            {.name = "version",
             .summary = "Print the versions of itemctl and of the daemon",
             .details = "Only that of itemctl if no daemon answers within a second.",
             .examples = {{"itemctl version", "of this itemctl and of the daemon it talks to"},
                          {"itemctl version -o json", "the same for programs"}}},
            RunVersion);
}

}  // namespace itemdb::tools
