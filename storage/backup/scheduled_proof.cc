#include "storage/backup/scheduled_proof.h"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace itemdb::storage {

ScheduledProof::ScheduledProof(v1::DatabaseBackup backup, const ProveQuietlyFunction& prove,
                               CancellationPtr cancellation)
    : backup_(std::move(backup)), thread_([this, prove, cancellation = std::move(cancellation)] {
        // Of this thread only. Where it is not allowed, the pace of the proof is its bound.
        constexpr int kLowest = 19;
        (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kLowest);
        status_ = prove(backup_, cancellation);
        is_done_ = true;
      }) {}

ScheduledProof::~ScheduledProof() { thread_.join(); }

}  // namespace itemdb::storage
