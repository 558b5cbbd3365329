// A bounded pool of threads for work that waits for the disk or takes long.
#pragma once

#include <deque>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// Which tasks run first.
enum class IoPriority {
  // Reads of a few items by their keys, and writes that wait for such reads.
  kPoint,
  // Pages, reads of the change log and checks: they take milliseconds, and one caller often submits many.
  // While kPoint tasks wait too, one kLong task runs after kPointsBeforeLong of them.
  kLong,
};

// Thread-safe.
class IoPool {
 public:
  using Task = absl::AnyInvocable<void() &&>;

  IoPool(int threads, size_t max_queue);
  ~IoPool() { Stop(); }

  // Runs all accepted tasks, also those that they submit, and joins the threads. Later tasks are refused.
  void Stop();
  // Runs `task` on one of the threads. False, and `task` stays with the caller, when max_queue tasks of its
  // priority wait already or the pool has stopped.
  [[nodiscard]] bool Submit(Task& task, IoPriority priority);

 private:
  static constexpr int kPriorities = 2;
  static constexpr int kPointsBeforeLong = 8;

  void Run();
  bool IsEmpty() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes the next task from its queue. Only when a task waits.
  Task Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t max_queue_;
  Mutex mutex_;
  CondVar work_;
  // By priority.
  std::deque<Task> queues_[kPriorities] ABSL_GUARDED_BY(mutex_);
  // kPoint tasks taken since the last kLong one.
  int points_taken_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Threads that run.
  int running_ ABSL_GUARDED_BY(mutex_);
  bool has_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// RESOURCE_EXHAUSTED (QUEUE_FULL): the reply to a request when the pool refuses its task.
absl::Status IoPoolFullError();

}  // namespace itemdb::storage
