#include "storage/engine/io_pool.h"

#include <chrono>

namespace itemdb {
namespace {

// In glibc before 2.41 one of several waiting threads may sleep on although it was woken (bug 25847). A task
// must not wait for that until the next one comes.
constexpr auto kLookInterval = std::chrono::seconds(1);

}  // namespace

IoPool::IoPool(int threads, size_t max_queue) : max_queue_(max_queue) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

IoPool::~IoPool() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

bool IoPool::Submit(Task& task) {
  {
    MutexLock lock(mutex_);
    if (queue_.size() >= max_queue_) return false;
    queue_.push_back(std::move(task));
  }
  work_.NotifyOne();
  return true;
}

void IoPool::Run() {
  while (true) {
    Task task;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) work_.WaitFor(mutex_, kLookInterval);
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    std::move(task)();
  }
}

absl::Status IoPoolFullError() {
  return MakeError(absl::StatusCode::kResourceExhausted, kReasonQueueFull,
                   "too many reads are waiting for the disk; try again later", 100);
}

}  // namespace itemdb
