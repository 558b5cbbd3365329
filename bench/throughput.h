// `itembench put` and `itembench get`: operations per second, latency and CPU time, itemd's beside those of
// gRPC and RocksDB alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/contender.h"
#include "bench/session.h"

namespace itemdb::bench {

struct ThroughputOptions {
  Operation operation = Operation::kPut;
  // Callers in flight; every contender is measured with each.
  std::vector<int> callers;
  // Of each measurement, after a fifth of it as warm-up.
  double seconds = 1;
  // Every round measures everything once, the contenders in one order and then in the other.
  int rounds = 3;
  // Orders to read from.
  uint64_t orders = 50'000;
  // Names of contenders; empty: all.
  std::vector<std::string> only;
};

absl::Status RunThroughput(Session& session, const ThroughputOptions& options);

}  // namespace itemdb::bench
