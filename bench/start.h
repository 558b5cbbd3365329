// `itembench start`: the time from starting itemd on a directory that does not exist to its first answer, and
// its memory when idle; the same for `itemd dev` and the echo server.
#pragma once

#include "bench/session.h"

namespace itemdb::bench {

struct StartOptions {
  int rounds = 5;
  // Idle time before memory is measured.
  double settle_seconds = 2;
};

absl::Status RunStart(Session& session, const StartOptions& options);

}  // namespace itemdb::bench
