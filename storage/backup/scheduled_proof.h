// The proof of one backup beside everything else that the process does.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "itemdb/v1/admin.pb.h"
#include "storage/base/cancellation.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// Restores and checks `backup`, and notes nothing (storage/prove_backup.h).
using ProveQuietlyFunction =
    std::function<absl::Status(const v1::DatabaseBackup& backup, const CancellationPtr& cancellation)>;

// A thread that proves a backup. It, and each thread that it starts, runs when no other thread of the machine
// wants its CPU.
class ScheduledProof {
 public:
  ScheduledProof(v1::DatabaseBackup backup, const ProveQuietlyFunction& prove, CancellationPtr cancellation);
  // Waits for the end of the proof.
  ~ScheduledProof();
  ScheduledProof(const ScheduledProof&) = delete;
  ScheduledProof& operator=(const ScheduledProof&) = delete;

  const v1::DatabaseBackup& backup() const { return backup_; }
  bool IsDone() const { return is_done_; }
  // Only once it is done.
  const absl::Status& status() const { return status_; }

 private:
  const v1::DatabaseBackup backup_;
  absl::Status status_;
  std::atomic<bool> is_done_ = false;
  std::thread thread_;
};

}  // namespace itemdb::storage
