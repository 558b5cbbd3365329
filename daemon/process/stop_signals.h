// SIGTERM and SIGINT as something to wait for.
#pragma once

#include <signal.h>

#include <functional>
#include <thread>

#include "daemon/process/descriptor.h"

namespace itemdb {

// Blocks both signals in the thread that makes it and in all threads it starts afterwards, so that they end
// nothing. Make it before any other thread. One per process.
class StopSignals {
 public:
  StopSignals();
  // As Ignore().
  ~StopSignals();

  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Waits for the next signal and returns its number.
  int Wait();

  // Calls `again` on a thread of its own for each signal from now on.
  void OnNext(std::function<void(int signal)> again);
  // Ends that.
  void Ignore();

 private:
  Descriptor signals_;  // A signalfd.
  Descriptor end_;      // An eventfd.
  std::thread thread_;
};

}  // namespace itemdb
