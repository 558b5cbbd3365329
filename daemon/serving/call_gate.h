// Counts the calls in flight. A daemon that stops closes the gate: new calls are refused with a status of
// ours, and the daemon waits for the calls inside. gRPC's own shutdown is not enough: it cancels calls that
// arrive meanwhile, so the caller of a write cannot know whether it was applied, and it waits for streams
// that never end, such as health watches.
//
// Calls of standbys are let in until the others have left: with --standby-acknowledge writes are answered
// when a standby has called once more.
#pragma once

#include <chrono>
#include <cstdint>

#include "storage/base/mutex.h"

namespace itemdb::daemon {

// Thread-safe.
class CallGate {
 public:
  CallGate() = default;
  CallGate(const CallGate&) = delete;
  CallGate& operator=(const CallGate&) = delete;

  enum class CallKind { kClient, kStandby };

  // True: the call is inside and must Leave() once, as the same kind. False: the gate is closed for it.
  [[nodiscard]] bool TryEnter(CallKind kind = CallKind::kClient);
  void Leave(CallKind kind = CallKind::kClient);

  // Calls inside.
  int64_t inside() const;

  // From now on TryEnter() returns false, but for calls of standbys.
  void Close();
  // After Close(): for those too.
  void CloseForStandbys();
  // After Close(): waits until no call is inside but those of standbys. False: `grace_period` passed or
  // EndGracePeriod() was called.
  bool WaitUntilEmpty(std::chrono::milliseconds grace_period);
  // Ends the wait above, and makes later ones return at once.
  void EndGracePeriod();
  // Waits for all calls without a time limit, also after EndGracePeriod(). Afterwards the gate may be
  // destroyed.
  void WaitUntilEmpty();

 private:
  mutable storage::Mutex mutex_;
  storage::CondVar empty_;
  int64_t inside_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t standbys_inside_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_for_standbys_ ABSL_GUARDED_BY(mutex_) = false;
  bool grace_period_ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace itemdb::daemon
