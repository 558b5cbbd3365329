// Trimming the change log by age and by bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <future>

#include "storage/base/background_thread.h"
#include "storage/changes/log_reader.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Trims the change log every DatabaseOptions::change_trim_interval. Has its own thread, because deleting
// files may wait for a compaction.
//
// The order of the steps matters:
//   1. TrimHorizon::BeginTrim: no change below the new trim horizon can be pinned any more.
//   2. The new trim horizon becomes durable in the catalog. Otherwise recovery would report the changes that
//      step 4 deletes as missing.
//   3. TrimHorizon::FinishTrim: readers of older changes are refused.
//   4. Table files that hold only older changes are deleted. Single changes are never deleted: later reads
//      would have to step over the tombstones. A file that also holds newer changes stays for now.
//
// Holds (change_holds.h) keep their changes beyond retention and bytes. Below twice the free-space floor
// those end that keep changes which would be trimmed without them. A hold that cannot be ended now, for
// example because the DDL thread is busy, keeps its changes, and trimming goes on with the rest. The records
// of holds are read again after step 1.
//
// The last commit is never trimmed: recovery reads from it the commit time below which no later one may be.
//
// The age of a change is known twice: from its commit time, which is not believed while the wall clock jumps
// (TimeOfDay), and from the boot clock, if the change was seen by this process. The second also trims changes
// whose commit times are in the future, because a clock was wrong for long.
class ChangeTrimmer {
 public:
  explicit ChangeTrimmer(Engine& engine);
  // Cancels a running compaction.
  ~ChangeTrimmer();
  ChangeTrimmer(const ChangeTrimmer&) = delete;
  ChangeTrimmer& operator=(const ChangeTrimmer&) = delete;

 private:
  void Loop();
  absl::Status Trim();
  // The first change that is younger than the retention.
  absl::StatusOr<uint64_t> FirstWithinRetention(const DurablePrefix& log, uint64_t oldest);
  // `wanted`, or the first change that a hold keeps if that is before it; at least `oldest`.
  absl::StatusOr<uint64_t> WithoutHeld(uint64_t wanted, uint64_t oldest) const;
  // EndChangeHolds. Does not wait long for it.
  void EndHolds(uint64_t wanted);
  // By the boot clock alone; 0 when no change is known to be old enough.
  uint64_t FirstSeenWithin(int64_t retention_us, uint64_t last_sequence);

  // The last change at a moment of TimeOfDay::SteadyMicros().
  struct Seen {
    int64_t time_us;
    uint64_t last_sequence;
  };

  Engine& engine_;
  // Oldest first. Touched only by the thread.
  std::deque<Seen> seen_;
  // Since when the database takes writes, as far as is known, by TimeOfDay::SteadyMicros(). Touched only by
  // the thread.
  int64_t takes_writes_since_us_;
  // EndChangeHolds that was not awaited. Touched only by the thread.
  std::future<absl::Status> ending_;
  std::atomic<bool> cancel_compaction_ = false;
  BackgroundThread thread_;
};

}  // namespace itemdb::storage
