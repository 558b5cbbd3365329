// Divides the memory given with --memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace itemdb::daemon {

// All in bytes.
struct MemoryBudget {
  // Blocks of table files. Memtables are charged to it too: memory of a memtable is not there for blocks.
  size_t block_cache = 0;
  // Writes not yet in table files; a part of `block_cache`.
  size_t memtables = 0;
  // Writes waiting for the commit pipeline; further writes are refused with QUEUE_FULL.
  size_t write_queue = 0;
  // What one transaction or batch may replace and write; larger ones are refused with LIMIT_EXCEEDED. They
  // take the memory of other parts for a moment, one after another.
  size_t write_unit = 0;
  // Requests and replies in flight; further calls are refused with CALLS_FULL.
  size_t calls = 0;
  // gRPC's buffers; when they are full gRPC makes peers wait and cancels calls.
  size_t transport = 0;
};

// Divides `memory` bytes, at least kMinMemoryBytes:
//
// clang-format off
//   program       40 MiB     code, threads, RocksDB's and gRPC's own structures
//   allocator     1/16       memory that malloc holds but the program does not use
//   calls         1/8        20 MiB to 1 GiB: at least one message of the greatest length
//   write queue   1/10       24 MiB to 256 MiB: at least the longest batch and the items that it replaces
//   transport     1/8        16 MiB to 512 MiB
//   block cache   the rest   memtables get 1/8 of `memory` of it, 8 MiB to 1 GiB
//
// A write unit may have a third of `memory`. It has no part of its own: its batch and its memtable, which is
// charged to the block cache, are in memory while it is committed.
// clang-format on
MemoryBudget SplitMemory(uint64_t memory);

inline constexpr uint64_t kMinMemoryBytes = 128 << 20;

}  // namespace itemdb::daemon
