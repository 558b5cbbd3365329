#include "daemon/access/file_follower.h"

#include <spdlog/spdlog.h>

namespace itemdb::daemon {

FileFollower::FileFollower(std::vector<Followed> followed, absl::Duration interval,
                           std::shared_ptr<spdlog::logger> log)
    : followed_(std::move(followed)),
      complaints_(followed_.size()),
      interval_(interval),
      log_(std::move(log)),
      thread_([this] { Run(); }) {}

FileFollower::~FileFollower() {
  {
    storage::MutexLock lock(mutex_);
    stopping_ = true;
    stop_.NotifyAll();
  }
  thread_.join();
}

void FileFollower::Run() {
  while (true) {
    {
      storage::MutexLock lock(mutex_);
      // A spurious wakeup only makes this poll early, which does no harm.
      if (!stopping_) stop_.WaitFor(mutex_, absl::ToChronoNanoseconds(interval_));
      if (stopping_) return;
    }
    Look();
  }
}

void FileFollower::Look() {
  for (size_t i = 0; i < followed_.size(); ++i) {
    const Followed& one = followed_[i];
    absl::StatusOr<bool> changed = one.follow();
    const std::string complaint = changed.ok() ? "" : storage::MessageOf(changed.status());
    if (changed.ok() && *changed) log_->info("{} reloaded {}", one.what, one.where);
    if (!complaint.empty() && complaint != complaints_[i]) {
      log_->error("{} not reloaded, the old ones stay in effect reason={}", one.what, complaint);
    }
    complaints_[i] = complaint;
  }
}

}  // namespace itemdb::daemon
