// The format of log lines.
//
//   text:  2026-01-31T12:00:00.000+0000 info database open tables=4 change_sequence=27
//   json:  {"time":"2026-01-31T12:00:00.000+0000","level":"info","message":"database open","tables":4,...}
//
// Code logs messages of the form "words name=value name=value". The formatter splits them into words and
// fields: text output puts a value with spaces in quotes, JSON output makes each field a member. One event is
// always one line, because control characters are escaped.
//
// For the journal a line begins with the syslog priority (<6>). A text line then has no time and no level:
// the journal records both.
#pragma once

#include <spdlog/formatter.h>
#include <spdlog/logger.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace itemdb::daemon {

struct LogStyle {
  bool json = false;
  // stderr goes to systemd's journal.
  bool journal = false;
};

// A logged message, split. The views borrow from the message.
struct LogMessage {
  std::string_view words;
  std::vector<std::pair<std::string_view, std::string_view>> fields;
};

// Fields begin at the first " name=" (name: lower-case letters, digits, _); a value ends at the next field,
// and is without quotes if it was in quotes.
LogMessage SplitLogMessage(std::string_view message);

std::unique_ptr<spdlog::formatter> MakeLogFormatter(LogStyle style);

// Whether stderr is connected to the journal. The argument is the environment variable JOURNAL_STREAM, in
// which systemd writes "DEVICE:INODE" of the journal's socket; null: it is not set.
bool StderrIsJournal(const char* journal_stream_or_null);

// Logs lines of `level` and above ("debug", "info", "warn", "error") to stderr.
std::shared_ptr<spdlog::logger> MakeStderrLog(const std::string& level, LogStyle style);

}  // namespace itemdb::daemon
