#include "daemon/serving/call_audit.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace itemdb::daemon {
namespace {

const std::string& OrDash(const std::string& text) {
  static const std::string* const dash = new std::string("-");
  return text.empty() ? *dash : text;
}

}  // namespace

void CallAudit::SetFile(std::unique_ptr<AuditLog> file, bool all_calls) {
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
  if (file_ != nullptr) file_->Add(std::move(call));
}

void CallAudit::Answered(AuditedCall call) { file_->Add(std::move(call)); }

void CallAudit::Reopen() {
  if (file_ != nullptr) file_->Reopen();
}

}  // namespace itemdb::daemon
