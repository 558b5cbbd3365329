// Where the change log begins, and how much of it somebody still needs.
//
// The start is a number in the catalog that readers obey, whatever is still on disk. Trimming moves it
// forward, but never past a change that is pinned (an index being built, a check under way).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>

#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace itemdb {

// OUT_OF_RANGE (CHANGES_TRIMMED): change `wanted` is not in the log any more, whose first is `oldest`.
absl::Status ChangesTrimmedError(uint64_t wanted, uint64_t oldest);

// Thread-safe.
class LogStart {
 public:
  // Keeps changes in the log for as long as it lives. Does not outlive the LogStart.
  class Pin {
   public:
    ~Pin();
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

    // From this one on they are kept.
    uint64_t oldest_needed() const { return oldest_needed_; }

   private:
    friend class LogStart;
    Pin(LogStart& log, uint64_t oldest_needed) : log_(log), oldest_needed_(oldest_needed) {}
    LogStart& log_;
    const uint64_t oldest_needed_;
  };

  LogStart() = default;
  LogStart(const LogStart&) = delete;
  LogStart& operator=(const LogStart&) = delete;

  // The oldest change that may be asked for.
  uint64_t oldest() const { return oldest_.load(std::memory_order_acquire); }

  // Keeps every change from `oldest_needed` on. CHANGES_TRIMMED: they are no longer all there.
  absl::StatusOr<std::unique_ptr<Pin>> Keep(uint64_t oldest_needed);
  // Keeps all that is there now.
  std::unique_ptr<Pin> KeepAll();

  // For trimming: how far the start may be moved of the way to `wanted`. From then on nothing below it can be
  // pinned; Advance() follows when the catalog says so durably.
  uint64_t Reserve(uint64_t wanted);
  void Advance(uint64_t oldest);
  // For an opened store, whose start may be anything.
  void Reset(uint64_t oldest);

 private:
  std::atomic<uint64_t> oldest_ = 1;
  Mutex mutex_;
  // What may be trimmed to; at least oldest_.
  uint64_t reserved_ ABSL_GUARDED_BY(mutex_) = 1;
  std::multiset<uint64_t> pinned_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb
