// What the commands of one run share.
#pragma once

#include <string>

#include "bench/report.h"
#include "bench/scratch.h"

namespace itemdb::bench {

struct Session {
  Scratch& scratch;
  Report& report;
  // Servers listen on unix sockets instead of ports of 127.0.0.1.
  bool unix_socket = false;

  // Says on stderr what is being done.
  void Progress(const std::string& text) const;
  // CANCELLED once SIGINT or SIGTERM came.
  absl::Status CheckInterrupted() const;
};

// From now on SIGINT and SIGTERM end the run at the next CheckInterrupted, so that what it made is removed.
void CatchInterrupts();

}  // namespace itemdb::bench
