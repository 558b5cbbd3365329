// The thread that backfills indexes created on live tables, one after another.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "storage/base/background_thread.h"
#include "storage/indexes/build_progress.h"
#include "storage/indexes/build_state.h"
#include "storage/schema/index_changes.h"

namespace itemdb::storage {

// Every index that is CREATING in the catalog is backfilled, whether it was created just now, before a
// restart or before the store was reopened. After a restart the interrupted backfill resumes from its sorted
// entries (BuildState). A failed backfill is tried again, under another storage id, until it succeeds or the
// index is deleted. While it has saved state the thread waits and tries it up to 5 times in its turn;
// otherwise, and after that, the other waiting indexes come first. Thread-safe.
class IndexBuilds {
 public:
  explicit IndexBuilds(Engine& engine);
  ~IndexBuilds() { Stop(); }

  // Starts the thread. Only once.
  void Start();
  // Wakes the thread, because an index may have been created. May be called before Start and after Stop.
  void Poll();
  // Cancels the current backfill and joins the thread; the index stays CREATING. The engine must still exist.
  void Stop();

  // Adds the progress to the indexes of `table` that are CREATING.
  void Describe(v1::TableDescription* table) const;
  // The progress of one index that is CREATING.
  v1::IndexBuild Describe(uint64_t storage_id) const;

 private:
  using Time = BackgroundThread::Clock::time_point;
  // The failed attempts to backfill one index.
  struct Failure {
    int attempts = 0;
    std::string error;
    // The index's storage id in the last attempt.
    uint64_t storage_id = 0;
    Time retry_at;
  };

  void Loop();
  // The index to backfill now. nullopt: none before `*poll_at`.
  std::optional<BuildingIndex> Next(Time* poll_at);
  // Makes one attempt at the backfill and records how it ended.
  void RunAttempt(BuildingIndex building);
  // Gives `*building` another storage id if its present one may have entries.
  absl::Status TryBackfill(BuildingIndex* building);
  // Resumes the state of an earlier attempt of this index, or begins a new one.
  absl::Status StartOrResume(const BuildingIndex& building);
  void SetProgress(std::shared_ptr<BuildProgress> progress, uint64_t storage_id);
  // No later attempt resumes from state_.
  void DiscardState();
  // Deletes all files in directory_ that state_ does not name.
  void RemoveFiles();

  Engine& engine_;
  const std::string directory_;
  const std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
  // Only for the thread, once it runs: the backfill that runs or was interrupted, and the pin of the changes
  // that it needs.
  std::optional<BuildState> state_;
  std::unique_ptr<TrimHorizon::PinnedChanges> pinned_changes_;
  // The storage ids of earlier attempts, which may have any entries.
  std::set<uint64_t> used_storage_ids_;

  mutable Mutex mutex_;
  // The progress and storage id of the index that is backfilled now; null when none is.
  std::shared_ptr<BuildProgress> progress_ ABSL_GUARDED_BY(mutex_);
  uint64_t storage_id_ ABSL_GUARDED_BY(mutex_) = 0;
  // By table name and index name.
  std::map<std::pair<std::string, std::string>, Failure> failures_ ABSL_GUARDED_BY(mutex_);

  BackgroundThread thread_;
};

}  // namespace itemdb::storage
