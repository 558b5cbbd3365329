// Follows a chain of the archive while another process writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "rocksdb/env.h"
#include "storage/archive/archive_directory.h"
#include "storage/archive/archive_segment.h"
#include "storage/base/status.h"

namespace itemdb::storage {

class ArchiveTail {
 public:
  // Follows the chain `chain_id` behind the group that ends with `sequence`. `env` must outlive this object.
  ArchiveTail(rocksdb::Env* env, std::string directory, uint64_t chain_id, uint64_t sequence)
      : env_(env), directory_(std::move(directory)), chain_id_(chain_id), sequence_(sequence) {}

  // The next group. std::nullopt: it is not there yet. Blocks on disk.
  //
  // OUT_OF_RANGE (RESTORE_POINT_UNKNOWN): the chain has ended, or never had what follows `sequence`: what
  // comes next is in no group. DATA_LOSS: a segment is damaged before its end, or missing. UNAVAILABLE: the
  // file system says so. After an error Next may be called again.
  absl::StatusOr<std::optional<ArchivedGroup>> Next();
  // The number of the segment that is read; 0: none yet.
  uint64_t segment() const { return reader_ == nullptr ? 0 : reader_->header().number; }

 private:
  // The next group of the segment that is open, as far as it was written when it was opened.
  absl::StatusOr<std::optional<ArchivedGroup>> NextOfSegment();
  // Opens the segment that has what follows sequence_, unless it is open. Returns whether the chain goes on.
  absl::StatusOr<bool> FindSegment();
  // The highest number of a file that is named like a segment; 0: there is none.
  absl::StatusOr<uint64_t> FindLastNumber() const;

  rocksdb::Env* const env_;
  const std::string directory_;
  const uint64_t chain_id_;
  // Of the last group that Next has returned.
  uint64_t sequence_;
  std::unique_ptr<SegmentReader> reader_;
  // Groups of the chain behind it do not count.
  uint64_t through_sequence_ = UINT64_MAX;
  // Another chain was begun: nothing follows what this one has.
  bool has_ended_ = false;
  // Another segment goes on behind the one that is open.
  bool has_later_segment_ = false;
  // The last segment with a readable header when all were read.
  uint64_t last_number_ = 0;
};

}  // namespace itemdb::storage
