// The thread that fills indexes created on live tables, one after another.
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

namespace itemdb {

// What has to be done is what the catalog says: an index that is CREATING is filled, whether it was created
// just now, before a restart or before the store had to be reopened. After a restart the creation that was
// under way goes on from what it had sorted (BuildState). An attempt that fails is made again, in another
// storage id and after those that wait, until it succeeds or the index is deleted. Thread-safe.
class IndexBuilds {
 public:
  explicit IndexBuilds(Engine& engine);
  ~IndexBuilds() { Stop(); }

  // Begins to work. Once.
  void Start();
  // Says that an index may have been created. May come before Start and after Stop.
  void LookForWork();
  // Gives up what is being done and joins; the catalog keeps it. To be called while the engine is there.
  void Stop();

  // Adds how far they are to the indexes of `table` that are CREATING.
  void Describe(v1::TableDescription* table) const;
  // How far one index is that is CREATING.
  v1::IndexBuild Describe(uint64_t storage_id) const;

 private:
  using Time = BackgroundThread::Clock::time_point;
  // Attempts to fill one index that failed, one after another.
  struct Failure {
    int attempts = 0;
    std::string error;
    // Of the last attempt.
    uint64_t storage_id = 0;
    Time retry_at;
  };

  void Loop();
  // The index to be filled now; nothing when there is none before `*look_at`.
  std::optional<BuildingIndex> Next(Time* look_at);
  void Fill(BuildingIndex building);
  absl::Status TryToFill(BuildingIndex* building);
  // Takes the state of an earlier attempt, or a new one.
  absl::Status BeginOrGoOn(const BuildingIndex& building);
  void SetProgress(std::shared_ptr<BuildProgress> progress, uint64_t storage_id);
  // Nothing goes on from what was sorted.
  void ForgetState();
  // All that state_ does not name.
  void RemoveFiles();

  Engine& engine_;
  const std::string directory_;
  const std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
  // Touched by the thread only, once it runs. The creation that is under way or was interrupted, and what
  // keeps the changes that it needs in the log.
  std::optional<BuildState> state_;
  std::unique_ptr<LogStart::Pin> kept_changes_;
  // The storage ids of attempts, under which there may be anything.
  std::set<uint64_t> used_storage_ids_;

  mutable Mutex mutex_;
  // Of the index that is being filled; null when none is.
  std::shared_ptr<BuildProgress> progress_ ABSL_GUARDED_BY(mutex_);
  uint64_t storage_id_ ABSL_GUARDED_BY(mutex_) = 0;
  // By the names of table and index.
  std::map<std::pair<std::string, std::string>, Failure> failures_ ABSL_GUARDED_BY(mutex_);

  BackgroundThread thread_;
};

}  // namespace itemdb
