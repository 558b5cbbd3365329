#include "tools/shell/shell.h"

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "common/nearest.h"
#include "tools/base/interrupt.h"
#include "tools/base/statement_text.h"
#include "tools/base/tokenizer.h"
#include "tools/cli/error_report.h"
#include "tools/cli/help.h"
#include "tools/shell/statement.h"

namespace itemdb::tools {
namespace {

constexpr double kShortestWatchSeconds = 0.01;
constexpr double kLongestWatchSeconds = 86'400;

}  // namespace

const std::vector<std::string>& ShellCommands() {
  static const auto* commands =
      new std::vector<std::string>{"\\d", "\\x", "\\o", "\\timing", "\\watch", "\\?", "\\q"};
  return *commands;
}

Shell::Shell(Streams streams, const GlobalOptions& options) : streams_(streams) {
  session_.defaults = options;
  session_.is_shell = true;
}

bool Shell::RunLine(const std::string& line) {
  // A backslash begins one of the shell's own commands; SplitWords would take it for an escape.
  const size_t start = line.find_first_not_of(" \t");
  if (start != std::string::npos && line[start] == '\\') {
    std::vector<std::string> words = SplitWords(line.substr(start + 1)).words;
    if (words.empty()) words.emplace_back();
    words.front() = "\\" + words.front();
    // Accept a semicolon, as behind a statement.
    while (words.back().ends_with(';')) words.back().pop_back();
    if (words.size() > 1 && words.back().empty()) words.pop_back();
    return RunOwnCommand(words);
  }
  if (IsStatementText(line)) return RunPartiqlText(line);
  Words split = SplitWords(line);
  std::vector<std::string>& words = split.words;
  if (split.unfinished) {
    Fail("the line ends inside quotes");
    return true;
  }
  // Accept statements that were copied from a script.
  if (!words.empty() && words.front() == "itemctl") words.erase(words.begin());
  // A semicolon behind a word without quotes; what is in quotes may end with one.
  if (!words.empty() && words.back().ends_with(';') &&
      line.find_last_not_of(" \t\r\n") != std::string::npos &&
      line[line.find_last_not_of(" \t\r\n")] == ';') {
    words.back().pop_back();
    if (words.back().empty()) words.pop_back();
  }
  if (words.empty()) return true;
  if (words.size() == 1 && (words.front() == "quit" || words.front() == "exit")) return false;
  if (words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  last_statement_ = words;
  RunStatementWords(words);
  return true;
}

bool Shell::RunPartiqlText(const std::string& text) {
  StatementTexts texts = SplitStatements(text);
  const bool rest_is_statement = IsStatementText(texts.rest);
  if (rest_is_statement) texts.ended.push_back(texts.rest);
  for (const std::string& statement : texts.ended) {
    last_statement_ = {"partiql", statement};
    // A condition alone is a transaction of one statement.
    if (absl::StartsWithIgnoreCase(statement, "exists")) last_statement_.push_back("--transaction");
    RunStatementWords(last_statement_);
  }
  return rest_is_statement || texts.rest.empty() || RunLine(texts.rest);
}

bool Shell::RunOwnCommand(const std::vector<std::string>& words) {
  const std::string& command = words.front();
  if (command == "\\q") return false;
  if (command == "\\?") {
    streams_.out << ShellHelp() << std::flush;
  } else if (command == "\\d" && words.size() <= 2) {
    last_statement_ = words.size() == 1 ? std::vector<std::string>{"table", "list"}
                                        : std::vector<std::string>{"table", "describe", words[1]};
    RunStatementWords(last_statement_);
  } else if (command == "\\x") {
    Switch(words, "expanded output", &session_.defaults.expanded);
  } else if (command == "\\timing") {
    Switch(words, "timing", &timing_);
  } else if (command == "\\o") {
    SetOutput(words);
  } else if (command == "\\watch") {
    Watch(words);
  } else if (command == "\\d") {
    Fail("\\d takes the name of one table");
  } else {
    Fail("unknown command " + command + "; \\? lists them" + common::DidYouMean(command, ShellCommands()));
  }
  return true;
}

void Shell::Switch(const std::vector<std::string>& words, std::string_view what, bool* is_on) {
  if (words.size() > 2 || (words.size() == 2 && words[1] != "on" && words[1] != "off"))
    return Fail(words.front() + " takes on, off or nothing, which changes it");
  *is_on = words.size() == 2 ? words[1] == "on" : !*is_on;
  streams_.err << what << " is " << (*is_on ? "on" : "off") << std::endl;
}

void Shell::SetOutput(const std::vector<std::string>& words) {
  if (words.size() != 2 || !OutputFormatFromName(words[1]).has_value()) {
    return Fail("\\o takes one of table, json, jsonl, csv" +
                (words.size() == 2 ? common::DidYouMean(words[1], {"table", "json", "jsonl", "csv"}) : ""));
  }
  session_.defaults.output = words[1];
}

void Shell::RunStatementWords(const std::vector<std::string>& words) {
  session_.ResetInterrupt();
  const absl::Time start = absl::Now();
  {
    InterruptScope interrupt([this] { session_.Interrupt(); });
    const ExitCode code = RunStatement(words, streams_, session_);
    if (code != ExitCode::kOk) exit_code_ = code;
  }
  // The terminal has printed "^C" where the next prompt would begin.
  if (session_.interrupted() && streams_.out_is_terminal) streams_.out << '\n';
  // On a terminal the shell continues after a write error. An error of a pipe or file stays set, and ends the
  // shell.
  if (streams_.out_is_terminal) streams_.out.clear();
  streams_.out.flush();
  if (timing_) {
    streams_.err << absl::StrFormat("time: %.3f ms", absl::ToDoubleMilliseconds(absl::Now() - start))
                 << std::endl;
  }
}

void Shell::Watch(const std::vector<std::string>& words) {
  double seconds = 0;
  int64_t times = 0;
  const bool has_seconds = words.size() >= 2 && absl::SimpleAtod(words[1], &seconds) &&
                           seconds >= kShortestWatchSeconds && seconds <= kLongestWatchSeconds;
  const bool has_times = words.size() == 3 && absl::SimpleAtoi(words[2], &times) && times >= 1;
  if (!has_seconds || words.size() > 3 || (words.size() == 3 && !has_times)) {
    return Fail(
        "\\watch takes a number of seconds from 0.01 to 86400 and, if wanted, how many times, 1 or more");
  }
  if (last_statement_.empty()) return Fail("there is no statement yet that \\watch could repeat");
  absl::Notification stopped;
  InterruptScope interrupt([&stopped] {
    if (!stopped.HasBeenNotified()) stopped.Notify();
  });
  const std::vector<std::string> statement = last_statement_;
  // A pager would stop the repetition.
  session_.may_page = false;
  const absl::Cleanup page_again = [this] { session_.may_page = true; };
  for (int64_t round = 1; !stopped.HasBeenNotified(); ++round) {
    if (streams_.out_is_terminal) {
      streams_.out << absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::Now(), absl::LocalTimeZone()) << "\n\n";
    }
    RunStatementWords(statement);
    if (streams_.out_is_terminal) streams_.out << std::endl;
    if (session_.interrupted() || !streams_.out.good() || round == times) return;
    stopped.WaitForNotificationWithTimeout(absl::Seconds(seconds));
  }
  if (streams_.out_is_terminal) streams_.out << std::endl;
}

void Shell::Fail(std::string_view message) {
  const bool json = !session_.defaults.output.empty() && session_.defaults.output != "table";
  exit_code_ =
      ReportError(UsageError(message), "", {.json = json, .width = ErrorWidth(streams_)}, streams_.err);
}

}  // namespace itemdb::tools
