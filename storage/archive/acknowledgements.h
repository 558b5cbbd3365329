// Which groups of the archive a standby has on its disk, and waiting for that (itemd --standby-acknowledge).
//
// Each time the archive was written and synced it has another version. A standby that asks for what is new
// names the version that it has applied, durably, and is answered when there is a later one.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// Thread-safe.
class Acknowledgements {
 public:
  using Clock = std::chrono::steady_clock;
  // How long a write waits for a standby.
  static constexpr std::chrono::seconds kTimeout{5};

  // `first_version`: higher than all that an earlier process has used.
  explicit Acknowledgements(uint64_t first_version) : version_{.number = first_version, .change = 0} {}

  // The archive has all changes up to `change` durably.
  void Written(uint64_t change);
  struct Version {
    uint64_t number;
    // The last change that the archive has.
    uint64_t change;
  };
  Version version() const;

  // A standby has applied all that there was at `version`. One of another process counts for nothing.
  void Acknowledge(uint64_t version);
  // Runs `call` when the version is another one than `known`, or with the next ReleaseWaiters; perhaps at
  // once.
  void WhenChanged(uint64_t known, std::function<void()> call);
  // Answers those that have waited long enough.
  void ReleaseWaiters();

  // Waits until a standby has `change`. UNKNOWN (WRITE_OUTCOME_UNKNOWN): none said so within kTimeout, or End
  // was called.
  absl::Status Await(uint64_t change);
  // UNAVAILABLE: a write has waited in vain, and no standby has answered since.
  absl::Status CheckStandby() const;
  // From now on no write waits: a standby was promoted.
  void End();
  // Nobody waits any more: the database is being closed.
  void Close();

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  Version version_ ABSL_GUARDED_BY(mutex_);
  // Those that were not acknowledged, the oldest first.
  std::deque<Version> versions_ ABSL_GUARDED_BY(mutex_);
  uint64_t acknowledged_ ABSL_GUARDED_BY(mutex_) = 0;
  // A write has waited in vain.
  bool is_lost_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::function<void()>> waiters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::storage
