// `itembench live`: what a database does beside serving: filling an index of a live table, checking one,
// telling of changes.
#pragma once

#include <cstdint>

#include "bench/session.h"

namespace itemdb::bench {

struct LiveOptions {
  // Items of the table.
  uint64_t orders = 1'000'000;
  // Threads that go on writing meanwhile, one put in flight each.
  int writers = 4;
  // For how long changes are watched.
  double seconds = 5;
};

// Storage in this process for the index and the check; itemd and one connection for the watch.
absl::Status RunLive(Session& session, const LiveOptions& options);

}  // namespace itemdb::bench
