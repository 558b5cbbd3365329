// `itembench ttl`: how long after their time items are deleted.
#pragma once

#include <cstdint>

#include "bench/session.h"

namespace itemdb::bench {

struct TimeToLiveOptions {
  // Items that expire in a second, and for how long; as many are put at the same time.
  int per_second = 10'000;
  double seconds = 20;
  // Items that have expired when the time to live is turned on.
  int64_t backlog = 1'000'000;
};

// One daemon and two tables: one whose items are put and expire all the time, and one with items that have
// expired already.
absl::Status RunTimeToLive(Session& session, const TimeToLiveOptions& options);

}  // namespace itemdb::bench
