#include "tools/shell/statement.h"

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/cli/command_table.h"
#include "tools/cli/endpoint_probe.h"
#include "tools/cli/error_report.h"
#include "tools/cli/help.h"
#include "tools/cli/pager.h"
#include "tools/cli/profile.h"
#include "tools/shell/all_commands.h"
#include "tools/shell/shell_commands.h"

namespace itemdb::tools {
namespace {

bool IsCommandMissing(CLI::App& root, const CLI::Error& error) {
  return error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
         root.get_subcommands().empty() && root.remaining(true).empty();
}

// Runs the command and reports its error; `pager` is null if none may be used.
ExitCode Run(const Command& command, const CLI::App& parsed, Context& context, Pager* pager) {
  absl::Status status = command(context);
  context.Finish();
  context.out().flush();
  if (pager != nullptr) {
    pager->Finish();
    // The shell has told why.
    if (pager->cannot_run())
      context.err() << "itemctl: the pager " << PagerCommand() << " cannot be run; see ITEMDB_PAGER\n";
    // The user has seen enough.
    if (pager->left_early()) return ExitCode::kOk;
  }
  const ErrorForm form = {.json = context.format_is_explicit() && context.format() != OutputFormat::kTable,
                          .width = ErrorWidth(context.streams())};
  if (!status.ok()) {
    if (ExitCodeOf(status) == ExitCode::kUnreachable) status = Diagnosed(status, context);
    if (absl::IsUnauthenticated(status)) status = WithKeyAdvice(status, context.options());
    return ReportError(status, NearestName(status, parsed, context), form, context.err());
  }
  if (!context.out().good())
    return ReportError(UsageError("cannot write standard output"), "", form, context.err());
  return ExitCode::kOk;
}

// Long output of `parsed` is to be shown with a pager.
bool IsPaged(const CommandTable& table, const CLI::App& parsed, const Context& context, Session& session) {
  const Streams& streams = context.streams();
  return table.SpecOf(&parsed).pages && session.may_page && context.format() == OutputFormat::kTable &&
         streams.in_is_terminal && streams.out_is_terminal && streams.terminal_size != nullptr;
}

// The names of the options that `arguments` give, without those that the environment gives.
std::set<std::string> GivenOptions(const std::vector<std::string>& arguments) {
  CommandTable table(RegisterAllCommands);
  table.IgnoreEnvironment();
  try {
    table.root().parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Error&) {
    // A missing command: the caller has parsed the same arguments.
  }
  std::set<std::string> given;
  for (const CLI::Option* option : table.root().get_options([](const CLI::Option*) { return true; })) {
    if (option->count() > 0) given.insert(option->get_lnames().begin(), option->get_lnames().end());
  }
  return given;
}

// What the table's options name: the command of the command line, that of -c, or the shell.
absl::StatusOr<Command> CommandOf(CommandTable& table, const Session& session,
                                  const std::vector<std::string>& arguments) {
  // A shell has read its profile when it was started.
  if (!session.is_shell || table.options().profile != session.defaults.profile) {
    // A profile that was asked for by an option is meant, and not the server of an exported ITEMDB_ENDPOINT.
    const std::string& profile = table.options().profile;
    const std::set<std::string> given = profile.empty() ? std::set<std::string>() : GivenOptions(arguments);
    ITEMDB_RETURN_IF_ERROR(
        ApplyProfile(ProfilesPath(), profile, given.contains("profile"), given, table.root()));
  }
  const std::string& lines = table.options().command;
  if (lines.empty()) return table.selected() != nullptr ? table.selected() : Command(RunShell);
  if (table.selected() != nullptr) return UsageError("give a command or -c, not both");
  if (session.is_shell) return UsageError("this is the shell already: type the commands without -c");
  return Command([lines](Context& context) { return RunLines(context, lines); });
}

}  // namespace

ExitCode RunStatement(const std::vector<std::string>& arguments, Streams streams, Session& session) {
  CommandTable table(RegisterAllCommands);
  table.options() = session.defaults;
  if (session.is_shell) table.IgnoreEnvironment();
  CLI::App& root = table.root();
  const auto fail = [&](const absl::Status& status, const std::string& did_you_mean) {
    // The message names the suggestion already; JSON has it also in a member of its own.
    ErrorForm form = ErrorFormOf(arguments, session.defaults.output);
    form.width = ErrorWidth(streams);
    return ReportError(status, form.json ? did_you_mean : "", form, streams.err);
  };
  // CLI11 reports errors, --help and --version by exceptions.
  try {
    // The parser expects the arguments in reverse order.
    root.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForVersion& version) {
    streams.out << ITEMDB_VERSION << '\n';
    return ExitCode::kOk;
  } catch (const CLI::Success& help) {
    streams.out << HelpText(table, Innermost(root));
    return ExitCode::kOk;
  } catch (const CLI::Error& error) {
    const bool on_terminal = streams.in_is_terminal && streams.out_is_terminal;
    const bool has_lines = !table.options().command.empty();
    if (!IsCommandMissing(root, error) || (!has_lines && (session.is_shell || !on_terminal))) {
      std::string did_you_mean;
      const absl::Status status = ParseFailure(root, error, &did_you_mean);
      return fail(status, did_you_mean);
    }
  }
  const absl::StatusOr<Command> command = CommandOf(table, session, arguments);
  if (!command.ok()) return fail(command.status(), "");
  const CLI::App& parsed = Innermost(root);
  Context context(table.options(), streams, &session);
  if (const std::string pager_command = PagerCommand();
      !pager_command.empty() && IsPaged(table, parsed, context, session)) {
    Pager pager(streams.out, streams.terminal_size(), pager_command);
    std::ostream out(&pager);
    const Streams paged{.in = streams.in,
                        .out = out,
                        .err = streams.err,
                        .in_is_terminal = streams.in_is_terminal,
                        .out_is_terminal = streams.out_is_terminal,
                        .err_is_terminal = streams.err_is_terminal,
                        .terminal_size = streams.terminal_size};
    Context paged_context(table.options(), paged, &session);
    return Run(*command, parsed, paged_context, &pager);
  }
  return Run(*command, parsed, context, nullptr);
}

}  // namespace itemdb::tools
