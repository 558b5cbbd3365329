// How an error reaches whoever called itemctl: one line on stderr, as text or as JSON.
//
//   itemctl: the table Ordr does not exist; did you mean "Order"?
//   {"error": {"code": "NOT_FOUND", "reason": "RESOURCE_NOT_FOUND", "message": "...", "exit_code": 3,
//              "rule": "SEM-039", "did_you_mean": "Order"}}
//
// JSON is for who asked for it with -o json or jsonl; the members above are stable. `rule`, `did_you_mean`
// and `retry_after_ms` are there only when they say something.
#pragma once

#include <CLI/CLI.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/base/exit_codes.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

struct ErrorForm {
  bool json = false;
};

// Writes the line and returns the exit code. Text is of bounded length and cannot steer a terminal.
// `did_you_mean` is a name or empty.
ExitCode ReportError(const absl::Status& status, const std::string& did_you_mean, ErrorForm form,
                     std::ostream& err);

// The form asked for by a command line, whether or not it parses; `format` is what holds when it says
// nothing.
ErrorForm ErrorFormOf(const std::vector<std::string>& arguments, std::string format);

// What is wrong with a command line that `root` failed to parse with `error`.
absl::Status ParseFailure(CLI::App& root, const CLI::Error& error, std::string* did_you_mean);

// `status`, a daemon that asks for an access key, with what to give or to look at; its reason stays.
absl::Status WithKeyAdvice(const absl::Status& status, const GlobalOptions& options);

// For a table or index that is not there, the name of one that is, when one is near to what `command` was
// given. Asks the daemon, for a second at most, and is silent about its errors.
std::string NearestName(const absl::Status& status, const CLI::App& command, Context& context);

}  // namespace itemdb::tools
