#include "storage/engine/log_start.h"

#include <algorithm>
#include <string>

namespace itemdb {

absl::Status ChangesTrimmedError(uint64_t wanted, uint64_t oldest) {
  return MakeError(absl::StatusCode::kOutOfRange, kReasonChangesTrimmed,
                   "change " + std::to_string(wanted) + " is no longer in the log; the oldest available is " +
                       std::to_string(oldest));
}

LogStart::Pin::~Pin() {
  MutexLock lock(log_.mutex_);
  log_.pinned_.erase(log_.pinned_.find(oldest_needed_));
}

absl::StatusOr<std::unique_ptr<LogStart::Pin>> LogStart::Keep(uint64_t oldest_needed) {
  MutexLock lock(mutex_);
  if (oldest_needed < reserved_) return ChangesTrimmedError(oldest_needed, reserved_);
  pinned_.insert(oldest_needed);
  return std::unique_ptr<Pin>(new Pin(*this, oldest_needed));
}

std::unique_ptr<LogStart::Pin> LogStart::KeepAll() {
  MutexLock lock(mutex_);
  pinned_.insert(reserved_);
  return std::unique_ptr<Pin>(new Pin(*this, reserved_));
}

uint64_t LogStart::Reserve(uint64_t wanted) {
  MutexLock lock(mutex_);
  if (!pinned_.empty()) wanted = std::min(wanted, *pinned_.begin());
  reserved_ = std::max(reserved_, wanted);
  return reserved_;
}

void LogStart::Advance(uint64_t oldest) {
  MutexLock lock(mutex_);
  oldest_.store(std::max(oldest, oldest_.load()), std::memory_order_release);
}

void LogStart::Reset(uint64_t oldest) {
  MutexLock lock(mutex_);
  reserved_ = oldest;
  oldest_.store(oldest, std::memory_order_release);
}

}  // namespace itemdb
