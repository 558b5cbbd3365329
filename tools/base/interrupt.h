// Ctrl-C as an event instead of the end of the process.
#pragma once

#include <functional>
#include <thread>

namespace itemdb::tools {

// While it lives, SIGINT calls `on_interrupt`, on another thread, and does nothing else. Where scopes are
// nested the innermost is called; they end in the reverse order of their making, on the thread that made
// them.
class InterruptScope {
 public:
  explicit InterruptScope(std::function<void()> on_interrupt);
  // Waits for an `on_interrupt` under way.
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  void Listen();

  std::function<void()> on_interrupt_;
  std::thread listener_;  // Of the outermost scope only.
};

}  // namespace itemdb::tools
