#include "tools/shell/shell_commands.h"

#include <algorithm>
#include <filesystem>
#include <istream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "tools/base/exit_codes.h"
#include "tools/base/interrupt.h"
#include "tools/base/statement_text.h"
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

// The files and directories whose path begins with `partial`; directories end with a slash.
std::vector<std::string> FilesBeginningWith(const std::string& partial) {
  const size_t slash = partial.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : partial.substr(0, slash + 1);
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory.empty() ? "." : directory, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    std::string path = directory + name + (entry->is_directory(ignored) ? "/" : "");
    // Hidden files only when asked for.
    if (path.starts_with(partial) && (!name.starts_with('.') || partial.size() > directory.size()))
      paths.push_back(std::move(path));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Completes a PartiQL statement: names of tables behind FROM, INTO and UPDATE, else words of the language and
// attributes of the table.
Completion CompletePartiql(const std::string& line, const NameSources& names) {
  static constexpr const char* kWords[] = {"SELECT",   "FROM", "WHERE",   "INSERT INTO", "VALUE",
                                           "UPDATE",   "SET",  "REMOVE",  "DELETE FROM", "RETURNING",
                                           "ORDER BY", "AND",  "BETWEEN", "EXISTS"};
  const auto is_letter = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  size_t start = line.size();
  while (start > 0 && is_letter(line[start - 1])) --start;
  Completion completion;
  completion.partial = line.substr(start);
  const std::string before = absl::AsciiStrToUpper(absl::StripTrailingAsciiWhitespace(line.substr(0, start)));
  const bool at_table = before.ends_with(" FROM") || before.ends_with(" INTO") || before == "UPDATE";
  std::vector<std::string> candidates;
  if (at_table) {
    candidates = names.tables();
  } else {
    candidates.assign(std::begin(kWords), std::end(kWords));
    const std::string table = TargetOfSelect(line).table_name;
    if (!table.empty() && names.attributes != nullptr) {
      for (std::string& name : names.attributes(table)) candidates.push_back(std::move(name));
    }
  }
  if (completion.partial.empty() && !at_table) return completion;
  for (const std::string& candidate : candidates) {
    if (candidate.starts_with(completion.partial)) completion.candidates.push_back(candidate);
  }
  return completion;
}

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
  if (IsStatementText(line)) return CompletePartiql(line, names);
  Words split = SplitWords(line);
  if (!split.at_word) split.words.emplace_back();
  if (split.words.front() == "itemctl" && split.words.size() > 1) split.words.erase(split.words.begin());
  Completion completion = Complete(table, split.words, names);
  if (completion.files) completion.candidates = FilesBeginningWith(completion.partial);
  return completion;
}

// `text` is the beginning of a statement whose rest is on the next line.
bool NeedsMore(const std::string& text) {
  const size_t start = text.find_first_not_of(" \t\n");
  if (start == std::string::npos || text[start] == '\\') return false;
  if (!IsStatementText(text)) return SplitWords(text).unfinished;
  const StatementTexts texts = SplitStatements(text);
  return texts.ended.empty() || IsStatementText(texts.rest);
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
    // The shell's own commands work in the middle of a statement too.
    if (!statement.empty() && line.starts_with('\\')) {
      if (!shell.RunLine(line)) return;
      continue;
    }
    statement += statement.empty() ? line : "\n" + line;
    if (statement.find_first_not_of(" \t\n") == std::string::npos) {
      statement.clear();
      continue;
    }
    if (NeedsMore(statement)) continue;
    editor.Remember(statement);
    if (!shell.RunLine(statement)) return;
    statement.clear();
  }
}

void RunFrom(std::istream& in, Context& context, Shell& shell) {
  std::string statement;
  std::string line;
  while (context.out().good() && std::getline(in, line)) {
    statement += statement.empty() ? line : "\n" + line;
    if (NeedsMore(statement)) continue;
    if (!shell.RunLine(statement)) return;
    statement.clear();
  }
  // The rest ends inside quotes, which RunLine reports, or is a PartiQL statement without a semicolon.
  if (!statement.empty()) shell.RunLine(statement);
}

}  // namespace

absl::Status RunShell(Context& context) {
  if (context.session().is_shell) return UsageError("this is the shell already");
  Shell shell(context.streams(), context.options());
  if (context.streams().in_is_terminal && context.streams().out_is_terminal) {
    RunOnTerminal(context, shell);
  } else {
    RunFrom(context.in(), context, shell);
  }
  // Each statement has reported its error already.
  return shell.exit_code() == ExitCode::kOk ? absl::OkStatus() : ToolError(shell.exit_code(), "");
}

absl::Status RunLines(Context& context, const std::string& lines) {
  GlobalOptions options = context.options();
  options.command.clear();
  Shell shell(context.streams(), options);
  std::istringstream in(lines);
  RunFrom(in, context, shell);
  return shell.exit_code() == ExitCode::kOk ? absl::OkStatus() : ToolError(shell.exit_code(), "");
}

void RegisterShellCommands(CommandTable& table) {
  table.Add(
      &table.root(),
      {.name = "shell",
       .summary = "Run statements one after another over one connection",
       .details = "Statements are itemctl's commands without \"itemctl\"; a line that ends inside quotes "
                  "continues on the next line, and # begins a comment. What begins with SELECT, INSERT, "
                  "UPDATE, DELETE or EXISTS is a PartiQL statement, which ends with a semicolon. On a "
                  "terminal (where \"itemctl\" "
                  "alone does the same) lines can be edited, Tab completes, and Ctrl-C ends the line or the "
                  "command but not the shell. Otherwise the statements are read from standard input, and the "
                  "exit code is that of the last one that failed. \\? lists the shell's own commands.",
       .examples = {{R"(printf 'table list\nscan Product --limit 1\n' | itemctl shell)",
                     "two statements of a script"},
                    {R"(echo '\d Order' | itemctl -o table shell)", "a command of the shell's own"}}},
      RunShell);
}

}  // namespace itemdb::tools
