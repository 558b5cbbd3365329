// Ranges of keys whose beginning is known to have no records, so that a reader need not step over RocksDB's
// tombstones there. An item collection that is used as a queue (put at the end, query the head, delete it)
// would become slower with each round otherwise.
//
// A head is exact. It says: in each snapshot from `since` on there is no record in [lower, end). A reader
// learns it by reading, and each write that puts a key before `end` moves `end` to this key before the write
// is applied. Deletions never matter. What one reader found may lack a write that was being applied, so:
//   1. A reader that stepped over many tombstones at the beginning of a range makes an expected head. From
//      now on writes note the smallest key that they put into the range.
//   2. When the writes that had begun before are applied, RocksDB's sequence number is kept. A reader whose
//      snapshot is not older, which may be the same reader, has seen every put that was not noted: what it
//      found is the head.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "rocksdb/write_batch.h"
#include "storage/base/mutex.h"

namespace itemdb::storage {

// Thread-safe.
class EmptyHeads {
 public:
  // Fewer tombstones are not worth a head.
  static constexpr uint64_t kWorthTombstones = 256;
  // Ranges at a time. Those that are not used give way to others.
  static constexpr size_t kMaxHeads = 32;

  // Around each write of the store, one write at a time.
  void BeginWrite(const rocksdb::WriteBatch& batch);
  void EndWrite() { ++ended_; }
  // Around each ingestion of files, whose keys nobody looks at: all heads are forgotten.
  void BeginIngestion();
  void EndIngestion();

  // To be read before the iterator is made that Found tells of.
  uint64_t ingestion_steps() const { return ingestion_steps_; }
  // For a reader of the snapshot with the sequence number `snapshot`: the end of the head of the range that
  // begins with `lower` in the column family with the id `family`. std::nullopt: none is known.
  std::optional<std::string> EndOf(uint32_t family, std::string_view lower, uint64_t snapshot) const;
  // A reader of `snapshot` found no record in [lower, end), and many tombstones. `last_sequence` returns
  // RocksDB's last sequence number.
  void Found(uint32_t family, std::string_view lower, std::string_view end, uint64_t snapshot,
             uint64_t ingestion_steps, absl::FunctionRef<uint64_t()> last_sequence);

 private:
  struct Head {
    // Empty: the slot is free.
    std::string lower;
    uint32_t family = 0;
    // The head, if `since` is not 0.
    std::string end;
    uint64_t since = 0;
    // The expected head. `after_write` is 0: none is expected. Usable when this many writes have ended.
    uint64_t after_write = 0;
    // Snapshots from here on have the writes that were not noted. 0: not known yet.
    uint64_t usable_from = 0;
    // The smallest key that was put into the range since. std::nullopt: none was.
    std::optional<std::string> smallest_put;
    // Since the last look for unused heads.
    mutable std::atomic<bool> used = false;

    void Clear();
    void Note(std::string_view key);
  };
  class Puts;

  Head* Find(uint32_t family, std::string_view lower) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A free slot; the head that stood there is forgotten.
  Head& Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetUnused() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(Head& head) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static uint64_t MaskOf(uint32_t family, std::string_view lower);

  // Writes that have begun, and ended. A write adds itself before it looks for heads, and a reader adds a
  // head before it looks at the writes: so one of them sees the other.
  std::atomic<uint64_t> begun_ = 0;
  std::atomic<uint64_t> ended_ = 0;
  std::atomic<uint64_t> heads_ = 0;
  // Odd numbers do not mean anything: several ingestions may go on at a time.
  std::atomic<uint64_t> ingestion_steps_ = 0;
  // Has a bit for each range that may have a head, so that readers of other ranges need no lock.
  std::atomic<uint64_t> mask_ = 0;

  mutable Mutex mutex_;
  std::array<Head, kMaxHeads> slots_ ABSL_GUARDED_BY(mutex_);
  size_t next_victim_ ABSL_GUARDED_BY(mutex_) = 0;
  int ingestions_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t writes_to_look_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace itemdb::storage
