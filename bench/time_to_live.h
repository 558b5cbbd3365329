// `itembench ttl`: the time from the expiry of items to their deletion.
#pragma once

#include <cstdint>

#include "bench/session.h"

namespace itemdb::bench {

struct TimeToLiveOptions {
  // Items put per second, for how many seconds. Each expires 5 s later, so as many expire per second.
  int per_second = 10'000;
  double seconds = 20;
  // Items that have already expired when the time to live is turned on.
  int64_t backlog = 1'000'000;
};

// Uses one daemon with two tables: in one, items are put and expire continuously; in the other, all items
// have expired when the time to live is turned on.
absl::Status RunTimeToLive(Session& session, const TimeToLiveOptions& options);

}  // namespace itemdb::bench
