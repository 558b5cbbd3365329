#include "tools/cli/man_pages.h"

#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "common/roff.h"
#include "tools/base/exit_codes.h"
#include "tools/cli/help.h"

namespace itemdb::tools {
namespace {

using common::Roff;

void AppendHeading(std::string_view heading, std::string* out) {
  out->append(".SH ").append(heading).append("\n");
}

void AppendTerm(const std::string& term, const std::string& text, std::string* out) {
  *out += ".TP\n.B " + Roff(term) + "\n" + Roff(text) + "\n";
}

// Appends `text` with its line breaks kept.
void AppendVerbatim(const std::string& text, std::string* out) {
  *out += ".PP\n.nf\n.RS 4\n" + Roff(text) + "\n.RE\n.fi\n";
}

void AppendOptions(const std::vector<const CLI::Option*>& options, std::string* out) {
  for (const CLI::Option* option : options) {
    std::string text = option->get_description() + ".";
    if (option->get_required()) text += " Required.";
    if (!option->get_envname().empty()) text += " Environment: " + option->get_envname() + ".";
    AppendTerm(SyntaxOf(*option), text, out);
  }
}

void AppendCommand(const CommandTable& table, const CLI::App& command, std::string* out) {
  const CommandSpec& spec = table.SpecOf(&command);
  *out += ".SS " + Roff("itemctl " + PathOf(command)) + "\n";
  *out += ".B " + Roff(UsageOf(command)) + "\n.PP\n" + Roff(spec.summary + ".") + "\n";
  if (!spec.details.empty()) *out += Roff(spec.details) + "\n";
  AppendOptions(ArgumentsOf(command), out);
  AppendOptions(OptionsOf(command), out);
  for (const Example& example : spec.examples) {
    *out += ".PP\nExample: " + Roff(example.what) + ".\n";
    AppendVerbatim(example.line, out);
  }
}

std::string Begin(const std::string& name, const std::string& summary) {
  return ".TH " + Roff(absl::AsciiStrToUpper(name)) +
         " 1 \"\" \"itemdb " ITEMDB_VERSION "\" \"itemdb\"\n.SH NAME\n" + Roff(name) + " \\- " +
         Roff(summary) + "\n";
}

std::string MainPage(const CommandTable& table) {
  std::string out = Begin("itemctl", "administer an itemdb daemon and read and write its items");
  AppendHeading("SYNOPSIS", &out);
  out += ".B " + Roff(UsageOf(table.root())) + "\n.br\n.B itemctl\n";
  AppendHeading("DESCRIPTION", &out);
  out += Roff(
      "itemctl is a client of itemd. Data goes to standard output, everything else to standard error. "
      "Without a "
      "command on a terminal it is an interactive shell; see itemctl-shell(1).");
  out += "\n";
  AppendHeading("COMMANDS", &out);
  for (const CLI::App* command : CommandsOf(table.root())) {
    AppendTerm(command->get_name(),
               command->get_description() + ". See itemctl-" + command->get_name() + "(1).", &out);
  }
  AppendHeading("OPTIONS", &out);
  out += "These options can be given before or after the command.\n";
  AppendOptions(OptionsOf(table.root()), &out);
  AppendHeading("EXIT STATUS", &out);
  AppendVerbatim(std::string(ExitCodeHelp()), &out);
  AppendHeading("ERRORS", &out);
  out += Roff(
      "An error is one line on standard error. With -o json or -o jsonl it is a JSON object {\"error\": "
      "{\"code\", "
      "\"reason\", \"message\", \"exit_code\"}}.");
  out += "\n";
  AppendHeading("FILES", &out);
  AppendTerm("~/.itemctl_history",
             "The history of the interactive shell; $XDG_STATE_HOME/itemctl_history if that variable is set.",
             &out);
  return out;
}

std::string CommandPage(const CommandTable& table, const CLI::App& command) {
  std::string out = Begin("itemctl-" + command.get_name(), table.SpecOf(&command).summary);
  const std::vector<const CLI::App*> below = CommandsOf(command);
  AppendHeading("SYNOPSIS", &out);
  for (const CLI::App* each : below) out += ".B " + Roff(UsageOf(*each)) + "\n.br\n";
  if (below.empty()) out += ".B " + Roff(UsageOf(command)) + "\n";
  AppendHeading("DESCRIPTION", &out);
  if (below.empty()) AppendCommand(table, command, &out);
  for (const CLI::App* each : below) AppendCommand(table, *each, &out);
  if (command.get_name() == "shell") {
    AppendHeading("COMMANDS OF THE SHELL", &out);
    AppendVerbatim(std::string(ShellHelp()), &out);
  }
  AppendHeading("SEE ALSO", &out);
  out += Roff("itemctl(1) for the options of every command and the exit status.") + "\n";
  return out;
}

}  // namespace

std::vector<ManPage> ManPages(const CommandTable& table) {
  std::vector<ManPage> pages = {{.name = "itemctl", .text = MainPage(table)}};
  for (const CLI::App* command : CommandsOf(table.root())) {
    pages.push_back({.name = "itemctl-" + command->get_name(), .text = CommandPage(table, *command)});
  }
  return pages;
}

}  // namespace itemdb::tools
