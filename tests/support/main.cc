// main() of every test program: GoogleTest's own, and an end for a test that hangs, which says where.

#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/mutex.h"

namespace itemdb::testing {
namespace {

using Clock = std::chrono::steady_clock;

// Several times what the longest test takes under a sanitizer on a loaded machine. ITEMDB_TEST_SECONDS sets
// another.
std::chrono::seconds Limit() {
  const char* seconds = std::getenv("ITEMDB_TEST_SECONDS");
  return std::chrono::seconds(seconds == nullptr ? 900 : std::atoi(seconds));
}

// Ends the program when a test does not end: first the stacks of all threads are printed (by gdb, where it
// is installed), so that one occurrence tells what it waits for.
class HangWatch : public ::testing::EmptyTestEventListener {
 public:
  HangWatch() : thread_([this] { Loop(); }) {}
  ~HangWatch() override {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    stop_requested_.NotifyAll();
    thread_.join();
  }

  void OnTestStart(const ::testing::TestInfo& test) override {
    MutexLock lock(mutex_);
    running_ = absl::StrCat(test.test_suite_name(), ".", test.name());
    end_ = Clock::now() + limit_;
  }
  void OnTestEnd(const ::testing::TestInfo&) override {
    MutexLock lock(mutex_);
    running_.clear();
  }

 private:
  void Loop() {
    MutexLock lock(mutex_);
    while (!stopping_) {
      stop_requested_.WaitFor(mutex_, std::chrono::seconds(1));
      if (!running_.empty() && Clock::now() >= end_) End();
    }
  }

  [[noreturn]] void End() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::fprintf(stderr, "\nHUNG: %s has not ended after %lld s\n", running_.c_str(),
                 static_cast<long long>(limit_.count()));
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    const std::string stacks =
        absl::StrCat("gdb -p ", ::getpid(), " -batch -nx -ex 'thread apply all backtrace 30' 1>&2");
    if (std::system(stacks.c_str()) != 0) std::fprintf(stderr, "no stacks: gdb did not run\n");
    std::abort();
  }

  const std::chrono::seconds limit_ = Limit();
  Mutex mutex_;
  CondVar stop_requested_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Empty between tests.
  std::string running_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point end_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace
}  // namespace itemdb::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  ::testing::UnitTest::GetInstance()->listeners().Append(new itemdb::testing::HangWatch());
  return RUN_ALL_TESTS();
}
