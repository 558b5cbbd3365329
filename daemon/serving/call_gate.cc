#include "daemon/serving/call_gate.h"

namespace itemdb::daemon {

bool CallGate::TryEnter(CallKind kind) {
  storage::MutexLock lock(mutex_);
  const bool is_standby = kind == CallKind::kStandby;
  if (is_standby ? closed_for_standbys_ : closed_) return false;
  ++(is_standby ? standbys_inside_ : inside_);
  return true;
}

void CallGate::Leave(CallKind kind) {
  // Notifies under the lock: the waiting thread may destroy the gate as soon as it has the lock.
  storage::MutexLock lock(mutex_);
  if (--(kind == CallKind::kStandby ? standbys_inside_ : inside_) == 0 && closed_) empty_.NotifyAll();
}

int64_t CallGate::inside() const {
  storage::MutexLock lock(mutex_);
  return inside_ + standbys_inside_;
}

void CallGate::Close() {
  storage::MutexLock lock(mutex_);
  closed_ = true;
}

void CallGate::CloseForStandbys() {
  storage::MutexLock lock(mutex_);
  closed_for_standbys_ = true;
}

bool CallGate::WaitUntilEmpty(std::chrono::milliseconds grace_period) {
  auto deadline = std::chrono::steady_clock::now() + grace_period;
  storage::MutexLock lock(mutex_);
  while (inside_ > 0) {
    auto left = deadline - std::chrono::steady_clock::now();
    if (grace_period_ended_ || left <= left.zero()) return false;
    empty_.WaitFor(mutex_, left);
  }
  return true;
}

void CallGate::EndGracePeriod() {
  storage::MutexLock lock(mutex_);
  grace_period_ended_ = true;
  empty_.NotifyAll();
}

void CallGate::WaitUntilEmpty() {
  storage::MutexLock lock(mutex_);
  while (inside_ > 0 || standbys_inside_ > 0) empty_.Wait(mutex_);
}

}  // namespace itemdb::daemon
