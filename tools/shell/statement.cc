#include "tools/shell/statement.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/command_table.h"
#include "tools/cli/endpoint_probe.h"
#include "tools/cli/error_report.h"
#include "tools/cli/help.h"
#include "tools/shell/all_commands.h"
#include "tools/shell/shell_commands.h"

namespace itemdb::tools {
namespace {

bool IsCommandMissing(CLI::App& root, const CLI::Error& error) {
  return error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
         root.get_subcommands().empty() && root.remaining(true).empty();
}

ExitCode Run(const Command& command, const CLI::App& parsed, Context& context) {
  absl::Status status = command(context);
  context.out().flush();
  const ErrorForm form = {.json = context.format_is_explicit() && context.format() != OutputFormat::kTable};
  if (!status.ok()) {
    if (ExitCodeOf(status) == ExitCode::kUnreachable) status = Diagnosed(status, context);
    if (absl::IsUnauthenticated(status)) status = WithKeyAdvice(status, context.options());
    return ReportError(status, NearestName(status, parsed, context), form, context.err());
  }
  if (!context.out().good())
    return ReportError(UsageError("cannot write standard output"), "", form, context.err());
  return ExitCode::kOk;
}

}  // namespace

ExitCode RunStatement(const std::vector<std::string>& arguments, Streams streams, Session& session) {
  CommandTable table(RegisterAllCommands);
  table.options() = session.defaults;
  if (session.is_shell) table.IgnoreEnvironment();
  CLI::App& root = table.root();
  Command command;
  // CLI11 reports errors, --help and --version by exceptions.
  try {
    // The parser expects the arguments in reverse order.
    root.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    command = table.selected();
  } catch (const CLI::CallForVersion& version) {
    streams.out << ITEMDB_VERSION << '\n';
    return ExitCode::kOk;
  } catch (const CLI::Success& help) {
    streams.out << HelpText(table, Innermost(root));
    return ExitCode::kOk;
  } catch (const CLI::Error& error) {
    if (!IsCommandMissing(root, error) || session.is_shell || !streams.in_is_terminal ||
        !streams.out_is_terminal) {
      std::string did_you_mean;
      const absl::Status status = ParseFailure(root, error, &did_you_mean);
      // The message names the suggestion already; JSON has it also in a member of its own.
      const ErrorForm form = ErrorFormOf(arguments, session.defaults.output);
      return ReportError(status, form.json ? did_you_mean : "", form, streams.err);
    }
    command = RunShell;
  }
  Context context(table.options(), streams, &session);
  return Run(command, Innermost(root), context);
}

}  // namespace itemdb::tools
