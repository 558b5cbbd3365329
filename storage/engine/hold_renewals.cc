#include "storage/engine/hold_renewals.h"

#include <algorithm>
#include <utility>

#include "storage/base/limits.h"

namespace itemdb::storage {
namespace {

constexpr int64_t kMicrosOfHoldCommit = 1'000'000 / kHoldCommitsPerSecond;

// Another hold may have got the name.
bool IsOfRecord(const v1::ChangeHold& noted, const v1::ChangeHold& stored) {
  return stored.state() == v1::CHANGE_HOLD_STATE_HELD &&
         noted.creation_time_us() == stored.creation_time_us();
}

}  // namespace

v1::ChangeHold HoldRenewals::Apply(v1::ChangeHold stored) const {
  MutexLock lock(mutex_);
  const auto found = by_name_.find(stored.name());
  if (found == by_name_.end() || !IsOfRecord(found->second.hold, stored)) return stored;
  const v1::ChangeHold& noted = found->second.hold;
  // A commit that failed after all may have moved the record: what it keeps no more may be trimmed.
  stored.set_after_sequence(std::max(stored.after_sequence(), noted.after_sequence()));
  stored.set_lease_seconds(noted.lease_seconds());
  stored.set_renewed_time_us(noted.renewed_time_us());
  return stored;
}

void HoldRenewals::Note(const v1::ChangeHold& hold) {
  MutexLock lock(mutex_);
  by_name_[hold.name()] = Noted{.hold = hold};
}

void HoldRenewals::Doubt(const std::string& name) {
  MutexLock lock(mutex_);
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) found->second.is_durable = false;
}

void HoldRenewals::Forget(const std::string& name) {
  MutexLock lock(mutex_);
  by_name_.erase(name);
}

bool HoldRenewals::Knows(const v1::ChangeHold& stored) const {
  MutexLock lock(mutex_);
  const auto found = by_name_.find(stored.name());
  return found != by_name_.end() && found->second.is_durable && IsOfRecord(found->second.hold, stored);
}

bool HoldRenewals::TakeCommit(int64_t now_us) {
  MutexLock lock(mutex_);
  const int64_t paid_until_us =
      std::max(paid_until_us_, now_us - kHoldCommitsBurst * kMicrosOfHoldCommit) + kMicrosOfHoldCommit;
  if (paid_until_us > now_us) return false;
  paid_until_us_ = paid_until_us;
  return true;
}

}  // namespace itemdb::storage
