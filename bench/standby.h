// `itembench standby`: what an archive and a standby cost the writers, and how long a promotion takes.
#pragma once

#include "bench/session.h"

namespace itemdb::bench {

struct StandbyOptions {
  // Threads that put orders, with one put in flight each.
  int callers = 16;
  double seconds = 2;
  int rounds = 5;
};

// Uses four daemons, which are measured in turn: alone, with an archive, with a standby that follows over the
// network, and with one that acknowledges each write. At the end the third is killed and its standby
// promoted.
absl::Status RunStandby(Session& session, const StandbyOptions& options);

}  // namespace itemdb::bench
