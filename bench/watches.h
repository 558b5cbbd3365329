// `itembench watches`: the effect of idle watches on writers of other tables.
#pragma once

#include "bench/session.h"

namespace itemdb::bench {

struct WatchesOptions {
  // Watches of tables that nobody writes to.
  int watches = 10'000;
  // Threads that put into another table, with one put in flight each.
  int writers = 4;
  // How many times puts are measured with and without watches, and the seconds of each measurement.
  int rounds = 3;
  double seconds = 1;
};

// Uses durable storage in this process.
absl::Status RunWatches(Session& session, const WatchesOptions& options);

}  // namespace itemdb::bench
