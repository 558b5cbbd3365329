// `itembench imports`: how many items a second ImportTable makes a table of.
#pragma once

#include <cstdint>

#include "bench/session.h"

namespace itemdb::bench {

struct ImportsOptions {
  uint64_t items = 1'000'000;
  int rounds = 3;
};

// Uses storage in this process.
absl::Status RunImports(Session& session, const ImportsOptions& options);

}  // namespace itemdb::bench
