// main() of every test program: GoogleTest's own, and an end for a test that hangs, which says where.

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

// Several times what the longest test takes under a sanitizer on a loaded machine. ITEMDB_TEST_SECONDS sets
// another; 0: none.
std::chrono::seconds Limit() {
  const char* seconds = std::getenv("ITEMDB_TEST_SECONDS");
  if (seconds == nullptr) return std::chrono::seconds(420);
  int limit = 0;
  if (absl::SimpleAtoi(seconds, &limit) && limit >= 0) return std::chrono::seconds(limit);
  std::fprintf(stderr, "ITEMDB_TEST_SECONDS is \"%s\"; it must be a number, 0 or more\n", seconds);
  std::exit(2);
}

// Ends the program when a test does not end, or what comes before, between and after tests: first the stacks
// of all threads are printed (by gdb, where it is installed), so that one occurrence tells what it waits for.
// It watches until the process is gone.
class HangWatch {
 public:
  HangWatch() {
    Begin("the start of the program");
    if (limit_ > limit_.zero()) std::thread([this] { Loop(); }).detach();
  }

  void Begin(std::string what) {
    MutexLock lock(mutex_);
    running_ = std::move(what);
    end_ = Clock::now() + limit_;
  }

 private:
  void Loop() {
    MutexLock lock(mutex_);
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
  Mutex mutex_;
  // Nobody notifies it.
  CondVar never_;
  std::string running_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point end_ ABSL_GUARDED_BY(mutex_);
};

// Tells the watch, which outlives it, what runs.
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
  // Other threads run by then.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  static auto* const watch = new itemdb::testing::HangWatch();
  ::testing::UnitTest::GetInstance()->listeners().Append(new itemdb::testing::Listener(*watch));
  return RUN_ALL_TESTS();
}
