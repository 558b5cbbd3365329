#include "storage/engine/io_pool.h"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace itemdb::storage {
namespace {

// In glibc before 2.41 a thread may miss its wake-up when several threads wait (bug 25847). So a waiting
// thread polls too: otherwise a task could wait until the next one is submitted.
constexpr auto kPollInterval = std::chrono::seconds(1);

}  // namespace

IoPool::IoPool(int threads, size_t max_queue) : max_queue_(max_queue), running_(threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

void IoPool::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool IoPool::Submit(Task& task, IoPriority priority) {
  {
    MutexLock lock(mutex_);
    std::deque<Task>& queue = queues_[static_cast<int>(priority)];
    if (has_stopped_ || queue.size() >= max_queue_) return false;
    queue.push_back(std::move(task));
  }
  work_.NotifyOne();
  return true;
}

bool IoPool::IsEmpty() const {
  return std::all_of(std::begin(queues_), std::end(queues_), [](const auto& queue) { return queue.empty(); });
}

IoPool::Task IoPool::Take() {
  std::deque<Task>& points = queues_[static_cast<int>(IoPriority::kPoint)];
  std::deque<Task>& longs = queues_[static_cast<int>(IoPriority::kLong)];
  const bool take_long = points.empty() || (!longs.empty() && points_taken_ >= kPointsBeforeLong);
  points_taken_ = take_long ? 0 : points_taken_ + 1;
  std::deque<Task>& queue = take_long ? longs : points;
  Task task = std::move(queue.front());
  queue.pop_front();
  return task;
}

void IoPool::Run() {
  while (true) {
    Task task;
    {
      MutexLock lock(mutex_);
      while (IsEmpty() && !stopping_) work_.WaitFor(mutex_, kPollInterval);
      if (IsEmpty()) {
        // The last thread ends: a task that is submitted from now on would never run, so Submit refuses it.
        has_stopped_ = --running_ == 0;
        return;
      }
      task = Take();
    }
    std::move(task)();
  }
}

absl::Status IoPoolFullError() {
  return MakeError(absl::StatusCode::kResourceExhausted, kReasonQueueFull,
                   "too many reads are waiting for the disk; try again later", 100);
}

}  // namespace itemdb::storage
