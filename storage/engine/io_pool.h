// A bounded pool of threads for work that waits for the disk or takes long.
#pragma once

#include <deque>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace itemdb {

// Which tasks run first.
enum class IoPriority {
  // Reads of a few items by their keys, and writes that wait for such reads.
  kPoint,
  // Pages, walks of the change log and checks: milliseconds, and often many of one caller. They get one in
  // kPointsBeforeLong turns when points wait too.
  kLong,
};

// Thread-safe.
class IoPool {
 public:
  using Task = absl::AnyInvocable<void() &&>;

  IoPool(int threads, size_t max_queue);
  ~IoPool() { Stop(); }

  // Runs what was taken on, also what that submits, and joins the threads. What is submitted later is
  // refused.
  void Stop();
  // Runs `task` on one of the threads. False, without taking it, when max_queue tasks of its priority wait
  // already.
  [[nodiscard]] bool Submit(Task& task, IoPriority priority);

 private:
  static constexpr int kPriorities = 2;
  static constexpr int kPointsBeforeLong = 8;

  void Run();
  bool IsEmpty() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The next one; there is one.
  Task Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t max_queue_;
  Mutex mutex_;
  CondVar work_;
  // By priority.
  std::deque<Task> queues_[kPriorities] ABSL_GUARDED_BY(mutex_);
  // Taken since the last long one.
  int points_taken_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Threads.
  int running_ ABSL_GUARDED_BY(mutex_);
  bool has_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// What a full pool answers.
absl::Status IoPoolFullError();

}  // namespace itemdb
