#include "daemon/serving/call_audit.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"

namespace itemdb::daemon {
namespace {

const std::string& OrDash(const std::string& text) {
  static const std::string* const dash = new std::string("-");
  return text.empty() ? *dash : text;
}

}  // namespace

void CallAudit::SetFile(std::shared_ptr<AuditLog> file, bool all_calls) {
  file_ = std::move(file);
  all_calls_ = all_calls;
}

void CallAudit::Refused(AuditedCall call, bool unauthenticated) {
  (unauthenticated ? unauthenticated_ : denied_).fetch_add(1, std::memory_order_relaxed);
  if (const std::optional<int64_t> left_out = limit_.Pass()) {
    log_->warn("call refused method={} peer={} key_id={} code={} reason={}", call.operation,
               OrDash(call.peer), OrDash(call.key_id), call.outcome, call.reason);
    if (*left_out > 0) log_->warn("refused calls not logged count={}", *left_out);
  }
  Keep(std::move(call));
}

void CallAudit::Answered(AuditedCall call) { Keep(std::move(call)); }

void CallAudit::Keep(AuditedCall call) {
  for (std::string* text :
       {&call.key_id, &call.peer, &call.operation, &call.table, &call.outcome, &call.reason, &call.trace_id})
    text->resize(std::min(text->size(), kMaxAuditTextBytes));
  {
    storage::MutexLock lock(mutex_);
    if (recent_.size() == kRecentCalls) recent_.pop_front();
    recent_.push_back({.time = absl::Now(), .call = call});
  }
  if (file_ != nullptr) file_->Add(std::move(call));
}

std::vector<RecentCall> CallAudit::Recent() const {
  storage::MutexLock lock(mutex_);
  return {recent_.begin(), recent_.end()};
}

void CallAudit::Reopen() {
  if (file_ != nullptr) file_->Reopen();
}

}  // namespace itemdb::daemon
