#include "bench/session.h"

#include <signal.h>
#include <unistd.h>

#include <iostream>

namespace itemdb::bench {
namespace {

volatile sig_atomic_t interrupted = 0;

void OnSignal(int) { interrupted = 1; }

}  // namespace

void Session::Progress(const std::string& text) const {
  // On a terminal each text replaces the one before.
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) std::cerr << "\r\033[K" << text << (text.empty() ? "" : " ...") << std::flush;
}

absl::Status Session::CheckInterrupted() const {
  return interrupted == 0 ? absl::OkStatus() : absl::CancelledError("interrupted");
}

void CatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace itemdb::bench
