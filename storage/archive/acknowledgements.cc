#include "storage/archive/acknowledgements.h"

#include <utility>

namespace itemdb::storage {
namespace {

// A database without a standby keeps no more than these.
constexpr size_t kMaxVersions = 4'096;

}  // namespace

void Acknowledgements::Written(uint64_t change) {
  std::vector<std::function<void()>> waiters;
  {
    MutexLock lock(mutex_);
    version_ = {.number = version_.number + 1, .change = change};
    versions_.push_back(version_);
    if (versions_.size() > kMaxVersions) versions_.pop_front();
    waiters.swap(waiters_);
  }
  for (const auto& waiter : waiters) waiter();
}

Acknowledgements::Version Acknowledgements::version() const {
  MutexLock lock(mutex_);
  return version_;
}

void Acknowledgements::Acknowledge(uint64_t version) {
  MutexLock lock(mutex_);
  if (version > version_.number) return;
  while (!versions_.empty() && versions_.front().number <= version) {
    acknowledged_ = versions_.front().change;
    versions_.pop_front();
    is_lost_ = false;
  }
  // It has all, also what an earlier process has written.
  if (version == version_.number) {
    acknowledged_ = version_.change;
    is_lost_ = false;
  }
  changed_.NotifyAll();
}

void Acknowledgements::WhenChanged(uint64_t known, std::function<void()> call) {
  {
    MutexLock lock(mutex_);
    if (known == version_.number && !is_closed_) {
      waiters_.push_back(std::move(call));
      return;
    }
  }
  call();
}

void Acknowledgements::ReleaseWaiters() {
  std::vector<std::function<void()>> waiters;
  {
    MutexLock lock(mutex_);
    waiters.swap(waiters_);
  }
  for (const auto& waiter : waiters) waiter();
}

absl::Status Acknowledgements::Await(uint64_t change) {
  MutexLock lock(mutex_);
  const Clock::time_point deadline = Clock::now() + kTimeout;
  while (acknowledged_ < change && !is_lost_ && !has_ended_) {
    const Clock::time_point now = Clock::now();
    if (now >= deadline) {
      is_lost_ = true;
      // Writes that wait behind this one do not wait as long again.
      changed_.NotifyAll();
      break;
    }
    (void)changed_.WaitFor(mutex_, deadline - now);
  }
  if (acknowledged_ >= change) return absl::OkStatus();
  return MakeError(absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown,
                   "the write is durable here, and no standby has said that it has it: it is lost if this "
                   "machine is, or if a standby was promoted meanwhile (--standby-acknowledge)");
}

absl::Status Acknowledgements::CheckStandby() const {
  MutexLock lock(mutex_);
  if (!is_lost_) return absl::OkStatus();
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                   "nothing was written: no standby answers, and --standby-acknowledge lets no write be "
                   "answered that only this machine has; a standby that reads this one's directories answers "
                   "never, one with --standby HOST:PORT does",
                   1000);
}

void Acknowledgements::End() {
  MutexLock lock(mutex_);
  has_ended_ = true;
  changed_.NotifyAll();
}

void Acknowledgements::Close() {
  End();
  {
    MutexLock lock(mutex_);
    is_closed_ = true;
  }
  ReleaseWaiters();
}

}  // namespace itemdb::storage
