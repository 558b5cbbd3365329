// The format of log lines.
//
//   text:  2026-01-31T12:00:00.000+0000 info database open tables=4 change_sequence=27
//   json:  {"time":"2026-01-31T12:00:00.000+0000","level":"info","message":"database open","tables":4,...}
//
// Lines have words and fields (common/log/log.h); JSON output makes each field a member. One event is always
// one line, because control characters are escaped.
//
// For the journal a line begins with the syslog priority (<6>). A text line then has no time and no level:
// the journal records both.
#pragma once

#include <spdlog/formatter.h>

#include <memory>
#include <string>

#include "common/log/log.h"

namespace itemdb::daemon {

struct LogStyle {
  bool json = false;
  // stderr goes to systemd's journal.
  bool journal = false;
};

std::unique_ptr<spdlog::formatter> MakeLogFormatter(LogStyle style);

// Whether stderr is connected to the journal. The argument is the environment variable JOURNAL_STREAM, in
// which systemd writes "DEVICE:INODE" of the journal's socket; null: it is not set.
bool StderrIsJournal(const char* journal_stream_or_null);

// Logs lines of `level` and above ("debug", "info", "warn", "error") to stderr.
common::Log MakeStderrLog(const std::string& level, LogStyle style);

}  // namespace itemdb::daemon
