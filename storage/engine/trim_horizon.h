// The trim horizon of the change log: the oldest change that may be read.
//
// It is a number in the catalog, `changes_start`. Readers obey it, even if older records are still on disk.
// Trimming moves it forward, but never past a pinned change: an index build or a check pins the changes that
// it needs, and a hold (storage/changes/change_holds.h) those that it keeps until its record is visible.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>

#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// OUT_OF_RANGE (CHANGES_TRIMMED): change `wanted` is no longer in the change log, which begins at `oldest`.
absl::Status ChangesTrimmedError(uint64_t wanted, uint64_t oldest);

// Thread-safe.
class TrimHorizon {
 public:
  // A pin: keeps changes from being trimmed until it is destroyed. Must not outlive the TrimHorizon.
  class PinnedChanges {
   public:
    ~PinnedChanges();
    PinnedChanges(const PinnedChanges&) = delete;
    PinnedChanges& operator=(const PinnedChanges&) = delete;

    // This change and all after it are kept.
    uint64_t oldest_needed() const { return oldest_needed_; }

   private:
    friend class TrimHorizon;
    PinnedChanges(TrimHorizon& horizon, uint64_t oldest_needed)
        : horizon_(horizon), oldest_needed_(oldest_needed) {}
    TrimHorizon& horizon_;
    const uint64_t oldest_needed_;
  };

  TrimHorizon() = default;
  TrimHorizon(const TrimHorizon&) = delete;
  TrimHorizon& operator=(const TrimHorizon&) = delete;

  // The oldest change that may be read.
  uint64_t oldest() const { return oldest_.load(std::memory_order_acquire); }

  // Pins every change from `oldest_needed` on. CHANGES_TRIMMED: some of them are trimmed already.
  absl::StatusOr<std::unique_ptr<PinnedChanges>> Pin(uint64_t oldest_needed);
  // Pins all changes that the change log has now.
  std::unique_ptr<PinnedChanges> PinAll();

  // For trimming: returns the change to which the trim horizon may be moved: `wanted`, or the oldest pinned
  // change if that is lower. From then on no change below it can be pinned. FinishTrim() follows once the new
  // value is durable in the catalog.
  uint64_t BeginTrim(uint64_t wanted);
  void FinishTrim(uint64_t oldest);
  // After BeginTrim, for trimming: the trim horizon is to move only to `oldest` after all, if that is lower.
  void LowerTrim(uint64_t oldest);
  // Sets the value that a newly opened store has. It may be lower than before.
  void Reset(uint64_t oldest);

 private:
  std::atomic<uint64_t> oldest_ = 1;
  Mutex mutex_;
  // The result of the last BeginTrim: changes below it cannot be pinned. At least oldest_.
  uint64_t trim_to_ ABSL_GUARDED_BY(mutex_) = 1;
  std::multiset<uint64_t> pinned_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::storage
