// BulkWrite: one caller's chunks of puts and deletes (EXT-03).
//
// Chunks are prepared, and what they replace is read, side by side; they enter the commit pipeline in their
// order. Within a chunk the writes are applied one after the other, so there may be several on one item. A
// write that can never be applied is left out and named in the reply.
#pragma once

#include <deque>
#include <memory>

#include "storage/base/mutex.h"
#include "storage/engine/engine.h"

namespace itemdb {

class BulkUnit;

// Kept by shared_ptr: chunks under way keep it alive. Thread-safe, but who calls Write from two threads at
// once does not know which chunk is the first.
class BulkWrites : public std::enable_shared_from_this<BulkWrites> {
 public:
  // `engine` is borrowed and must outlive the last chunk.
  explicit BulkWrites(Engine& engine);
  ~BulkWrites();

  // As Database::BulkWrite.
  void Write(const wire::BulkWriteChunk& chunk, Done<wire::BulkWriteReply> done,
             CancellationPtr cancellation);

 private:
  friend class BulkUnit;

  // A chunk on its way to the pipeline.
  struct Waiting {
    std::unique_ptr<BulkUnit> unit;
    // What it replaces was read, or could not be.
    bool ready = false;
    absl::Status read;
  };

  // INVALID_ARGUMENT, or why an earlier chunk failed.
  absl::Status TakeNumber(uint64_t number);
  void Fail(const absl::Status& status);
  absl::Status failure();
  void Read(std::shared_ptr<const ReadView> view, std::shared_ptr<Waiting> chunk);
  // Marks the chunk as ready and submits what is ready in front.
  void Ready(const std::shared_ptr<Waiting>& chunk, absl::Status read);

  Engine& engine_;
  Mutex mutex_;
  uint64_t next_number_ ABSL_GUARDED_BY(mutex_) = 1;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<Waiting>> waiting_ ABSL_GUARDED_BY(mutex_);
  // One thread at a time submits, so that the order is kept.
  bool submitting_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace itemdb
