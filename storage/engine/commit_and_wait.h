// A commit that blocks its caller: used for table changes and by background threads.
#pragma once

#include "absl/functional/function_ref.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

struct CommitOptions {
  // Bytes of memory that `apply` holds while it is queued; counted in the queue's bound.
  size_t size_bytes = 0;
  WhenFull when_full = WhenFull::kRefuse;
  WriteSpace space = WriteSpace::kTakes;
  WriteOrigin origin = WriteOrigin::kClient;
};

// Calls `apply` like CommitUnit::Apply, and blocks until the unit completes. Returns the last change in the
// state that `apply` left. Must not be called on a thread of the pipeline: it would wait for itself.
//
// Errors: the one that `apply` returned; those of Engine::Submit, and then `apply` is not called; those that
// CommitUnit::Complete is called with.
absl::StatusOr<uint64_t> CommitAndWait(Engine& engine, absl::FunctionRef<absl::Status(CommitGroup&)> apply,
                                       const CommitOptions& options = {});

}  // namespace itemdb::storage
