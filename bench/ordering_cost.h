// `itembench order`: the CPU time of each step of a put, measured on one thread. The most important step is
// applying ("order" in the output): only the commit leader does it, so it limits the writes per second of a
// database, whatever the number of cores.
#pragma once

#include <cstdint>

#include "bench/session.h"

namespace itemdb::bench {

struct OrderingCostOptions {
  // Number of puts per group size and round.
  uint64_t writes = 20'000;
  int rounds = 3;
};

absl::Status RunOrderingCost(Session& session, const OrderingCostOptions& options);

}  // namespace itemdb::bench
