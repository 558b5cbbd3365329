// The seed of a property test: printed by a failure, and read from the environment to repeat it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace itemdb::storage {

// ITEMDB_TEST_SEED if it is set, otherwise a new seed for each process. Use as
//   const uint64_t seed = TestSeed();
//   SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
//   std::mt19937_64 random(seed);
inline uint64_t TestSeed() {
  static const uint64_t seed = [] {
    const char* given = std::getenv("ITEMDB_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : uint64_t{std::random_device{}()};
  }();
  return seed;
}

// Uniform in [low, high].
inline int64_t Pick(std::mt19937_64& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

}  // namespace itemdb::storage
