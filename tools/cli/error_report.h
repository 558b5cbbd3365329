// Prints an error as one line on stderr, as text or as JSON. On a terminal text is broken into lines at
// spaces.
//
//   itemctl: the table Ordr does not exist; did you mean "Order"?
//   {"error": {"code": "NOT_FOUND", "reason": "RESOURCE_NOT_FOUND", "message": "...", "exit_code": 3,
//              "rule": "SEM-039", "did_you_mean": "Order"}}
//
// JSON is printed only with an explicit -o json, jsonl or csv. Its members are stable. `rule`, `did_you_mean`
// and `retry_after_ms` are present only if they have a value.
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
  // Columns of the terminal that shows the error as text; 0: no terminal, and one line.
  size_t width = 0;
};

// The width of ErrorForm for errors on `streams`.
size_t ErrorWidth(const Streams& streams);

// Writes the line and returns the exit code. Text has a bounded length and no control characters.
// `did_you_mean` is a name or empty.
ExitCode ReportError(const absl::Status& status, const std::string& did_you_mean, ErrorForm form,
                     std::ostream& err);

// The form that a command line asks for, even if it does not parse; `format` applies if it has no --output.
ErrorForm ErrorFormOf(const std::vector<std::string>& arguments, std::string format);

// The UsageError for a command line that `root` could not parse because of `error`. Sets `*did_you_mean` to a
// similar name, if there is one.
absl::Status ParseFailure(CLI::App& root, const CLI::Error& error, std::string* did_you_mean);

// For `status`, the error of a daemon that requires an access key: the same code and reason with a message
// that says which option to give or which file to check. Unchanged if it has advice already, or if the
// endpoint is a URL and a key was given, because the service says itself what is wrong with it.
absl::Status WithKeyAdvice(const absl::Status& status, const GlobalOptions& options);

// If `status` says that a table or index does not exist: the existing name nearest to the name given to
// `command`; empty if none is near. Asks the daemon, for at most a second, and ignores its errors.
std::string NearestName(const absl::Status& status, const CLI::App& command, Context& context);

}  // namespace itemdb::tools
