// How often a test repeats itself with another seed, and how many steps it makes, in sanitizer builds.
#pragma once

namespace itemdb::testing {

#if defined(ITEMDB_ADDRESS_SANITIZER) || defined(ITEMDB_THREAD_SANITIZER)
inline constexpr bool kHasSanitizer = true;
#else
inline constexpr bool kHasSanitizer = false;
#endif
inline constexpr int kSanitizerShare = kHasSanitizer ? 4 : 1;

// `count` in a normal build. A sanitizer build makes a quarter of that: more repetitions run the same code,
// and each takes five times as long.
template <typename Count>
constexpr Count Repetitions(Count count) {
  return (count + kSanitizerShare - 1) / kSanitizerShare;
}

}  // namespace itemdb::testing
