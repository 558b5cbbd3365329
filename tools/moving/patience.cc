#include "tools/moving/patience.h"

#include "itemdb/errors.h"

namespace itemdb::tools {

bool MayPass(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kUnknown:
      return true;
    case absl::StatusCode::kResourceExhausted:
      return RetryAfterOf(status) > absl::ZeroDuration() || ReasonOf(status) == kReasonDiskFull;
    default:
      return false;
  }
}

absl::Status WithWords(const std::string& words, const absl::Status& status, const std::string& end) {
  if (status.ok()) return status;
  absl::Status changed(status.code(), words + ": " + std::string(status.message()) + end);
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { changed.SetPayload(url, payload); });
  return changed;
}

bool Patience::Pause(absl::Duration pause) const {
  for (const absl::Time end = absl::Now() + pause; absl::Now() < end;) {
    if (cancel_.cancelled()) return false;
    absl::SleepFor(std::min(absl::Milliseconds(50), end - absl::Now()));
  }
  return !cancel_.cancelled();
}

}  // namespace itemdb::tools
