// Shared by the tests that kill itemd again and again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>

#include "itemdb/client.h"
#include "tests/support/repetitions.h"

namespace itemdb::e2e {

inline constexpr int kDefaultKills = testing::kHasSanitizer ? 6 : 50;

// The number of kills, from ITEMDB_KILL9_CYCLES.
inline int Kills() {
  const char* given = std::getenv("ITEMDB_KILL9_CYCLES");
  return given == nullptr ? kDefaultKills : std::max(1, std::atoi(given));
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

}  // namespace itemdb::e2e
