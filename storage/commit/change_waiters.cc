#include "storage/commit/change_waiters.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace itemdb::storage {
namespace {

// How often the thread polls for waits that are over or cancelled. A stopping daemon waits so long for them.
constexpr auto kPollInterval = std::chrono::milliseconds(20);

}  // namespace

ChangeWaiters::ChangeWaiters(std::function<uint64_t()> durable_sequence)
    : durable_sequence_(std::move(durable_sequence)), thread_([this] { Loop(); }) {}

ChangeWaiters::~ChangeWaiters() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

bool ChangeWaiters::MayHaveChanged(uint64_t storage_id, uint64_t sequence) const {
  return sequence < opened_at_ ||
         sequence < slots_[SlotOf(storage_id)].last_change.load(std::memory_order_relaxed);
}

void ChangeWaiters::Await(uint64_t storage_id, uint64_t sequence, Clock::time_point until,
                          CancellationPtr cancellation, Wake wake) {
  const size_t slot = SlotOf(storage_id);
  Waiter waiter{storage_id, sequence, until, std::move(cancellation), std::move(wake)};
  {
    MutexLock lock(mutex_);
    // `waiting` is set before IsDue reads the sequences. So either Notify sees `waiting`, or IsDue sees the
    // new sequences: the mutex of the durable sequence orders the two threads.
    slots_[slot].waiting.store(true, std::memory_order_relaxed);
    if (!IsDue(waiter, durable_sequence_(), Clock::now())) {
      const bool was_idle = waiters_.empty();
      waiters_[slot].push_back(std::move(waiter));
      if (was_idle) changed_.NotifyAll();
      return;
    }
    if (!waiters_.contains(slot)) slots_[slot].waiting.store(false, std::memory_order_relaxed);
  }
  std::move(waiter.wake)(waiter.sequence);
}

void ChangeWaiters::RecordApplied(const TableRunsOfGroup& changes) {
  for (const TableRun& run : changes.runs()) {
    for (size_t slot : {SlotOf(run.storage_id), kAnyTable})
      slots_[slot].last_change.store(run.end() - 1, std::memory_order_relaxed);
  }
}

void ChangeWaiters::Notify(const TableRunsOfGroup& changes) {
  for (const TableRun& run : changes.runs()) NotifySlot(SlotOf(run.storage_id));
  NotifySlot(kAnyTable);
}

void ChangeWaiters::NotifyAll() {
  for (size_t slot = 0; slot < slots_.size(); ++slot) NotifySlot(slot);
}

void ChangeWaiters::NotifySlot(size_t slot) {
  if (!slots_[slot].waiting.load(std::memory_order_relaxed)) return;
  {
    MutexLock lock(mutex_);
    // No second notification is needed until the thread has checked the waiters of this slot.
    slots_[slot].waiting.store(false, std::memory_order_relaxed);
    notified_.push_back(slot);
  }
  changed_.NotifyAll();
}

void ChangeWaiters::Loop() {
  Clock::time_point next_poll = Clock::now();
  while (true) {
    std::vector<Waiter> due;
    {
      MutexLock lock(mutex_);
      while (!stopping_ && notified_.empty()) {
        if (waiters_.empty()) {
          changed_.Wait(mutex_);
        } else if (const auto left = next_poll - Clock::now(); left > left.zero()) {
          changed_.WaitFor(mutex_, left);
        } else {
          break;
        }
      }
      if (stopping_) return;
      if (waiters_.empty()) {  // durable_sequence_ must not be called: the pipeline may be destroyed already.
        notified_.clear();
        continue;
      }
      const Clock::time_point now = Clock::now();
      std::vector<size_t> slots = std::exchange(notified_, {});
      if (now >= next_poll) {
        slots.clear();
        for (const auto& [slot, waiters] : waiters_) slots.push_back(slot);
        next_poll = now + kPollInterval;
      }
      // Before the sequences are read, as in Await.
      for (size_t slot : slots) slots_[slot].waiting.store(true, std::memory_order_relaxed);
      const uint64_t durable = durable_sequence_();
      for (size_t slot : slots) TakeDue(slot, durable, now, &due);
    }
    for (Waiter& waiter : due) std::move(waiter.wake)(waiter.sequence);
  }
}

bool ChangeWaiters::IsDue(const Waiter& waiter, uint64_t durable, Clock::time_point now) const {
  return (waiter.sequence < durable && MayHaveChanged(waiter.storage_id, waiter.sequence)) ||
         now >= waiter.until || !CheckNotCancelled(waiter.cancellation).ok();
}

void ChangeWaiters::TakeDue(size_t slot, uint64_t durable, Clock::time_point now, std::vector<Waiter>* due) {
  const auto found = waiters_.find(slot);
  if (found == waiters_.end()) return slots_[slot].waiting.store(false, std::memory_order_relaxed);
  std::vector<Waiter>& waiters = found->second;
  const auto rest = std::partition(waiters.begin(), waiters.end(),
                                   [&](const Waiter& waiter) { return !IsDue(waiter, durable, now); });
  for (auto waiter = waiters.begin(); waiter != rest; ++waiter) {
    if (!MayHaveChanged(waiter->storage_id, waiter->sequence))
      waiter->sequence = std::max(waiter->sequence, durable);
  }
  std::move(rest, waiters.end(), std::back_inserter(*due));
  waiters.erase(rest, waiters.end());
  if (!waiters.empty()) return;
  waiters_.erase(found);
  slots_[slot].waiting.store(false, std::memory_order_relaxed);
}

}  // namespace itemdb::storage
