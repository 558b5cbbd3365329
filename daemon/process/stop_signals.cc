#include "daemon/process/stop_signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

namespace itemdb::daemon {

StopSignals::StopSignals() : end_(eventfd(0, EFD_CLOEXEC)) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signals_.Reset(signalfd(-1, &signals, SFD_CLOEXEC));
}

StopSignals::~StopSignals() { Ignore(); }

int StopSignals::Read() {
  signalfd_siginfo info = {};
  while (read(signals_.get(), &info, sizeof(info)) != sizeof(info)) {
  }
  return static_cast<int>(info.ssi_signo);
}

int StopSignals::Wait(const std::function<void()>& reload) {
  while (true) {
    const int signal = Read();
    if (signal != SIGHUP) return signal;
    reload();
  }
}

void StopSignals::OnNext(std::function<void(int signal)> again) {
  thread_ = std::thread([this, again = std::move(again)] {
    while (true) {
      pollfd events[] = {{.fd = end_.get(), .events = POLLIN, .revents = 0},
                         {.fd = signals_.get(), .events = POLLIN, .revents = 0}};
      if (poll(events, 2, -1) < 0) continue;
      if (events[0].revents != 0) return;
      // A daemon that stops has nothing to reload.
      if (const int signal = Read(); signal != SIGHUP) again(signal);
    }
  });
}

void StopSignals::Ignore() {
  if (!thread_.joinable()) return;
  eventfd_write(end_.get(), 1);
  thread_.join();
  // OnNext may be called again.
  eventfd_t ended = 0;
  (void)eventfd_read(end_.get(), &ended);
}

}  // namespace itemdb::daemon
