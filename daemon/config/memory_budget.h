// How the memory given with --memory is divided.
#pragma once

#include <cstddef>
#include <cstdint>

namespace itemdb {

// All in bytes.
struct MemoryBudget {
  // Blocks of table files. Memtables are charged to it as well: what they hold is taken from cached blocks.
  size_t block_cache = 0;
  // Writes not yet in table files; within `block_cache`.
  size_t memtables = 0;
  // Writes waiting for the commit pipeline; beyond it QUEUE_FULL.
  size_t write_queue = 0;
  // Requests and replies in flight; beyond it CALLS_FULL.
  size_t calls = 0;
  // gRPC's buffers; beyond it gRPC makes peers wait and cancels calls.
  size_t transport = 0;
};

// Divides `memory` bytes, at least kMinMemoryBytes:
//
//   program       40 MiB        code, threads, RocksDB's and gRPC's own structures
//   allocator     1/16          what malloc holds beyond what is used
//   calls         1/8           20 MiB to 1 GiB: at least one message of the longest kind
//   write queue   1/10          24 MiB to 256 MiB: at least one batch of the longest kind and what it
//   replaces transport     1/8           16 MiB to 512 MiB block cache   the rest      of which memtables 1/8
//   of the whole, 8 MiB to 1 GiB
MemoryBudget SplitMemory(uint64_t memory);

inline constexpr uint64_t kMinMemoryBytes = 128 << 20;

}  // namespace itemdb
