// Ends a process whose stop hangs: a call to a file system whose server or disk is gone may never return, and
// no thread that has made it can be ended.
#pragma once

#include <chrono>
#include <functional>

#include "storage/base/background_thread.h"

namespace itemdb::daemon {

class StopLimit {
 public:
  // Calls `on_limit` on another thread after `limit`, unless the object was destroyed.
  StopLimit(std::chrono::milliseconds limit, std::function<void()> on_limit) {
    thread_.Start([this, limit, on_limit = std::move(on_limit)] {
      if (thread_.WaitFor(limit)) on_limit();
    });
  }

 private:
  storage::BackgroundThread thread_;
};

}  // namespace itemdb::daemon
