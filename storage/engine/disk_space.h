// How much of the disk is free, and which writes are accepted because of it.
//
//   free space             writes                                                 ballast
//   the floor or more      all                                                    made when it is missing
//   below the floor        those that free space: deletions, trimming             kept
//   below an eighth of it  the same, from the space of the ballast; then none     deleted
//
// Reads are never refused.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/log/log.h"
#include "rocksdb/env.h"
#include "spdlog/logger.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// What a write does to the space on disk.
enum class WriteSpace {
  kTakes,
  // Frees more than it takes, at once or later: a deletion.
  kFrees,
};

// Thread-safe, except where said otherwise.
class DiskSpace {
 public:
  DiskSpace(rocksdb::Env* env, std::string directory, uint64_t floor_bytes, common::Log log);

  // Measures the free space, and logs when the accepted writes change. Not thread-safe: called at opening,
  // then by the maintenance thread.
  void Update();
  // Makes the ballast if it is missing and there is room. Slow on a file system that must write its bytes.
  void KeepBallast() const;

  // RESOURCE_EXHAUSTED (DISK_FULL): such a write is refused, as of the last Update.
  absl::Status CheckWrite(WriteSpace space);
  // The same by the free space now, for background work that takes space. Its message says that it waits.
  absl::Status CheckNow() const;

  // Whether a store with a write-ahead log of `log_bytes` can be opened: that writes a new log, and the old
  // one to table files. RESOURCE_EXHAUSTED: there is too little space, the ballast's included. UNAVAILABLE:
  // a file cannot be written to the directory.
  absl::Status CheckOpening(uint64_t log_bytes) const;

  // Whether writes that take space are refused, as of the last Update.
  bool IsBelowFloor() const { return accepted_.load(std::memory_order_relaxed) != Accepted::kAll; }

  // Free bytes now; 0 when they cannot be read.
  uint64_t FreeBytes() const;
  // Writes refused by CheckWrite.
  int64_t refused() const { return refused_; }

 private:
  enum class Accepted { kAll, kFreeing, kNone };

  absl::Status FullError(std::string_view what, uint64_t floor) const;
  Accepted Measure();

  rocksdb::Env* const env_;
  const std::string directory_;
  const uint64_t floor_bytes_;
  const common::Log log_;
  std::atomic<Accepted> accepted_ = Accepted::kAll;
  std::atomic<int64_t> refused_ = 0;
};

}  // namespace itemdb::storage
