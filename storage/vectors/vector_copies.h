// The copies of vector indexes in memory, and searching them.
//
// A copy is made of an index's entries when the index is first searched, by a thread of its own: searches
// that wait for it occupy no thread, and it is made also if its callers go away. From then on each search
// first brings the copy up to its own view: it reads which items the change log names since the last search,
// and their entries. So writes do nothing for copies, and a search sees every committed item (VEC-23).
//
// Copies with many entries get graphs, from a file or made by a thread (graph_maker.h). Until they have them,
// and for entries that are newer than the graph, vectors are compared one by one.
//
// An index that does not fit into memory is searched entry by entry in the store.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/api/database_figures.h"
#include "storage/base/background_thread.h"
#include "storage/engine/engine.h"
#include "storage/store/store.h"
#include "storage/vectors/graph_maker.h"
#include "storage/vectors/search_request.h"
#include "storage/vectors/shared_copy.h"

namespace itemdb::storage {

// Thread-safe.
class VectorCopies : private GraphOwner {
 public:
  explicit VectorCopies(Engine& engine) : engine_(engine), graphs_(engine, *this) {}
  ~VectorCopies() override { Stop(); }
  // Ends the threads, and answers searches that wait for a copy, or will need one, with UNAVAILABLE.
  void Stop();

  // Called once, on another thread. OK: call Search again. Otherwise the answer of the search.
  using Resume = std::function<void(absl::Status)>;

  // Returns the nearest entries, nearest first, but those whose key is `excluded`. Sets search->view to the
  // state that was searched. Blocks while another search brings the copy up to its view. nullopt: the copy is
  // being made, and `resume` will be called; `search` must not be touched until then.
  //
  // CANCELLED, DEADLINE_EXCEEDED; UNAVAILABLE: the store is being reopened. DATA_LOSS: an entry or item
  // cannot be read. INVALID_ARGUMENT: as MoveToView. RESOURCE_EXHAUSTED: too many searches wait.
  absl::StatusOr<std::optional<std::vector<VectorHit>>> Search(PreparedSearch* search,
                                                               const std::vector<std::string>& excluded,
                                                               const CancellationPtr& cancellation,
                                                               const Resume& resume);

  // Frees the copies of indexes that are not there any more.
  void ForgetDeleted();
  // Entries were changed without changes of items, in the indexes with these storage ids or in any. Call it
  // when the change is visible: searches that begin afterwards see it.
  void Forget(const std::vector<uint64_t>& storage_ids);
  void ForgetAll();

  VectorFigures figures() const;

 private:
  // A copy as it was made once, and brought up to date since.
  struct Copy;
  // An index that was searched.
  struct Known;
  // Who searches a copy, and of which version.
  class Reading;
  // How the search goes on: it waits, reads a copy, or, with neither, reads the store.
  struct Begun {
    bool waits = false;
    std::unique_ptr<Reading> reading;
  };
  struct Waiting {
    std::shared_ptr<Known> known;
    CancellationPtr cancellation;
    Resume resume;
  };
  using Check = VectorCheck;
  using Fit = VectorFit;

  absl::StatusOr<Begun> Begin(PreparedSearch* search, const CancellationPtr& cancellation,
                              const Resume& resume);
  absl::Status MoveToLatestView(PreparedSearch* search) const;
  // The search waits until `known` was loaded.
  absl::StatusOr<Begun> Wait(const std::shared_ptr<Known>& known, PreparedSearch* search,
                             const CancellationPtr& cancellation, const Resume& resume)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What the index has from now on; null: nothing, because of `fit` with so many entries.
  void Install(Known& known, std::shared_ptr<Copy> copy, Fit fit, int64_t entries);
  // Frees the copies of the indexes with these storage ids.
  void Drop(absl::FunctionRef<bool(uint64_t)> is_dropped);

  // Brings the copy to the search's view, while nobody else changes it. OUT_OF_RANGE, DATA_LOSS: it must be
  // made anew.
  absl::StatusOr<Fit> Refresh(Copy& copy, PreparedSearch* search, size_t most_keys, Check check);
  // Counts `bytes` as the memory of the copy, if need be after freeing copies that were not used for longest.
  absl::StatusOr<Fit> Count(Copy& copy, size_t bytes, Check check);

  // ---- the thread that makes copies ----

  void LoadCopies();
  absl::Status LoadCopy(const std::shared_ptr<Known>& known);
  // Fills the copy with the entries that are in `view`.
  absl::StatusOr<Fit> Load(Copy& copy, const ReadView& view, const Table& table, const Index& index,
                           int64_t entries, Check check);
  absl::Status CheckLoad(const Known& known);
  // Answers searches whose callers wait no more.
  void AnswerExpired();
  // Those that wait for `known`; all without.
  std::vector<Waiting> TakeWaiting(const Known* known) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Status CheckForInterrupts(const CancellationPtr& cancellation) const;

  // ---- for the thread that makes graphs ----

  std::vector<uint64_t> StorageIds() const override;
  std::shared_ptr<SharedCopy> FindCopy(uint64_t storage_id) const override;
  std::shared_ptr<void> BeginGraphChange(const std::shared_ptr<SharedCopy>& copy) override;

  Engine& engine_;
  std::atomic<int64_t> made_ = 0;
  // Of the copy that is being made: its entries so far, and in the end. 0: none is being made.
  std::atomic<int64_t> loaded_entries_ = 0;
  std::atomic<int64_t> entries_to_load_ = 0;
  std::atomic<int64_t> searches_of_store_ = 0;
  // No copy may be released under it.
  mutable Mutex mutex_;
  // An index is not being refreshed any more, or memory was freed.
  CondVar changed_;
  // By storage id of the index.
  std::unordered_map<uint64_t, std::shared_ptr<Known>> known_ ABSL_GUARDED_BY(mutex_);
  // Those of which a copy is to be made; the thread works on `loading_`.
  std::deque<std::shared_ptr<Known>> to_load_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Known> loading_ ABSL_GUARDED_BY(mutex_);
  std::list<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  // What all copies take, also those that searches still use though they had to make room.
  size_t used_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
  bool has_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool loader_started_ ABSL_GUARDED_BY(mutex_) = false;
  // Touched only by the thread that makes copies.
  BackgroundThread::Clock::time_point next_look_at_waiting_;
  // Makes copies. Begins with the first search.
  BackgroundThread loader_;
  GraphMaker graphs_;
};

}  // namespace itemdb::storage
