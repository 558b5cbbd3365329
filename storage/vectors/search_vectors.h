// SearchVectors: the items whose vectors are nearest to a query (VEC-14).
#pragma once

#include <memory>

#include "storage/api/replies.h"
#include "storage/engine/engine.h"
#include "storage/vectors/vector_copies.h"

namespace itemdb::storage {

// Searches run on threads of their own, as many as the machine has cores: a search may take as long as
// reading a whole index, and reads by key must not wait for that. The threads begin with the first search. A
// search that waits until a copy of its index is made occupies none.
class VectorSearches {
 public:
  explicit VectorSearches(Engine& engine) : engine_(engine), copies_(engine) {}
  ~VectorSearches() { Stop(); }
  // Ends the threads. Searches that wait, for a copy or a thread, and later ones are answered with
  // UNAVAILABLE.
  void Stop();

  // Implements Database's method of the same name.
  void SearchVectors(const wire::SearchVectorsRequest& request, Done<wire::SearchVectorsReply> done,
                     CancellationPtr cancellation);

  VectorCopies& copies() { return copies_; }
  const VectorCopies& copies() const { return copies_; }

 private:
  struct Running;

  void Submit(const std::shared_ptr<Running>& running);
  void Run(const std::shared_ptr<Running>& running);
  // Null after Stop.
  IoPool* Threads();

  Engine& engine_;
  VectorCopies copies_;
  Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<IoPool> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::storage
