#include "daemon/process/exit_codes.h"

namespace itemdb {

ExitCode ExitCodeForOpen(const absl::Status& status) {
  std::string reason = ReasonOf(status);
  if (status.ok()) return kExitOk;
  if (reason == kReasonDataDirectoryInUse) return kExitUnavailable;
  if (reason == kReasonDataDirectoryForeign || reason == kReasonFormatUnknown) return kExitData;
  switch (status.code()) {
    case absl::StatusCode::kDataLoss:
      return kExitData;
    case absl::StatusCode::kInvalidArgument:
      return kExitUsage;
    case absl::StatusCode::kInternal:
      return kExitInternal;
    default:
      return kExitIo;
  }
}

}  // namespace itemdb
