// Bringing a store that was restored from a backup to a later commit, with the groups of the archive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "storage/archive/archive_directory.h"
#include "storage/base/cancellation.h"
#include "storage/store/store.h"

namespace itemdb::storage {

// The commit that a database is restored to. At most one is given; neither: the last one in the archive.
struct RestorePoint {
  std::optional<uint64_t> change;
  // The last commit that is not later, in microseconds since the Unix epoch.
  std::optional<int64_t> time_us;
};

// A commit in an archive.
struct CommitPosition {
  uint64_t change = 0;
  int64_t commit_time_us = 0;
};

// The groups of an archive that lead from a backup to a commit.
struct ReplayPlan {
  ArchiveChain chain;
  // The last sequence of the last group that is needed; 0: none is.
  uint64_t through_sequence = 0;
  // The store that the groups are replayed on may be at most at this sequence.
  uint64_t store_at_most = 0;
  // Where they lead to. If the last group goes on, only a part of it is wanted.
  CommitPosition end;
};

// Finds `point` in the chain, for a store that is at `sequence` or later and was in the chain there.
//
// OUT_OF_RANGE (RESTORE_POINT_UNKNOWN): the archive does not have `point`; the message says what it has.
// INVALID_ARGUMENT: the change is inside of a transaction; the message names both ends. DATA_LOSS: the
// archive is damaged. UNAVAILABLE: the file system says so. CANCELLED, DEADLINE_EXCEEDED: looked at before
// each group.
absl::StatusOr<ReplayPlan> PlanReplay(rocksdb::Env* env, const std::string& directory,
                                      const ArchiveContents& contents, uint64_t chain_id, uint64_t sequence,
                                      const RestorePoint& point, const Cancellation& cancellation);

// What a replay has done.
struct Replayed {
  // The last change and the time of its commit; of the store itself if nothing was replayed.
  CommitPosition end;
  int64_t groups = 0;
  // Index entries and size statistics must be computed again, because the archive does not have table files
  // that were added to the store, or because the last group was cut. The catalog says so (kNeedsRebuildKey).
  bool needs_rebuild = false;
};

// Writes the groups of `plan` that `store` does not have, and flushes. The store must not be in use, and must
// be at most at the end of the plan. Errors as ForEachGroup and Store's; CANCELLED, DEADLINE_EXCEEDED.
absl::StatusOr<Replayed> Replay(rocksdb::Env* env, const std::string& directory, const ReplayPlan& plan,
                                Store& store, const Cancellation& cancellation);

}  // namespace itemdb::storage
