// `itembench order`: the CPU time of each step of a put, one after the other on one thread, chiefly of
// ordering: the step that only one thread can take, and that bounds how many writes a database takes however
// many cores there are.
#pragma once

#include <cstdint>

#include "bench/session.h"

namespace itemdb::bench {

struct OrderingCostOptions {
  // Puts per group size and round.
  uint64_t writes = 20'000;
  int rounds = 3;
};

absl::Status RunOrderingCost(Session& session, const OrderingCostOptions& options);

}  // namespace itemdb::bench
