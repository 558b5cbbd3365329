// Checks of invariants: conditions that only a bug of ours can break. Bytes that were read from disk or from
// the network are never checked here: a wrong byte there returns an error status.
#pragma once

#include <cstdio>
#include <cstdlib>

// Aborts with file, line and condition when `condition` is false. Stays on in release builds.
#define ITEMDB_CHECK(condition)                                                          \
  do {                                                                                   \
    if (!(condition)) [[unlikely]] {                                                     \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

// Like ITEMDB_CHECK in debug builds, nothing otherwise: for conditions that are expensive to evaluate.
#ifdef NDEBUG
#define ITEMDB_DCHECK(condition) \
  do {                           \
  } while (false && (condition))
#else
#define ITEMDB_DCHECK(condition) ITEMDB_CHECK(condition)
#endif
