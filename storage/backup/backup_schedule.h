// Makes backups by a schedule, verifies each, proves some, and deletes old ones.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "itemdb/v1/admin.pb.h"
#include "storage/backup/scheduled_proof.h"
#include "storage/base/background_thread.h"
#include "storage/base/cancellation.h"
#include "storage/base/cron_schedule.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// As DatabaseOptions::backup_schedule says, in the time zone of the process. A backup that was due while the
// database was closed is made soon after it is opened. A backup that fails, or does not pass the
// verification, is logged, shown by GetStatus, and tried again every ten minutes; old backups then stay.
//
// A verified backup is proven when the last one that was is older than
// DatabaseOptions::backup_prove_interval; at a start the newest backup, so that a proof that a stop has cut
// off is done again. Meanwhile the schedule and the calls about backups go on. Old backups are deleted after
// the proof, and stay if it finds damage. A proof that could not be done is tried again every hour.
//
// Logs first which backup was proven last. Thread-safe.
class BackupSchedule {
 public:
  // Without a schedule, which must be valid, it only deletes what a killed proof has left, and logs.
  BackupSchedule(Engine& engine, ProveQuietlyFunction prove);
  ~BackupSchedule();
  BackupSchedule(const BackupSchedule&) = delete;
  BackupSchedule& operator=(const BackupSchedule&) = delete;

  // Adds when backups were and will be made to `*reply`; nothing without a schedule.
  void Describe(v1::GetStatusReply* reply) const;

 private:
  void Loop();
  // When the next backup is due, after one that was begun at `last`.
  absl::Time DueAfter(absl::Time last) const;
  // The begin of the newest backup, or the present without one. Reads too when one was last verified.
  absl::Time ReadLast();
  absl::Time Now() const;
  // Makes and verifies one; deletes it if it cannot be verified.
  absl::StatusOr<v1::DatabaseBackup> MakeBackup();
  // A backup is due. Returns when the next one is.
  absl::Time MakeDueBackup();
  // Whether `backup` should be proven.
  bool IsProofDue(const v1::DatabaseBackup& backup) const;
  // Begins a proof that is due, or ends one that is done.
  void LookAfterProof();
  void EndProof(const v1::DatabaseBackup& backup, const absl::Status& status);
  // OK, DATA_LOSS: the backup is whole, or damaged, and that was noted. NOT_FOUND: it was deleted meanwhile.
  // Otherwise why it was not proven.
  absl::Status NoteOutcome(const v1::DatabaseBackup& backup, const absl::Status& status);
  void DeleteOldBackups();
  // False: the thread must stop.
  [[nodiscard]] bool WaitForOtherCalls();
  void SetNextTime(absl::Time time);
  void SetError(const absl::Status& status);
  void SetProofError(const absl::Status& status);
  void SetProving(uint32_t backup_id);

  Engine& engine_;
  const ProveQuietlyFunction prove_;
  const std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
  std::optional<CronSchedule> schedule_;

  // ---- of the thread ----
  // The newest backup. std::nullopt: there is none yet.
  std::optional<v1::DatabaseBackup> newest_;
  // Whether it may have to be proven, and when at the earliest.
  bool may_prove_ = false;
  absl::Time earliest_proof_ = absl::InfinitePast();
  // Old backups are deleted when the proof is done.
  bool deletes_after_proof_ = false;
  std::unique_ptr<ScheduledProof> proof_;

  mutable Mutex mutex_;
  v1::ScheduledBackups figures_ ABSL_GUARDED_BY(mutex_);
  // By the last proof.
  bool found_damage_ ABSL_GUARDED_BY(mutex_) = false;
  BackgroundThread thread_;
};

}  // namespace itemdb::storage
