// The interactive shell. Statements are itemctl's commands without "itemctl"; all use one connection. The
// shell's own commands begin with a backslash.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/exit_codes.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

// The shell's own commands: "\d", "\x", ...
const std::vector<std::string>& ShellCommands();

class Shell {
 public:
  // Runs statements with `streams`; `options` are the default options of all statements.
  Shell(Streams streams, const GlobalOptions& options);

  // Runs one line, which may be empty or a comment. False: the line ends the shell.
  bool RunLine(const std::string& line);
  // The exit code of the last statement that failed; kOk if all succeeded.
  ExitCode exit_code() const { return exit_code_; }

  Session& session() { return session_; }

 private:
  // Runs the PartiQL statements of `text`, and the command behind them.
  bool RunPartiqlText(const std::string& text);
  bool RunOwnCommand(const std::vector<std::string>& words);
  void RunStatementWords(const std::vector<std::string>& words);
  void Watch(const std::vector<std::string>& words);
  void SetOutput(const std::vector<std::string>& words);
  // \x and \timing: `what` is on, off or the other of both.
  void Switch(const std::vector<std::string>& words, std::string_view what, bool* is_on);
  void Fail(std::string_view message);

  Streams streams_;
  Session session_;
  bool timing_ = false;
  // The statement that \watch repeats.
  std::vector<std::string> last_statement_;
  ExitCode exit_code_ = ExitCode::kOk;
};

}  // namespace itemdb::tools
