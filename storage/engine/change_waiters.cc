#include "storage/engine/change_waiters.h"

#include <algorithm>
#include <utility>

namespace itemdb {
namespace {

// How often cancellations are looked at: how long a stopping daemon waits for its watchers.
constexpr auto kLook = std::chrono::milliseconds(20);

}  // namespace

ChangeWaiters::ChangeWaiters(std::function<uint64_t()> last_sequence)
    : last_sequence_(std::move(last_sequence)), thread_([this] { Loop(); }) {}

ChangeWaiters::~ChangeWaiters() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void ChangeWaiters::Await(uint64_t sequence, Clock::time_point until, CancellationPtr cancellation,
                          Wake wake) {
  {
    MutexLock lock(mutex_);
    waiting_.store(true, std::memory_order_relaxed);
    if (last_sequence_() <= sequence) {
      waiters_.push_back({sequence, until, std::move(cancellation), std::move(wake)});
      if (waiters_.size() == 1) changed_.NotifyAll();
      return;
    }
    if (waiters_.empty()) waiting_.store(false, std::memory_order_relaxed);
  }
  std::move(wake)();
}

void ChangeWaiters::WakeThread() {
  {
    MutexLock lock(mutex_);
    // Until the thread has looked through them nobody need tell it again.
    waiting_.store(false, std::memory_order_relaxed);
    notified_ = true;
  }
  changed_.NotifyAll();
}

void ChangeWaiters::Loop() {
  while (true) {
    std::vector<Wake> due;
    {
      MutexLock lock(mutex_);
      if (!stopping_ && waiters_.empty()) changed_.Wait(mutex_);
      if (!stopping_ && !waiters_.empty() && !notified_) changed_.WaitFor(mutex_, UntilNextLook());
      if (stopping_) return;
      due = TakeDue();
    }
    for (Wake& wake : due) std::move(wake)();
  }
}

ChangeWaiters::Clock::duration ChangeWaiters::UntilNextLook() const {
  const Clock::time_point now = Clock::now();
  Clock::time_point next = now + kLook;
  for (const Waiter& waiter : waiters_) next = std::min(next, waiter.until);
  return std::max(next - now, Clock::duration::zero());
}

std::vector<ChangeWaiters::Wake> ChangeWaiters::TakeDue() {
  notified_ = false;
  waiting_.store(!waiters_.empty(), std::memory_order_relaxed);
  std::vector<Wake> due;
  if (waiters_.empty()) return due;
  const uint64_t last = last_sequence_();
  const Clock::time_point now = Clock::now();
  for (size_t i = 0; i < waiters_.size();) {
    Waiter& waiter = waiters_[i];
    if (waiter.sequence >= last && now < waiter.until && CheckWanted(waiter.cancellation).ok()) {
      ++i;
      continue;
    }
    due.push_back(std::move(waiter.wake));
    if (&waiter != &waiters_.back()) waiter = std::move(waiters_.back());
    waiters_.pop_back();
  }
  return due;
}

}  // namespace itemdb
