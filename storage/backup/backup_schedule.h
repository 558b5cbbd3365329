// Makes backups by a schedule, verifies each, and deletes old ones.
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "itemdb/v1/admin.pb.h"
#include "storage/base/background_thread.h"
#include "storage/base/cancellation.h"
#include "storage/base/cron_schedule.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// As DatabaseOptions::backup_schedule says, in the time zone of the process. A backup that was due while the
// database was closed is made soon after it is opened. A backup that fails, or does not pass the
// verification, is logged, shown by GetStatus, and tried again every ten minutes; old backups then stay.
// Thread-safe.
class BackupSchedule {
 public:
  // Does nothing without a schedule, which must be valid.
  explicit BackupSchedule(Engine& engine);
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
  absl::Status DeleteOldBackups(const v1::DatabaseBackup& newest);
  // False: the thread must stop.
  [[nodiscard]] bool WaitForOtherCalls();
  void SetNextTime(absl::Time time);
  void SetError(const absl::Status& status);

  Engine& engine_;
  Cancellation cancellation_;
  std::optional<CronSchedule> schedule_;

  mutable Mutex mutex_;
  v1::ScheduledBackups figures_ ABSL_GUARDED_BY(mutex_);
  BackgroundThread thread_;
};

}  // namespace itemdb::storage
