// Ends a process whose stop hangs: a call to a file system whose server or disk is gone may never return, and
// no thread that has made it can be ended.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

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

// Calls `tell` on a thread of its own and returns when it has returned, after `limit` in any case: what it
// writes to may hang too.
inline void TellWithin(std::chrono::milliseconds limit, std::function<void()> tell) {
  const auto told = std::make_shared<std::promise<void>>();
  try {
    std::thread([told, tell = std::move(tell)] {
      tell();
      told->set_value();
    }).detach();
    (void)told->get_future().wait_for(limit);
  } catch (const std::system_error&) {
    // No thread can be made: it is not told.
  }
}

}  // namespace itemdb::daemon
