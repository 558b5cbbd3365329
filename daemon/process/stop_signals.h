// Waits for SIGTERM, SIGINT and SIGHUP.
#pragma once

#include <signal.h>

#include <functional>
#include <thread>

#include "daemon/process/descriptor.h"

namespace itemdb::daemon {

// The constructor blocks the three signals in its thread and in all threads started from it afterwards;
// otherwise they would end the process (the kernel also sends SIGHUP when the terminal of the process is
// closed). They stay blocked. Construct it before any other thread starts. One object per process.
class StopSignals {
 public:
  StopSignals();
  // Calls Ignore().
  ~StopSignals();

  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Waits for SIGTERM or SIGINT and returns its number. Calls `reload` for each SIGHUP that arrives before,
  // also if it arrived before this call; several SIGHUP at a time may be one.
  int Wait(const std::function<void()>& reload);

  // Starts a thread that calls `again` for each later SIGTERM and SIGINT, and ignores SIGHUP.
  void OnNext(std::function<void(int signal)> again);
  // Stops that thread and joins it. Wait and OnNext may be called again.
  void Ignore();

 private:
  // Waits for the next signal.
  int Read();

  Descriptor signals_;  // A signalfd.
  Descriptor end_;      // An eventfd.
  std::thread thread_;
};

}  // namespace itemdb::daemon
