// How every command of itemctl ends: the one table from errors to exit codes.
//
// Commands return absl::Status. What the client library reports is mapped by its code; what the tool itself
// decides (bad arguments, a failed check) is a ToolError, which carries its exit code with it.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace itemdb::tools {

// Scripts rely on these numbers; never renumber, never reuse.
enum class ExitCode : int {
  kOk = 0,
  kRefused = 1,         // the server refused: validation, limits, access key, table exists, overload, ...; or
                        // it differs from a model
  kUsage = 2,           // the command line or a JSON document given to itemctl is malformed
  kNotFound = 3,        // no such table or index, or for `item get` no such item
  kConditionFalse = 4,  // the condition was false, or the transaction was cancelled
  kUnreachable = 5,     // the daemon cannot be reached, or a read's deadline passed
  kOutcomeUnknown = 6,  // a write was sent and may or may not have been applied
  kFindings = 7,        // `check` or `index check` found something
};

// A status that ends the program with `code`, which must not be kOk.
absl::Status ToolError(ExitCode code, std::string_view message);
inline absl::Status UsageError(std::string_view message) { return ToolError(ExitCode::kUsage, message); }

ExitCode ExitCodeOf(const absl::Status& status);

// What an error is called in JSON: the code is absl's name of it, the reason the daemon's or "USAGE",
// "NO_SUCH_ITEM", "FINDINGS", ... for what itemctl itself decides.
struct ErrorName {
  std::string code;
  std::string reason;
};
ErrorName ErrorNameOf(const absl::Status& status);

// The reason of a table or index that is not there.
inline constexpr std::string_view kReasonResourceNotFound = "RESOURCE_NOT_FOUND";

// The lines of the table for people, as printed below `itemctl --help`.
std::string_view ExitCodeHelp();

}  // namespace itemdb::tools
