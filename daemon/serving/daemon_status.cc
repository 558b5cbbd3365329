#include "daemon/serving/daemon_status.h"

#include <chrono>
#include <utility>

#include "daemon/process/machine_memory.h"
#include "daemon/process/version.h"

namespace itemdb::daemon {
namespace {

constexpr size_t kMaxWatches = 100;

void AddWatches(OpenWatches::Figures figures, v1::Activity* activity) {
  activity->set_open_watches(static_cast<int64_t>(figures.open));
  if (figures.watches.size() > kMaxWatches) figures.watches.resize(kMaxWatches);
  for (OpenWatches::Watch& watch : figures.watches) {
    v1::WatchActivity* added = activity->add_watches();
    added->set_watch_id(watch.id);
    added->set_table_name(std::move(watch.watcher.table_name));
    added->set_key_id(std::move(watch.watcher.key_id));
    added->set_peer(std::move(watch.watcher.peer));
    added->set_lag_changes(static_cast<int64_t>(watch.lag_changes));
    added->set_lag_us(std::chrono::duration_cast<std::chrono::microseconds>(watch.lag).count());
  }
}

}  // namespace

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
  if (request.with_activity())
    AddWatches(serving.watches.Measure(status.durable_sequence()), status.mutable_activity());
  return status;
}

}  // namespace itemdb::daemon
