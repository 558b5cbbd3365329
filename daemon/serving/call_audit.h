// Counts and logs calls that were refused because of their access key, and writes the audit log. Both
// protocols tell it of refused and of answered calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "common/log/log.h"
#include "daemon/access/access_keys.h"
#include "daemon/access/audit_log.h"
#include "daemon/serving/line_limit.h"
#include "storage/base/mutex.h"

namespace spdlog {
class logger;
}

namespace itemdb::daemon {

// A call that was told to CallAudit.
struct RecentCall {
  absl::Time time;
  AuditedCall call;
};

// Thread-safe. No function waits for the disk.
class CallAudit {
 public:
  explicit CallAudit(common::Log log) : log_(std::move(log)) {}

  // Also writes to `file`: refused calls and those that need the role admin, with `all_calls` every call.
  // Called before the first call.
  void SetFile(std::shared_ptr<AuditLog> file, bool all_calls);

  // A call was refused: its key is missing, unknown or wrong (`unauthenticated`), or may not do this. Logged,
  // ten lines a second at most. `call.reason` must not be empty and must not quote the request.
  void Refused(AuditedCall call, bool unauthenticated);

  // True: Answered() must be called for a call that needs the role `needed`. Cheap, unlike making the record.
  bool Wants(Role needed) const { return file_ != nullptr && (all_calls_ || needed == Role::kAdmin); }
  void Answered(AuditedCall call);

  // The newest calls that were refused or answered, at most kRecentCalls, the oldest first.
  static constexpr size_t kRecentCalls = 200;
  std::vector<RecentCall> Recent() const;

  // For a log that was rotated (AuditLog::Reopen()).
  void Reopen();

  // Refused calls since the start.
  int64_t unauthenticated() const { return unauthenticated_.load(std::memory_order_relaxed); }
  int64_t denied() const { return denied_.load(std::memory_order_relaxed); }
  // Null without SetFile().
  const AuditLog* file() const { return file_.get(); }

 private:
  void Keep(AuditedCall call);

  const common::Log log_;
  std::shared_ptr<AuditLog> file_;
  bool all_calls_ = false;
  std::atomic<int64_t> unauthenticated_ = 0;
  std::atomic<int64_t> denied_ = 0;
  LineLimit limit_;
  mutable storage::Mutex mutex_;
  std::deque<RecentCall> recent_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::daemon
