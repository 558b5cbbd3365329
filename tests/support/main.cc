// main() of every test program: GoogleTest, and a watch that ends a hanging test and prints where it hangs.

#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/mutex.h"

namespace itemdb::testing {
namespace {

using Clock = std::chrono::steady_clock;

// Several times as long as the longest test under a sanitizer on a busy machine. ITEMDB_TEST_SECONDS sets
// another limit; 0: none.
std::chrono::seconds Limit() {
  const char* seconds = std::getenv("ITEMDB_TEST_SECONDS");
  if (seconds == nullptr) return std::chrono::seconds(420);
  int limit = 0;
  if (absl::SimpleAtoi(seconds, &limit) && limit >= 0) return std::chrono::seconds(limit);
  std::fprintf(stderr, "ITEMDB_TEST_SECONDS is \"%s\"; it must be a number, 0 or more\n", seconds);
  std::exit(2);
}

// Ends the program if a test, or the code before, between or after tests, exceeds the limit. First prints the
// stacks of all threads (by gdb, if installed), so that one occurrence shows what the program waits for. Runs
// until the process ends.
class HangWatch {
 public:
  HangWatch() {
    Begin("the start of the program");
    if (limit_ > limit_.zero()) std::thread([this] { Loop(); }).detach();
  }

  void Begin(std::string what) {
    storage::MutexLock lock(mutex_);
    running_ = std::move(what);
    end_ = Clock::now() + limit_;
  }

 private:
  void Loop() {
    storage::MutexLock lock(mutex_);
    while (true) {
      never_.WaitFor(mutex_, std::chrono::seconds(1));
      if (Clock::now() >= end_) End();
    }
  }

  [[noreturn]] void End() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::fprintf(stderr, "\nHUNG: %s has not ended after %lld s\n", running_.c_str(),
                 static_cast<long long>(limit_.count()));
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    const std::string stacks = absl::StrCat(
        "timeout 300 gdb -p ", ::getpid(),
        " -batch -nx -iex 'set debuginfod enabled off' -ex 'thread apply all -ascending backtrace 30' 1>&2");
    if (std::system(stacks.c_str()) != 0) std::fprintf(stderr, "no stacks: gdb did not run\n");
    std::abort();
  }

  const std::chrono::seconds limit_ = Limit();
  storage::Mutex mutex_;
  // Never notified.
  storage::CondVar never_;
  std::string running_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point end_ ABSL_GUARDED_BY(mutex_);
};

// Tells the watch, which outlives this object, which test runs.
class Listener : public ::testing::EmptyTestEventListener {
 public:
  explicit Listener(HangWatch& watch) : watch_(watch) {}
  void OnTestStart(const ::testing::TestInfo& test) override {
    watch_.Begin(absl::StrCat(test.test_suite_name(), ".", test.name()));
  }
  void OnTestEnd(const ::testing::TestInfo& test) override {
    watch_.Begin(absl::StrCat("what follows ", test.test_suite_name(), ".", test.name()));
  }

 private:
  HangWatch& watch_;
};

}  // namespace
}  // namespace itemdb::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  // Death tests need this style when other threads run.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  static auto* const watch = new itemdb::testing::HangWatch();
  ::testing::UnitTest::GetInstance()->listeners().Append(new itemdb::testing::Listener(*watch));
  return RUN_ALL_TESTS();
}
