// `itembench reclaim`: the time until the space of a deleted table is reclaimed, and the effect on writers.
#pragma once

#include <cstdint>

#include "bench/session.h"

namespace itemdb::bench {

struct ReclaimOptions {
  // Items of the table that is deleted. It has a global and a local index. Another table has a fifth as many.
  uint64_t items = 1'000'000;
  // Items with the same partition key.
  uint64_t collection_items = 1;
  // DatabaseOptions::reclaim_bytes_per_second.
  int64_t bytes_per_second = 16 << 20;
  // Threads that put into the other table, with one put in flight each.
  int writers = 4;
};

// Uses storage in this process.
absl::Status RunReclaim(Session& session, const ReclaimOptions& options);

}  // namespace itemdb::bench
