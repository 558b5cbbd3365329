// `itembench watches`: what idle watches cost writers of other tables.
#pragma once

#include "bench/session.h"

namespace itemdb::bench {

struct WatchesOptions {
  // Watches of tables that nobody writes to.
  int watches = 10'000;
  // Threads that put into another table, one put in flight each.
  int writers = 4;
  // How often both are measured, and for how long each time.
  int rounds = 3;
  double seconds = 1;
};

// Storage in this process, durable.
absl::Status RunWatches(Session& session, const WatchesOptions& options);

}  // namespace itemdb::bench
