// The thread for operations on tables, which block for a commit or longer.
#pragma once

#include <deque>
#include <thread>

#include "absl/functional/any_invocable.h"
#include "storage/base/mutex.h"

namespace itemdb {

// Thread-safe.
class AdminThread {
 public:
  using Work = absl::AnyInvocable<void() &&>;

  AdminThread();
  // Does what was taken on.
  ~AdminThread();
  AdminThread(const AdminThread&) = delete;
  AdminThread& operator=(const AdminThread&) = delete;

  // Does `work` after what came before it. False when too much waits already: `work` is still the caller's.
  [[nodiscard]] bool Run(Work& work);

 private:
  void Loop();

  Mutex mutex_;
  CondVar wake_;
  std::deque<Work> waiting_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace itemdb
