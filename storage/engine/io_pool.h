// A bounded pool of threads for work that waits for the disk or takes long.
#pragma once

#include <deque>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace itemdb {

// Thread-safe. Destruction runs what was taken on and joins.
class IoPool {
 public:
  using Task = absl::AnyInvocable<void() &&>;

  IoPool(int threads, size_t max_queue);
  ~IoPool();

  // Runs `task` on one of the threads. False, without taking it, when max_queue tasks wait already.
  [[nodiscard]] bool Submit(Task& task);

 private:
  void Run();

  const size_t max_queue_;
  Mutex mutex_;
  CondVar work_;
  std::deque<Task> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// What a full pool answers.
absl::Status IoPoolFullError();

}  // namespace itemdb
