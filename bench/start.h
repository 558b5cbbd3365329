// `itembench start`: how long from starting itemd on a directory that does not exist to its first answer, and
// its memory when it then has nothing to do; the echo server's beside them.
#pragma once

#include "bench/session.h"

namespace itemdb::bench {

struct StartOptions {
  int rounds = 5;
  // Idle time before memory is read.
  double settle_seconds = 2;
};

absl::Status RunStart(Session& session, const StartOptions& options);

}  // namespace itemdb::bench
