// How log lines look.
//
//   text:  2026-01-31T12:00:00.000+0000 info database open tables=4 change_sequence=27
//   json:  {"time":"2026-01-31T12:00:00.000+0000","level":"info","message":"database open","tables":4,...}
//
// Messages are written as "words name=value name=value"; here they are taken apart again, so that a value
// with blanks is quoted in text and stands alone in JSON. One event is one line, whatever is in it: control
// characters are escaped.
//
// For the journal, which keeps the time itself, a line begins with the priority (<6>) instead, and text has
// no time.
#pragma once

#include <spdlog/formatter.h>
#include <spdlog/logger.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace itemdb {

struct LogStyle {
  bool json = false;
  // Lines are read by the journal.
  bool journal = false;
};

// A logged message, taken apart. Views borrow from it.
struct LogMessage {
  std::string_view words;
  std::vector<std::pair<std::string_view, std::string_view>> fields;
};

// Fields begin at the first " name=" (name: lower-case letters, digits, _); a value reaches to the next.
LogMessage SplitLogMessage(std::string_view message);

std::unique_ptr<spdlog::formatter> MakeLogFormatter(LogStyle style);

// Whether stderr is the journal's, as systemd tells in JOURNAL_STREAM ("DEVICE:INODE").
bool StderrIsJournal(const char* journal_stream_or_null);

// Logs lines of `level` and above ("debug", "info", "warn", "error") to stderr.
std::shared_ptr<spdlog::logger> MakeStderrLog(const std::string& level, LogStyle style);

}  // namespace itemdb
