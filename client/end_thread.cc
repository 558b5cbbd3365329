#include "client/end_thread.h"

#include <cstdlib>
#include <list>
#include <mutex>
#include <utility>

namespace itemdb {
namespace {

struct EndingThread {
  std::thread thread;
  // Its function has returned, so a join takes no time.
  bool returned = false;
};

struct EndingThreads {
  std::mutex mutex;
  // Guarded by `mutex`.
  std::list<EndingThread> threads;
};

// Never destroyed: a thread may return during the exit.
EndingThreads& Ending() {
  static EndingThreads* const ending = new EndingThreads;
  return *ending;
}

class ReturnNotice {
 public:
  ~ReturnNotice() {
    std::lock_guard<std::mutex> lock(Ending().mutex);
    for (EndingThread& ending : Ending().threads) {
      if (ending.thread.get_id() == std::this_thread::get_id()) ending.returned = true;
    }
  }
};

void JoinThose(bool returned_only) {
  std::list<EndingThread> joined;
  {
    std::lock_guard<std::mutex> lock(Ending().mutex);
    std::list<EndingThread>& all = Ending().threads;
    for (auto next = all.begin(); next != all.end();) {
      const auto one = next++;
      if (one->returned || !returned_only) joined.splice(joined.end(), all, one);
    }
  }
  for (EndingThread& ending : joined) {
    // A function that runs on it may call exit.
    if (ending.thread.get_id() == std::this_thread::get_id()) {
      ending.thread.detach();
    } else {
      ending.thread.join();
    }
  }
}

void JoinAll() { JoinThose(false); }

}  // namespace

void EndThread(std::thread thread) {
  if (thread.get_id() != std::this_thread::get_id()) {
    thread.join();
  } else {
    static const int registered = std::atexit(JoinAll);
    static_cast<void>(registered);
    static thread_local const ReturnNotice notice;
    static_cast<void>(notice);
    std::lock_guard<std::mutex> lock(Ending().mutex);
    Ending().threads.push_back({std::move(thread)});
  }
  JoinThose(true);
}

void EndThreadsBeforeEarlierExitFunctions() { std::atexit(JoinAll); }

}  // namespace itemdb
