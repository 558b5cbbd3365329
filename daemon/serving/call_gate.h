// Counts calls in flight, so that a daemon that stops can refuse new ones with a status of its own and wait
// for the others. gRPC alone would cancel calls that arrive while it stops, which tells a caller nothing
// about a write, and would wait for streams that never end, such as health watches.
#pragma once

#include <chrono>
#include <cstdint>

#include "storage/base/mutex.h"

namespace itemdb {

// Thread-safe.
class CallGate {
 public:
  CallGate() = default;
  CallGate(const CallGate&) = delete;
  CallGate& operator=(const CallGate&) = delete;

  // True when the call may go on; it must Leave() once.
  [[nodiscard]] bool TryEnter();
  void Leave();

  // No call enters any more.
  void Close();
  // Waits until none is inside. False when `patience` passed or Hurry() was called first. The gate must be
  // closed.
  bool WaitUntilEmpty(std::chrono::milliseconds patience);
  // Ends the wait above, and those to come.
  void Hurry();
  // The same without end, whatever the hurry. After it the gate may be destroyed.
  void WaitUntilEmpty();

 private:
  Mutex mutex_;
  CondVar empty_;
  int64_t inside_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool hurry_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace itemdb
