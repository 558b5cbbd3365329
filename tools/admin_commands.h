// `itemctl check` and `itemctl changes read`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "tools/context.h"

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

void RegisterAdminCommands(CommandTable& table);

}  // namespace itemdb::tools
