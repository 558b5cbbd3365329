// Ctrl-C (SIGINT) calls a function instead of ending the process.
#pragma once

#include <functional>
#include <thread>

namespace itemdb::tools {

// While an InterruptScope exists, SIGINT calls `on_interrupt` on another thread and does nothing else. If
// scopes are nested, only the innermost one is called. Scopes must be destroyed in the reverse order of their
// construction, on the thread that constructed them.
class InterruptScope {
 public:
  explicit InterruptScope(std::function<void()> on_interrupt);
  // Waits until a running `on_interrupt` has returned.
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  void Listen();

  std::function<void()> on_interrupt_;
  std::thread listener_;  // Runs only in the outermost scope.
};

}  // namespace itemdb::tools
