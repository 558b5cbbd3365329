// `itembench live`: background work of a database that serves requests: the backfill of an index on a live
// table, the check of an index, a watch.
#pragma once

#include <cstdint>

#include "bench/session.h"

namespace itemdb::bench {

struct LiveOptions {
  // Number of items of the table.
  uint64_t orders = 1'000'000;
  // Threads that write at the same time, with one put in flight each.
  int writers = 4;
  // How long changes are watched.
  double seconds = 5;
};

// The index and the check use storage in this process; the watch uses itemd and one connection.
absl::Status RunLive(Session& session, const LiveOptions& options);

}  // namespace itemdb::bench
