#include "tools/base/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

namespace itemdb::tools {
namespace {

// Global, because a signal handler can reach only globals. The handler writes to a pipe; the thread of the
// outermost scope reads from it.
struct Interrupts {
  std::atomic<int> write_end{-1};
  int read_end = -1;
  struct sigaction before = {};
  std::mutex mu;
  // Innermost last. Guarded by mu.
  std::vector<std::function<void()>*> scopes;
};
Interrupts& TheInterrupts() {
  static auto* interrupts = new Interrupts();
  return *interrupts;
}

constexpr char kInterrupted = 'i';
constexpr char kEnd = 'e';

void OnSignal(int) {
  const int saved = errno;
  // If the pipe is full, this interrupt is dropped: the pipe holds enough others.
  [[maybe_unused]] const ssize_t written = write(TheInterrupts().write_end.load(), &kInterrupted, 1);
  errno = saved;
}

}  // namespace

InterruptScope::InterruptScope(std::function<void()> on_interrupt) : on_interrupt_(std::move(on_interrupt)) {
  Interrupts& all = TheInterrupts();
  std::lock_guard<std::mutex> lock(all.mu);
  all.scopes.push_back(&on_interrupt_);
  int ends[2];
  if (all.scopes.size() > 1 || pipe2(ends, O_CLOEXEC) != 0) return;
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  all.read_end = ends[0];
  all.write_end.store(ends[1]);
  listener_ = std::thread([this] { Listen(); });
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &all.before);
}

void InterruptScope::Listen() {
  Interrupts& all = TheInterrupts();
  while (true) {
    char what = 0;
    const ssize_t got = read(all.read_end, &what, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1 || what == kEnd) return;
    std::lock_guard<std::mutex> lock(all.mu);
    if (!all.scopes.empty()) (*all.scopes.back())();
  }
}

InterruptScope::~InterruptScope() {
  Interrupts& all = TheInterrupts();
  {
    std::lock_guard<std::mutex> lock(all.mu);
    all.scopes.pop_back();
  }
  if (!listener_.joinable()) return;
  sigaction(SIGINT, &all.before, nullptr);
  // A blocking write, so that kEnd is not dropped when the pipe is full of interrupts.
  fcntl(all.write_end.load(), F_SETFL, 0);
  [[maybe_unused]] const ssize_t written = write(all.write_end.load(), &kEnd, 1);
  listener_.join();
  close(all.write_end.exchange(-1));
  close(all.read_end);
}

}  // namespace itemdb::tools
