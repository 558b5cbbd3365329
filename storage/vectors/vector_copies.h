// The copies of vector indexes in memory, and searching them.
//
// A copy is made of an index's entries by the first search of the index. From then on each search first
// brings it up to its own view: it reads which items the change log names since the last search, and their
// entries. So writes do nothing for copies, and a search sees every committed item (VEC-23).
//
// Copies with many entries get graphs, which a thread makes (vector_copy.h). Until it has, and for entries
// that are newer than the graph, vectors are compared one by one.
//
// An index that does not fit into memory is searched entry by entry in the store.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/api/database_figures.h"
#include "storage/base/background_thread.h"
#include "storage/engine/engine.h"
#include "storage/store/store.h"
#include "storage/vectors/search_request.h"
#include "storage/vectors/vector_copy.h"

namespace itemdb::storage {

// Thread-safe.
class VectorCopies {
 public:
  explicit VectorCopies(Engine& engine) : engine_(engine) {}
  ~VectorCopies() { Stop(); }
  // Ends the thread that makes graphs. No search may follow.
  void Stop() { builder_.Stop(); }

  // Returns the nearest entries, nearest first, but those whose key is `excluded`. Sets search->view to the
  // state that was searched. Blocks, also while another search makes the copy.
  //
  // CANCELLED, DEADLINE_EXCEEDED; UNAVAILABLE: the store is being reopened. DATA_LOSS: an entry or item
  // cannot be read. INVALID_ARGUMENT: as MoveToView.
  absl::StatusOr<std::vector<VectorHit>> Search(PreparedSearch* search,
                                                const std::vector<std::string>& excluded,
                                                const CancellationPtr& cancellation);

  // Frees the copies of indexes that are not there any more.
  void ForgetDeleted();
  // Frees all copies: entries were changed without changes of items.
  void ForgetAll();

  VectorFigures figures() const;

 private:
  struct Loaded;
  // Who searches a copy, and of which version.
  class Reading;

  // The copy of the index, brought to a view that `search` then has; null if it does not fit into memory.
  absl::StatusOr<std::unique_ptr<Reading>> Begin(PreparedSearch* search, const CancellationPtr& cancellation);
  absl::Status Refresh(Loaded& loaded, PreparedSearch* search, const CancellationPtr& cancellation);
  absl::Status Load(Loaded& loaded, const PreparedSearch& search, const CancellationPtr& cancellation);
  absl::Status CatchUp(Loaded& loaded, const PreparedSearch& search, const CancellationPtr& cancellation);
  absl::Status SearchStore(const PreparedSearch& search, const VectorScorer& scorer,
                           const std::vector<std::string>& excluded, const CancellationPtr& cancellation,
                           TopHits* hits);
  absl::Status CheckForInterrupts(const CancellationPtr& cancellation) const;
  // Makes room for a copy of `bytes`, by freeing those that were not used for longest. False: it cannot fit.
  bool MakeRoom(uint64_t storage_id, size_t bytes);
  // The thread.
  void BuildGraphs();
  void BuildGraphsOf(Loaded& loaded);
  void WakeBuilder();
  // Charges the memory of a copy to the block cache.
  void Reserve(Loaded& loaded, const std::shared_ptr<Store>& store);

  Engine& engine_;
  std::atomic<int64_t> made_ = 0;
  std::atomic<int64_t> searches_of_store_ = 0;
  mutable Mutex mutex_;
  // By storage id of the index.
  std::unordered_map<uint64_t, std::shared_ptr<Loaded>> loaded_ ABSL_GUARDED_BY(mutex_);
  uint64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
  bool builder_started_ ABSL_GUARDED_BY(mutex_) = false;
  // Makes graphs. Begins with the first copy that needs one.
  BackgroundThread builder_;
};

}  // namespace itemdb::storage
