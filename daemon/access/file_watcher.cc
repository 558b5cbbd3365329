#include "daemon/access/file_watcher.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace itemdb::daemon {

FileWatcher::FileWatcher(std::vector<WatchedFiles> watched, absl::Duration interval, common::Log log)
    : watched_(std::move(watched)),
      last_errors_(watched_.size()),
      interval_(interval),
      log_(std::move(log)),
      thread_([this] { Run(); }) {}

FileWatcher::~FileWatcher() {
  {
    storage::MutexLock lock(mutex_);
    stopping_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

void FileWatcher::PollSoon() {
  storage::MutexLock lock(mutex_);
  asked_ = true;
  wake_.NotifyAll();
}

void FileWatcher::Run() {
  while (true) {
    bool asked = false;
    {
      storage::MutexLock lock(mutex_);
      // A spurious wakeup only makes this poll early, which does no harm.
      if (!stopping_ && !asked_) wake_.WaitFor(mutex_, absl::ToChronoNanoseconds(interval_));
      if (stopping_) return;
      asked = std::exchange(asked_, false);
    }
    PollOnce(asked);
  }
}

void FileWatcher::PollOnce(bool asked) {
  for (size_t i = 0; i < watched_.size(); ++i) {
    const WatchedFiles& one = watched_[i];
    absl::StatusOr<bool> changed = one.reload();
    const std::string error = changed.ok() ? "" : storage::MessageOf(changed.status());
    if (changed.ok() && *changed) log_->info("{} reloaded path={}", one.what, one.path);
    if (!error.empty() && (asked || error != last_errors_[i])) {
      log_->error("{} not reloaded, the old ones stay in effect reason={}", one.what, error);
    }
    last_errors_[i] = error;
  }
}

}  // namespace itemdb::daemon
