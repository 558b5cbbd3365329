#include "tools/cli/help.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/base/exit_codes.h"

namespace itemdb::tools {
namespace {

constexpr size_t kLineLetters = 80;
// The column where explanations begin; a longer term is printed on a line of its own.
constexpr size_t kTermLetters = 30;

// Breaks `text` into lines indented by `indent`. The first line continues a line that has `at` letters
// already.
std::string Wrapped(std::string_view text, size_t indent, size_t at) {
  std::string out;
  bool first = true;
  for (absl::string_view part : absl::StrSplit(absl::string_view(text.data(), text.size()), ' ')) {
    if (!first && at + 1 + part.size() > kLineLetters) {
      out.append("\n").append(indent, ' ');
      at = indent;
    } else if (!first) {
      out += ' ';
      ++at;
    }
    out.append(part.data(), part.size());
    at += part.size();
    first = false;
  }
  return out + "\n";
}

void AppendEntry(const std::string& term, const std::string& text, std::string* out) {
  *out += "  " + term;
  if (term.size() + 2 >= kTermLetters) {
    *out += "\n" + std::string(kTermLetters, ' ');
  } else {
    out->append(kTermLetters - term.size() - 2, ' ');
  }
  *out += Wrapped(text, kTermLetters, kTermLetters);
}

void AppendOptions(const std::string& heading, const std::vector<const CLI::Option*>& options,
                   std::string* out) {
  if (options.empty()) return;
  *out += "\n" + heading + ":\n";
  for (const CLI::Option* option : options) {
    std::string text = option->get_description();
    if (option->get_required() && !option->get_positional()) text += " (required)";
    if (!option->get_envname().empty()) text += " (environment: " + option->get_envname() + ")";
    AppendEntry(SyntaxOf(*option), text, out);
  }
}

}  // namespace

std::string SyntaxOf(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string syntax = absl::StrJoin(SpellingsOf(option), ", ");
  const std::string value = ValueNameOf(option);
  return value.empty() ? syntax : syntax + " " + value;
}

std::string UsageOf(const CLI::App& command) {
  std::string usage = "itemctl";
  const std::string path = PathOf(command);
  if (!path.empty()) usage += " " + path;
  if (!CommandsOf(command).empty()) return usage + " COMMAND ...";
  for (const CLI::Option* argument : ArgumentsOf(command)) {
    const std::string name = argument->get_name(true);
    usage += argument->get_required() ? " " + name : " [" + name + "]";
  }
  bool more = false;
  for (const CLI::Option* option : OptionsOf(command)) {
    if (option->get_required()) {
      usage += " " + SpellingsOf(*option).front() + " " + ValueNameOf(*option);
    } else {
      more = true;
    }
  }
  return more ? usage + " [OPTION]..." : usage;
}

std::string HelpText(const CommandTable& table, const CLI::App& command) {
  const CommandSpec& spec = table.SpecOf(&command);
  const bool is_root = command.get_parent() == nullptr;
  std::string out = Wrapped(spec.summary + ".", 0, 0);
  if (!spec.details.empty()) out += "\n" + Wrapped(spec.details, 0, 0);
  out += "\nUsage: " + UsageOf(command) + "\n";
  const std::vector<const CLI::App*> commands = CommandsOf(command);
  if (!commands.empty()) out += "\nCommands:\n";
  for (const CLI::App* below : commands) AppendEntry(below->get_name(), below->get_description(), &out);
  AppendOptions("Arguments", ArgumentsOf(command), &out);
  AppendOptions(is_root ? "Options of every command" : "Options", OptionsOf(command), &out);
  if (!spec.examples.empty()) out += "\nExamples:\n";
  for (const Example& example : spec.examples) out += "  # " + example.what + "\n  " + example.line + "\n";
  if (is_root) {
    out += "\nWithout a command on a terminal, itemctl is an interactive shell.\n";
    out += "\n" + std::string(ExitCodeHelp());
    out += "\n\"itemctl COMMAND --help\" explains a command and shows examples.\n";
  } else {
    out += "\nOptions of every command, such as -o json: see itemctl --help.\n";
  }
  return out;
}

std::string_view ToolVersion() { return ITEMDB_VERSION; }

std::string_view ShellHelp() {
  return R"(\d                       list the tables
\d TABLE                 describe a table and its indexes
\x [on|off]              expanded output: one column a line; again: columns
\o table|json|jsonl|csv  form of the output
\timing [on|off]         show how long each statement takes; again: no more
\watch SECONDS [TIMES]   repeat the last statement until Ctrl-C, or so often
\?                       this help
\q                       leave; so does Ctrl-D
help [COMMAND]           explain itemctl, or one of its commands
COMMAND ...              any command of itemctl, without "itemctl"
SELECT ... ;             a PartiQL statement, on one or more lines; also INSERT,
                         UPDATE, DELETE, EXISTS
)";
}

}  // namespace itemdb::tools
