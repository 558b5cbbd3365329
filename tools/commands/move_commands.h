// `itemctl graduate` and `adopt`: tables move to another database, or come from one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/confirm.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct MoveCommandOptions {
  // graduate: the target; adopt: the source.
  std::string other_endpoint;
  std::string other_tls_ca;
  std::string other_access_key_id;
  std::string other_secret_file;
  std::vector<std::string> table_names;
  std::string state_path = "itemctl-move.json";
  bool overwrite = false;
  int workers = 16;
  int64_t max_items_per_second = 0;
  double patience_seconds = 300;
  int64_t hold_seconds = int64_t{3} * 86'400;
  bool follow = false;
  bool enable_streams = false;
  double quiet_seconds = 5;
  // graduate only.
  double switch_patience_seconds = 20;
  bool abort = false;
  bool back = false;
  bool follow_back = false;
  // adopt only.
  int passes = 5;
  // Folders of exports, one of each table.
  std::vector<std::string> exports;
  ConfirmOptions confirm;
};

// Copies tables, follows their changes, compares, asks, and switches. Goes on with a move that was begun.
absl::Status RunGraduate(Context& context, const MoveCommandOptions& options);
// Copies tables from elsewhere and follows their changes until their writers have stopped, or compares until
// both sides are equal. ExitCode::kFindings: they are not.
absl::Status RunAdopt(Context& context, const MoveCommandOptions& options);

void RegisterMoveCommands(CommandTable& table);

}  // namespace itemdb::tools
