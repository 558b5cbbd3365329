#include "tools/shell/shell_commands.h"

#include <istream>
#include <string>

#include "tools/base/exit_codes.h"
#include "tools/base/interrupt.h"
#include "tools/base/tokenizer.h"
#include "tools/cli/command_table.h"
#include "tools/cli/completion.h"
#include "tools/shell/all_commands.h"
#include "tools/shell/line_editor.h"
#include "tools/shell/shell.h"

namespace itemdb::tools {
namespace {

constexpr char kPrompt[] = "itemctl> ";
constexpr char kContinuation[] = "    ...> ";

// Completes the shell's own commands and the table name after \d; all else as on itemctl's command line.
Completion CompleteLine(const std::string& line, const CommandTable& table, Session& session) {
  const size_t start = line.find_first_not_of(" \t");
  const NameSources names = LiveNames(session, session.defaults);
  if (start != std::string::npos && line[start] == '\\') {
    Words split = SplitWords(line.substr(start + 1));
    const bool at_name = split.words.empty() || (split.words.size() == 1 && split.at_word);
    Completion completion;
    completion.partial = at_name ? line.substr(start) : split.at_word ? split.words.back() : "";
    const bool wants_table = !at_name && split.words.front() == "d";
    for (const std::string& name : at_name       ? ShellCommands()
                                   : wants_table ? names.tables()
                                                 : std::vector<std::string>()) {
      if (name.starts_with(completion.partial)) completion.candidates.push_back(name);
    }
    return completion;
  }
  Words split = SplitWords(line);
  if (!split.at_word) split.words.emplace_back();
  if (split.words.front() == "itemctl" && split.words.size() > 1) split.words.erase(split.words.begin());
  return Complete(table, split.words, names);
}

void RunOnTerminal(Context& context, Shell& shell) {
  // Between a prompt and the first key, Ctrl-C still sends SIGINT, which must not end the shell.
  const InterruptScope stay([] {});
  CommandTable table(RegisterAllCommands);
  LineEditor editor([&](const std::string& line) { return CompleteLine(line, table, shell.session()); },
                    DefaultHistoryPath());
  context.out() << "itemctl " ITEMDB_VERSION "; \\? for help, \\q to leave\n" << std::flush;
  std::string statement;
  while (true) {
    std::string line;
    switch (editor.Read(statement.empty() ? kPrompt : kContinuation, &line)) {
      case LineEditor::End::kEndOfInput:
        context.out() << '\n';
        return;
      case LineEditor::End::kAborted:
        statement.clear();
        continue;
      case LineEditor::End::kLine:
        break;
    }
    statement += statement.empty() ? line : "\n" + line;
    const size_t start = statement.find_first_not_of(" \t\n");
    if (start == std::string::npos) {
      statement.clear();
      continue;
    }
    if (statement[start] != '\\' && SplitWords(statement).unfinished) continue;
    editor.Remember(statement);
    if (!shell.RunLine(statement)) return;
    statement.clear();
  }
}

void RunFromPipe(Context& context, Shell& shell) {
  std::string statement;
  std::string line;
  while (context.out().good() && std::getline(context.in(), line)) {
    statement += statement.empty() ? line : "\n" + line;
    const size_t start = statement.find_first_not_of(" \t\n");
    const bool own = start != std::string::npos && statement[start] == '\\';
    if (!own && SplitWords(statement).unfinished) continue;
    if (!shell.RunLine(statement)) return;
    statement.clear();
  }
  // The rest ends inside quotes; RunLine reports that.
  if (!statement.empty()) shell.RunLine(statement);
}

}  // namespace

absl::Status RunShell(Context& context) {
  if (context.session().is_shell) return UsageError("this is the shell already");
  Shell shell(context.streams(), context.options());
  if (context.streams().in_is_terminal && context.streams().out_is_terminal) {
    RunOnTerminal(context, shell);
  } else {
    RunFromPipe(context, shell);
  }
  // Each statement has reported its error already.
  return shell.exit_code() == ExitCode::kOk ? absl::OkStatus() : ToolError(shell.exit_code(), "");
}

void RegisterShellCommands(CommandTable& table) {
  table.Add(
      &table.root(),
      {.name = "shell",
       .summary = "Run statements one after another over one connection",
       .details = "Statements are itemctl's commands without \"itemctl\"; a line that ends inside quotes "
                  "continues on the next line, and # begins a comment. On a terminal (where \"itemctl\" "
                  "alone does the same) lines can be edited, Tab completes, and Ctrl-C ends the line or the "
                  "command but not the shell. Otherwise the statements are read from standard input, and the "
                  "exit code is that of the last one that failed. \\? lists the shell's own commands.",
       .examples = {{R"(printf 'table list\nscan Product --limit 1\n' | itemctl shell)",
                     "two statements of a script"},
                    {R"(echo '\d Order' | itemctl -o table shell)", "a command of the shell's own"}}},
      RunShell);
}

}  // namespace itemdb::tools
