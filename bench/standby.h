// `itembench standby`: what an archive, backups and a standby cost the writers, and how long a promotion
// takes.
#pragma once

#include "bench/session.h"

namespace itemdb::bench {

struct StandbyOptions {
  // Threads that put orders, with one put in flight each.
  int callers = 16;
  double seconds = 2;
  int rounds = 5;
  // Of all callers together: each waits until the time of its next put, and a put that is late counts from
  // then. 0: each puts as soon as it has an answer.
  double puts_per_second = 0;
};

// Uses five daemons, which are measured in turn: alone, with an archive, with an archive while backups are
// made one after another, with a standby that follows over the network, and with one that acknowledges each
// write. At the end the fourth is killed and its standby promoted.
absl::Status RunStandby(Session& session, const StandbyOptions& options);

}  // namespace itemdb::bench
