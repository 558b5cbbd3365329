// Shared by the tests that kill itemd again and again.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>

#include "itemdb/client.h"
#include "tests/support/repetitions.h"

namespace itemdb::e2e {

inline constexpr int kDefaultKills = testing::kHasSanitizer ? 6 : 20;
// Of steps that take a second or more.
inline constexpr int kDefaultKillsOfLongSteps = testing::kHasSanitizer ? 1 : 5;

// The number of kills of each step that a test kills: ITEMDB_KILL9_CYCLES, otherwise `by_default`.
inline int Kills(int by_default = kDefaultKills) {
  const char* given = std::getenv("ITEMDB_KILL9_CYCLES");
  return given == nullptr ? by_default : std::max(1, std::atoi(given));
}

// The seed: ITEMDB_TEST_SEED, or a random one.
inline uint64_t KillSeed() {
  const char* given = std::getenv("ITEMDB_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

using Random = std::mt19937_64;

inline int64_t Pick(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

// An unanswered call may have been executed, so these calls are not retried.
inline CallOptions OneAttempt() { return {.retry = RetryOptions{.max_attempts = 1}}; }

// What kill -9 left of a step, round after round. The destructor prints the counts as one line that begins
// with "kill -9".
class KilledRounds {
 public:
  // `step` names what is killed, such as "an export". Rounds that have to end it before it is answered: in a
  // run of many rounds one at least, or it tested little.
  explicit KilledRounds(std::string step) : step_(std::move(step)), failures_(Failures()) {}
  ~KilledRounds() {
    // A round that an assertion ended, or a check of all rounds.
    if (Failures() != failures_) ++wrong_;
    constexpr int kManyRounds = 20;
    EXPECT_TRUE(rounds_ < kManyRounds || interrupted_ > 0)
        << "no kill hit " << step_ << ", so this tested little";
    std::printf("kill -9 of %s: %d rounds, %d before it was answered; then %d whole, %d none, %d wrong\n",
                step_.c_str(), rounds_, interrupted_, whole_, none_, wrong_);
  }
  KilledRounds(const KilledRounds&) = delete;
  KilledRounds& operator=(const KilledRounds&) = delete;

  struct Round {
    // The step was not answered, or is known to have begun and not ended.
    bool was_interrupted = false;
    // There is a whole result, also if the next start completed it. Otherwise there is none.
    bool is_whole = false;
  };
  // Ends a round. It is wrong if an expectation failed since the last one.
  void Add(const Round& round) {
    ++rounds_;
    if (round.was_interrupted) ++interrupted_;
    if (const int failures = Failures(); failures != failures_) {
      failures_ = failures;
      ++wrong_;
    } else if (round.is_whole) {
      ++whole_;
    } else {
      ++none_;
    }
  }

 private:
  static int Failures() {
    const ::testing::TestResult& result = *::testing::UnitTest::GetInstance()->current_test_info()->result();
    int failures = 0;
    for (int i = 0; i < result.total_part_count(); ++i)
      failures += result.GetTestPartResult(i).failed() ? 1 : 0;
    return failures;
  }

  const std::string step_;
  int failures_;
  int rounds_ = 0;
  int interrupted_ = 0;
  int whole_ = 0;
  int none_ = 0;
  int wrong_ = 0;
};

}  // namespace itemdb::e2e
