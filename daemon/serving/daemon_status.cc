#include "daemon/serving/daemon_status.h"

#include "daemon/process/machine_memory.h"
#include "daemon/process/version.h"

namespace itemdb::daemon {

v1::GetStatusReply GetDaemonStatus(const v1::GetStatusRequest& request, storage::Database& database,
                                   const ServingContext& serving, const DaemonInfo& info) {
  v1::GetStatusReply status = database.GetStatus(request);
  status.set_version(std::string(Version()));
  status.set_start_time_us(info.start_time_us);
  v1::MemoryUsage& memory = *status.mutable_memory();
  memory.set_limit(info.memory_bytes);
  memory.set_resident(static_cast<int64_t>(ResidentMemoryBytes()));
  memory.set_calls(serving.memory->used_bytes());
  memory.set_call_limit(serving.memory->limit_bytes());
  const CallAudit& audit = serving.audit;
  status.mutable_refused_calls()->set_unauthenticated(audit.unauthenticated());
  status.mutable_refused_calls()->set_permission_denied(audit.denied());
  if (audit.file() != nullptr) {
    status.mutable_audit_log()->set_written(audit.file()->written());
    status.mutable_audit_log()->set_lost(audit.file()->lost());
  }
  return status;
}

}  // namespace itemdb::daemon
