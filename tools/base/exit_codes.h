// The exit codes of itemctl, and the one table from errors to exit codes.
//
// Commands return absl::Status. An error of the client library is mapped by its code and reason. An error
// that itemctl itself decides (bad arguments, findings of a check) is a ToolError, which carries its exit
// code.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace itemdb::tools {

// Scripts rely on these numbers; never renumber, never reuse.
enum class ExitCode : int {
  kOk = 0,
  kRefused = 1,         // the daemon refused: validation, limits, access key, table exists, overload, ...; or
                        // a table or an answer differs from a data model
  kUsage = 2,           // the command line or a JSON document given to itemctl is malformed
  kNotFound = 3,        // no such table or index, or for `item get` no such item
  kConditionFalse = 4,  // the condition was false, or the transaction was cancelled
  kUnreachable = 5,     // the daemon cannot be reached, or a read's deadline passed
  kOutcomeUnknown = 6,  // a write was sent and may or may not have been applied
  kFindings = 7,        // `check`, `index check`, `audit verify` or `undo` found something
};

// A status that ends the program with `code`, which must not be kOk.
absl::Status ToolError(ExitCode code, std::string_view message);
inline absl::Status UsageError(std::string_view message) { return ToolError(ExitCode::kUsage, message); }

ExitCode ExitCodeOf(const absl::Status& status);

// A payload of this type, empty: the message says what to do, and stays as it is.
inline constexpr char kAdvisedPayload[] = "itemctl/advised";

// The names of an error in JSON. `code` is absl's name of the status code. `reason` is the daemon's reason,
// or for a ToolError "USAGE", "NO_SUCH_ITEM", "FINDINGS", ...; it equals `code` if the error has no reason.
struct ErrorName {
  std::string code;
  std::string reason;
};
ErrorName ErrorNameOf(const absl::Status& status);

// The daemon's reason if a table or index does not exist.
inline constexpr std::string_view kReasonResourceNotFound = "RESOURCE_NOT_FOUND";

// The exit codes as text for people, printed at the end of `itemctl --help`.
std::string_view ExitCodeHelp();

}  // namespace itemdb::tools
