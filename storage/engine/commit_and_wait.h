// A commit that somebody waits for: changes of definitions, and what background threads write.
#pragma once

#include "absl/functional/function_ref.h"
#include "storage/engine/engine.h"

namespace itemdb {

// Below the free-space floor.
enum class WhenDiskIsFull {
  kRefuse,
  // For what frees space.
  kCommit,
};

struct CommitOptions {
  // What `order` holds while it waits, in bytes, for the queue's bound.
  size_t size_bytes = 0;
  WhenFull when_full = WhenFull::kRefuse;
  WhenDiskIsFull when_disk_is_full = WhenDiskIsFull::kRefuse;
};

// Calls `order` in commit order, as CommitUnit::Order, and blocks until what it appended to the group is
// durable and visible, or will not be: never on the pipeline's threads. Answers with the last change in the
// state that it left.
//
// Errors: that of `order`; of CommitPipeline::Submit, and then `order` is not called; of CommitUnit::Answer.
absl::StatusOr<uint64_t> CommitAndWait(Engine& engine, absl::FunctionRef<absl::Status(CommitGroup&)> order,
                                       const CommitOptions& options = {});

}  // namespace itemdb
