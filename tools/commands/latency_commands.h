// `itemctl latency`: measures how long one small call takes, end to end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct LatencyOptions {
  // Call GetItem on this table; empty: call GetStatus.
  std::string table_name;
  // The key to read, JSON; empty for the key of the table's first item.
  std::string key;
  // The number of calls. Default: kDefaultSamples, or as many as fit into `seconds`.
  std::optional<int64_t> samples;
  std::optional<double> seconds;
  // From the end of one call to the start of the next.
  double interval_seconds = 0.01;

  static constexpr int64_t kDefaultSamples = 1'000;
  static constexpr int64_t kMaxSamples = 10'000'000;
};

// In microseconds.
struct LatencySummary {
  int64_t samples = 0;
  int64_t min_us = 0;
  int64_t mean_us = 0;
  int64_t p50_us = 0;
  int64_t p99_us = 0;
  int64_t max_us = 0;
};
// `calls` need not be sorted. p50 (p99) is the smallest duration that is not exceeded by 50 (99) percent of
// the calls.
LatencySummary SummarizeLatencies(std::vector<absl::Duration> calls);

// Makes calls one after another and prints the statistics; on a terminal also meanwhile. After Ctrl-C it
// prints the statistics so far. The first call that fails ends the command with its error.
absl::Status RunLatency(Context& context, const LatencyOptions& options);

void RegisterLatencyCommands(CommandTable& table);

}  // namespace itemdb::tools
