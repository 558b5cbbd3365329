#include "storage/engine/trim_horizon.h"

#include <algorithm>
#include <string>

namespace itemdb::storage {

absl::Status ChangesTrimmedError(uint64_t wanted, uint64_t oldest) {
  return MakeError(absl::StatusCode::kOutOfRange, kReasonChangesTrimmed,
                   "change " + std::to_string(wanted) +
                       " is no longer in the change log; the oldest available is " + std::to_string(oldest));
}

TrimHorizon::PinnedChanges::~PinnedChanges() {
  MutexLock lock(horizon_.mutex_);
  horizon_.pinned_.erase(horizon_.pinned_.find(oldest_needed_));
}

absl::StatusOr<std::unique_ptr<TrimHorizon::PinnedChanges>> TrimHorizon::Pin(uint64_t oldest_needed) {
  MutexLock lock(mutex_);
  if (oldest_needed < trim_to_) return ChangesTrimmedError(oldest_needed, trim_to_);
  pinned_.insert(oldest_needed);
  return std::unique_ptr<PinnedChanges>(new PinnedChanges(*this, oldest_needed));
}

std::unique_ptr<TrimHorizon::PinnedChanges> TrimHorizon::PinAll() {
  MutexLock lock(mutex_);
  pinned_.insert(trim_to_);
  return std::unique_ptr<PinnedChanges>(new PinnedChanges(*this, trim_to_));
}

uint64_t TrimHorizon::BeginTrim(uint64_t wanted) {
  MutexLock lock(mutex_);
  if (!pinned_.empty()) wanted = std::min(wanted, *pinned_.begin());
  trim_to_ = std::max(trim_to_, wanted);
  return trim_to_;
}

void TrimHorizon::FinishTrim(uint64_t oldest) {
  MutexLock lock(mutex_);
  oldest_.store(std::max(oldest, oldest_.load()), std::memory_order_release);
}

void TrimHorizon::LowerTrim(uint64_t oldest) {
  MutexLock lock(mutex_);
  trim_to_ = std::max(std::min(oldest, trim_to_), oldest_.load());
}

void TrimHorizon::Reset(uint64_t oldest) {
  MutexLock lock(mutex_);
  trim_to_ = oldest;
  oldest_.store(oldest, std::memory_order_release);
}

}  // namespace itemdb::storage
