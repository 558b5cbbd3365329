// How often a test repeats itself with another seed, and how much it does, in a build with a sanitizer.
#pragma once

namespace itemdb::testing {

#if defined(ITEMDB_ADDRESS_SANITIZER) || defined(ITEMDB_THREAD_SANITIZER)
inline constexpr bool kHasSanitizer = true;
#else
inline constexpr bool kHasSanitizer = false;
#endif
inline constexpr int kSanitizerShare = kHasSanitizer ? 4 : 1;

// `count` in the build that users get. A build with a sanitizer makes a quarter of them: what it looks for is
// in the steps, which are the same ones, and each takes it five times as long.
template <typename Count>
constexpr Count Repetitions(Count count) {
  return (count + kSanitizerShare - 1) / kSanitizerShare;
}

}  // namespace itemdb::testing
