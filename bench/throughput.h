// `itembench put` and `itembench get`: speed, latency and CPU time, compared with gRPC and RocksDB alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/contender.h"
#include "bench/session.h"

namespace itemdb::bench {

struct ThroughputOptions {
  Operation operation = Operation::kPut;
  // Numbers of callers; every contender is measured with each number.
  std::vector<int> callers;
  // Length of each measurement, after a warm-up of a fifth of it.
  double seconds = 1;
  // Every round measures everything once; every second round in reverse order.
  int rounds = 3;
  // Number of orders that are read.
  uint64_t orders = 50'000;
  // Names of the contenders to measure; empty: all.
  std::vector<std::string> only;
};

absl::Status RunThroughput(Session& session, const ThroughputOptions& options);

}  // namespace itemdb::bench
