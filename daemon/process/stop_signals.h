// Waits for SIGTERM and SIGINT.
#pragma once

#include <signal.h>

#include <functional>
#include <thread>

#include "daemon/process/descriptor.h"

namespace itemdb::daemon {

// The constructor blocks both signals in its thread and in all threads started from it afterwards; otherwise
// the signals would end the process. Construct it before any other thread starts. One object per process.
class StopSignals {
 public:
  StopSignals();
  // Calls Ignore().
  ~StopSignals();

  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Waits for the next signal and returns its number.
  int Wait();

  // Starts a thread that calls `again` for each later signal.
  void OnNext(std::function<void(int signal)> again);
  // Stops that thread and joins it.
  void Ignore();

 private:
  Descriptor signals_;  // A signalfd.
  Descriptor end_;      // An eventfd.
  std::thread thread_;
};

}  // namespace itemdb::daemon
