#include "storage/base/cancellation.h"

namespace itemdb::storage {

absl::Status Cancellation::Check() const {
  if (cancelled_.load(std::memory_order_relaxed)) {
    return MakeError(absl::StatusCode::kCancelled, kReasonCancelled,
                     "the caller cancelled the call; nothing was written");
  }
  if (deadline_ != Clock::time_point::max() && Clock::now() >= deadline_) {
    return MakeError(absl::StatusCode::kDeadlineExceeded, kReasonDeadlineExceeded,
                     "the call's deadline passed before it was done; nothing was written");
  }
  return call_ == nullptr ? absl::OkStatus() : call_->Check();
}

}  // namespace itemdb::storage
