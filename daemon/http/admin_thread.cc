#include "daemon/http/admin_thread.h"

#include <utility>

namespace itemdb {
namespace {

// The service allows as many operations on tables at once (SEM-094).
constexpr size_t kMaxWaiting = 500;

}  // namespace

AdminThread::AdminThread() : thread_([this] { Loop(); }) {}

AdminThread::~AdminThread() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyOne();
  thread_.join();
}

bool AdminThread::Run(Work& work) {
  {
    MutexLock lock(mutex_);
    if (waiting_.size() >= kMaxWaiting) return false;
    waiting_.push_back(std::move(work));
  }
  wake_.NotifyOne();
  return true;
}

void AdminThread::Loop() {
  while (true) {
    Work work;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) wake_.Wait(mutex_);
      if (waiting_.empty()) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    std::move(work)();
  }
}

}  // namespace itemdb
