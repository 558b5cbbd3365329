// BulkWrite: one caller's chunks of puts and deletes (EXT-03).
//
// Several chunks may be prepared and prefetched at the same time; they enter the commit pipeline in the order
// of their numbers. The writes of a chunk are applied one after another, so a chunk may write to one item
// several times. A write that can never be applied is skipped and listed in the reply as rejected.
#pragma once

#include <deque>
#include <memory>

#include "storage/base/mutex.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

class BulkUnit;

// Held by shared_ptr: chunks in flight keep the object alive. Thread-safe, but Write must be called in the
// order of the chunk numbers.
class BulkWrites : public std::enable_shared_from_this<BulkWrites> {
 public:
  // `engine` is borrowed and must outlive the last chunk.
  explicit BulkWrites(Engine& engine);
  ~BulkWrites();

  // Implements Database::BulkWrite.
  void Write(const wire::BulkWriteChunk& chunk, Done<wire::BulkWriteReply> done,
             CancellationPtr cancellation);

 private:
  friend class BulkUnit;

  // A chunk that is not submitted to the pipeline yet.
  struct Waiting {
    std::unique_ptr<BulkUnit> unit;
    // True once the items that the chunk replaces were read or the read failed.
    bool ready = false;
    absl::Status read;
  };

  // INVALID_ARGUMENT: `number` is not the next one. Any other error: that of an earlier chunk, which failed.
  absl::Status TakeNumber(uint64_t number);
  // Chunk `number` failed. Chunks before it, which may still be in progress, go on.
  void Fail(uint64_t number, const absl::Status& status);
  // The failure of a chunk before `number`; OK if there is none.
  absl::Status FailureBefore(uint64_t number);
  void Read(std::shared_ptr<const ReadView> view, std::shared_ptr<Waiting> chunk);
  // Marks the chunk as ready and submits all ready chunks at the front of the queue.
  void Ready(const std::shared_ptr<Waiting>& chunk, absl::Status read);

  Engine& engine_;
  Mutex mutex_;
  uint64_t next_number_ ABSL_GUARDED_BY(mutex_) = 1;
  // The first chunk that failed, and why.
  uint64_t failed_number_ ABSL_GUARDED_BY(mutex_) = UINT64_MAX;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<Waiting>> waiting_ ABSL_GUARDED_BY(mutex_);
  // True while a thread submits chunks. Only one thread does so at a time, which keeps the chunks in order.
  bool submitting_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace itemdb::storage
