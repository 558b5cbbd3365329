#include "daemon/process/exit_codes.h"

namespace itemdb::daemon {

ExitCode ExitCodeForOpen(const absl::Status& status) {
  std::string reason = storage::ReasonOf(status);
  if (status.ok()) return kExitOk;
  if (reason == storage::kReasonDataDirectoryInUse) return kExitUnavailable;
  if (reason == storage::kReasonDataDirectoryForeign || reason == storage::kReasonFormatUnknown)
    return kExitData;
  switch (status.code()) {
    case absl::StatusCode::kDataLoss:
      return kExitData;
    case absl::StatusCode::kInvalidArgument:
    // A commit that cannot be restored.
    case absl::StatusCode::kOutOfRange:
      return kExitUsage;
    case absl::StatusCode::kInternal:
      return kExitInternal;
    default:
      return kExitIo;
  }
}

}  // namespace itemdb::daemon
