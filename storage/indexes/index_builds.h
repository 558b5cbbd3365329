// The thread that fills indexes created on live tables, one after another.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "storage/engine/index_changes.h"
#include "storage/indexes/build_progress.h"

namespace itemdb {

// What has to be done is what the catalog says: an index that is CREATING is filled, whether it was created
// just now, before a restart or before the store had to be reopened. An attempt that fails is made again, in
// another storage id, until it succeeds or the index is deleted. Thread-safe.
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
  void Loop();
  // Fills one index, if there is any to fill. False when there is not.
  absl::StatusOr<bool> FillNext();
  void RemoveFiles();

  Engine& engine_;
  const std::string directory_;
  const std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
  // The storage id of the last attempt, under which there may be anything if it failed. Touched by the thread
  // only.
  uint64_t used_storage_id_ = 0;

  mutable Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool look_ ABSL_GUARDED_BY(mutex_) = true;
  // Of the index that is being filled; null when none is.
  std::shared_ptr<BuildProgress> progress_ ABSL_GUARDED_BY(mutex_);
  uint64_t storage_id_ ABSL_GUARDED_BY(mutex_) = 0;
  // Why the last attempt failed; empty when it did not.
  std::string last_error_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace itemdb
