// The thread of a standby: applies the commit groups of the primary's archive, in their order, through the
// commit pipeline, so that readers see each group whole, with its index entries, in the order of commits.
//
// Table files that the primary has ingested are in no group. Index entries are: when a group makes an index
// ACTIVE, the entries are computed from the items before the group is applied. Items are not: the archive
// begins a new chain, and the standby needs a new base, as when the archive has a gap.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/v1/admin.pb.h"
#include "storage/archive/archive_tail.h"
#include "storage/base/background_thread.h"
#include "storage/base/cancellation.h"
#include "storage/engine/engine.h"
#include "storage/standby/standby_position.h"

namespace itemdb::storage {

class Follower {
 public:
  // `make_base` makes another store from a backup and the archive (standby_base.h); `install_base` puts it in
  // the place of the store while that is closed. Both block.
  Follower(Engine& engine, std::function<absl::Status(const Cancellation&)> make_base,
           std::function<absl::Status()> install_base);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  void Start();
  // From now on `forget` is called with the storage ids of vector indexes whose entries a group has changed
  // without changes of items, before that is visible and after (IndexesWithSilentChanges).
  void SetOnSilentChanges(std::function<void(const std::vector<uint64_t>&)> forget);

  // Makes the database one of its own: tells the archive, waits until nothing is added to it any more or at
  // most kMaxWait, applies what it has, and takes writes. Blocks. Returns the last change that was followed.
  // With `force` also if the archive cannot be read or written, or has a gap.
  //
  // FAILED_PRECONDITION: it is no standby any more; or not forced, and it waits for a new base, or another
  // standby was promoted. UNAVAILABLE, DATA_LOSS: not forced, and the archive cannot be read or written.
  // After an error it is a standby still.
  absl::StatusOr<uint64_t> Promote(bool force);
  // How long a promotion waits for a primary that runs: it looks at its archive twice a second.
  static constexpr std::chrono::seconds kMaxWait{3};

  // Has the thread look for new groups now. `anew`: also again at what it has read and not applied.
  void FollowNow(bool anew);
  void Describe(v1::GetStatusReply* reply) const;

 private:
  void Loop();
  // Applies all groups that the archive has now.
  absl::Status Follow();
  // Applies `pending` and empties it.
  absl::Status Apply(const std::shared_ptr<Store>& store);
  // Computes the entries of the indexes that `tables` make ACTIVE.
  absl::Status BuildIndexes(const ReadView& view, const std::vector<v1::TableDescription>& tables);
  // Has another base made, and puts it in the place of the store.
  absl::Status Rebase();
  // Counts what the primary's groups count too, but for those that a rebuild has deleted here.
  absl::Status CountTokens();
  // Refuses the promotion if another standby of the archive was promoted.
  absl::Status CheckNotPromoted() const;
  // Has the primary take no more writes and finish its archive, if it can be reached. FAILED_PRECONDITION
  // (FENCED): another standby was promoted.
  absl::Status StopPrimary(const Promotion& promotion);
  // Of a copy of the archive: what is before the position is needed no more.
  void DeleteFollowedSegments();
  // The steps of Promote while the thread does not run.
  absl::StatusOr<uint64_t> TakeOver(const Promotion& promotion, bool force);
  void SetState(const absl::Status& status, bool needs_base);

  Engine& engine_;
  const std::function<absl::Status(const Cancellation&)> make_base_;
  const std::function<absl::Status()> install_base_;
  const std::string archive_;
  Cancellation cancellation_;

  // Touched only by the thread, and while it does not run.
  std::optional<ArchiveTail> tail_;
  // The store that tail_ was begun for; another one may be at another position.
  std::weak_ptr<Store> store_;
  StandbyPosition position_;
  // The store in whose place a base is being put.
  std::weak_ptr<Store> replaced_;
  std::vector<ArchivedGroup> pending_;
  size_t pending_bytes_ = 0;
  // The segments before it were deleted.
  uint64_t first_segment_ = 0;
  std::chrono::steady_clock::time_point next_base_;

  mutable Mutex mutex_;
  bool is_standby_ ABSL_GUARDED_BY(mutex_) = true;
  bool needs_base_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  // Of the last group that was applied, and whether more are known to be there.
  int64_t commit_time_us_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_behind_ ABSL_GUARDED_BY(mutex_) = true;

  std::function<void(const std::vector<uint64_t>&)> on_silent_changes_ ABSL_GUARDED_BY(mutex_);

  std::atomic<bool> reads_anew_ = false;
  // In the promotion. Touched only by it.
  bool primary_has_answered_ = false;

  // A new one after each failed promotion, made while mutex_ is held.
  std::unique_ptr<BackgroundThread> thread_;
};

}  // namespace itemdb::storage
