// `itemctl check`, `itemctl changes read` and `itemctl changes tail`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct CheckOptions {
  // Only this table; empty for all.
  std::string table_name;
};

// Prints statistics and findings of the check. ExitCode::kFindings if there is a finding. The default timeout
// is one hour.
absl::Status RunCheck(Context& context, const CheckOptions& options);

struct ChangesReadOptions {
  uint64_t after_sequence = 0;
  // Print one page of about this many records. Default: all records that exist when the command starts.
  std::optional<int32_t> limit;
  // Print DynamoDB JSON.
  bool typed = false;
};

// Prints change records in commit order: with jsonl one a line, with json {"records": [...],
// "change_sequence": N}.
absl::Status RunChangesRead(Context& context, const ChangesReadOptions& options);

struct ChangesTailOptions {
  // Only changes of this table; empty for all.
  std::string table_name;
  // The change sequence to start with. Default: the last `lines` records.
  std::optional<uint64_t> from;
  // How many records to print before new ones, if `from` is not set.
  int32_t lines = 10;
  // Continue with new changes until Ctrl-C.
  bool follow = false;
  bool typed = false;
};

// Prints change records as RunChangesRead does, each as soon as it is committed. Ctrl-C ends the command with
// OK.
absl::Status RunChangesTail(Context& context, const ChangesTailOptions& options);

void RegisterAdminCommands(CommandTable& table);

}  // namespace itemdb::tools
