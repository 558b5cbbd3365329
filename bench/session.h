// Objects that all commands of one run share.
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

  // Prints on stderr, if that is a terminal, what is being done.
  void Progress(const std::string& text) const;
  // CANCELLED after SIGINT or SIGTERM.
  absl::Status CheckInterrupted() const;
};

// From now on SIGINT and SIGTERM end the run at the next CheckInterrupted, so that the run removes its files.
void CatchInterrupts();

}  // namespace itemdb::bench
