// `itembench reclaim`: how soon the space of a deleted table is back, and what writers notice of that.
#pragma once

#include <cstdint>

#include "bench/session.h"

namespace itemdb::bench {

struct ReclaimOptions {
  // Of the table that is deleted, which has a global and a local index; another one has a fifth as many.
  uint64_t items = 1'000'000;
  // That have the same partition key.
  uint64_t collection_items = 1;
  // DatabaseOptions::reclaim_bytes_per_second.
  int64_t bytes_per_second = 16 << 20;
  // Threads that put into the other table, one put in flight each.
  int writers = 4;
};

// Storage in this process.
absl::Status RunReclaim(Session& session, const ReclaimOptions& options);

}  // namespace itemdb::bench
