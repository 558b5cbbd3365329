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

// Prints what was checked and what was found. ExitCode::kFindings when something was. Without --timeout it
// may take an hour.
absl::Status RunCheck(Context& context, const CheckOptions& options);

struct ChangesReadOptions {
  uint64_t after_sequence = 0;
  // One page of about so many records. Default: all there are when the command starts.
  std::optional<int32_t> limit;
  // Print DynamoDB JSON.
  bool typed = false;
};

// Prints change records in commit order: jsonl one a line, json {"records": [...], "change_sequence": N}.
absl::Status RunChangesRead(Context& context, const ChangesReadOptions& options);

struct ChangesTailOptions {
  // Only this table's; empty for all.
  std::string table_name;
  // The first change to print. Default: the oldest that is kept, or with `follow` the next one to come.
  std::optional<uint64_t> from;
  // Go on with what is committed, until Ctrl-C.
  bool follow = false;
  bool typed = false;
};

// Prints change records as RunChangesRead does, each as soon as it is there. Ctrl-C is the way to end it: OK.
absl::Status RunChangesTail(Context& context, const ChangesTailOptions& options);

void RegisterAdminCommands(CommandTable& table);

}  // namespace itemdb::tools
