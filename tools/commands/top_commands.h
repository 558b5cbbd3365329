// `itemctl top`: what the daemon does now, shown again and again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "itemdb/client.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct TopOptions {
  // From one measurement to the next.
  double interval_seconds = 2;
  // Measurements to print; 0: until Ctrl-C or q.
  int64_t count = 0;
};

// What the daemon has counted since it was started, at one moment.
struct TopSample {
  absl::Time time;
  DaemonStatus status = {};
  DaemonActivity activity = {};
};

// The calls of one operation, or of one table.
struct TopRow {
  std::string name;
  double calls_per_second = 0;
  double errors_per_second = 0;
  double items_per_second = 0;
  // Of these calls: half took at most p50, 99 of 100 at most p99.
  absl::Duration p50;
  absl::Duration p99;
};

// What happened between two samples. Rows with the most calls come first; those without calls are left out,
// so no row has the latencies of an earlier time.
struct TopFigures {
  double calls_per_second = 0;
  double writes_per_second = 0;
  double commit_groups_per_second = 0;
  std::vector<TopRow> operations;
  std::vector<TopRow> tables;
};
TopFigures Compare(const TopSample& before, const TopSample& now);

// On a terminal it draws a screen until Ctrl-C or q; otherwise it prints one measurement, or `count`, a
// document each.
absl::Status RunTop(Context& context, const TopOptions& options);

void RegisterTopCommand(CommandTable& table);

}  // namespace itemdb::tools
