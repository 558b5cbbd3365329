#include "storage/backup/backup_schedule.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "spdlog/spdlog.h"
#include "storage/backup/backup_operations.h"
#include "storage/base/check.h"

namespace itemdb::storage {
namespace {

// The clock may jump, and the machine may sleep.
constexpr std::chrono::seconds kTick(1);
constexpr absl::Duration kRetryAfter = absl::Minutes(10);

struct EndOfCall {
  explicit EndOfCall(Engine& ended) : engine(ended) {}
  ~EndOfCall() { engine.EndBackupCall(); }
  EndOfCall(const EndOfCall&) = delete;
  EndOfCall& operator=(const EndOfCall&) = delete;

  Engine& engine;
};

absl::Status DataLossOrUnavailable(const absl::Status& cause, const std::string& message) {
  if (absl::IsDataLoss(cause)) return DataLossError(message);
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, message, 1000);
}

}  // namespace

BackupSchedule::BackupSchedule(Engine& engine) : engine_(engine) {
  const std::string& text = engine.options().backup_schedule;
  if (text.empty()) return;
  absl::StatusOr<CronSchedule> schedule = CronSchedule::Parse(text);
  ITEMDB_CHECK(schedule.ok());
  schedule_ = *schedule;
  figures_.set_schedule(text);
  thread_.Start([this] { Loop(); });
}

BackupSchedule::~BackupSchedule() {
  cancellation_.Cancel();
  thread_.Stop();
}

void BackupSchedule::Describe(v1::GetStatusReply* reply) const {
  if (!schedule_.has_value()) return;
  MutexLock lock(mutex_);
  *reply->mutable_scheduled_backups() = figures_;
}

absl::Time BackupSchedule::Now() const { return absl::FromUnixMicros(BackupClockMicros(engine_)); }

absl::Time BackupSchedule::DueAfter(absl::Time last) const {
  return schedule_->NextAfter(last, absl::LocalTimeZone());
}

absl::Time BackupSchedule::ReadLast() {
  const absl::StatusOr<v1::ListDatabaseBackupsReply> backups = ListBackups(engine_);
  const absl::Time now = Now();
  if (!backups.ok() || backups->backups().empty()) return now;
  {
    const int64_t verified_us = LastVerifiedMicros(engine_, *backups);
    MutexLock lock(mutex_);
    figures_.set_last_verified_time_us(verified_us);
  }
  // A clock that was wrong once must not hold up backups for years.
  return std::min(now, absl::FromUnixMicros(backups->backups().rbegin()->begin_time_us()));
}

void BackupSchedule::Loop() {
  absl::Time due = DueAfter(ReadLast());
  while (true) {
    SetNextTime(due);
    absl::Time before = Now();
    do {
      if (!thread_.WaitFor(kTick)) return;
      // A clock that is set back must not hold up backups until it gets there again.
      if (Now() < before) SetNextTime(due = std::min(due, DueAfter(Now())));
      before = Now();
    } while (Now() < due);
    const absl::Time begin = Now();
    const absl::StatusOr<v1::DatabaseBackup> backup = MakeBackup();
    if (!cancellation_.Check().ok()) return;
    // A damaged file in the directory of the backups does not become whole by another attempt.
    const bool retries = !backup.ok() && !absl::IsDataLoss(backup.status());
    due = DueAfter(begin);
    if (retries) due = std::min(due, begin + kRetryAfter);
    if (!backup.ok()) {
      SetError(backup.status());
      engine_.options().log->error("a scheduled backup failed error={}", MessageOf(backup.status()));
      continue;
    }
    const int64_t verified_us = BackupClockMicros(engine_);
    const absl::Status deleted = DeleteOldBackups(*backup);
    SetError(deleted);
    {
      MutexLock lock(mutex_);
      *figures_.mutable_last() = *backup;
      figures_.set_last_verified_time_us(verified_us);
    }
    if (!deleted.ok())
      engine_.options().log->error("old backups could not be deleted error={}", MessageOf(deleted));
  }
}

void BackupSchedule::SetNextTime(absl::Time time) {
  MutexLock lock(mutex_);
  figures_.set_next_time_us(absl::ToUnixMicros(time));
}

void BackupSchedule::SetError(const absl::Status& status) {
  MutexLock lock(mutex_);
  figures_.set_last_error(status.ok() ? "" : MessageOf(status));
}

bool BackupSchedule::WaitForOtherCalls() {
  while (!engine_.TryBeginBackupCall()) {
    if (!thread_.WaitFor(kTick)) return false;
  }
  return true;
}

absl::StatusOr<v1::DatabaseBackup> BackupSchedule::MakeBackup() {
  if (!WaitForOtherCalls()) return absl::CancelledError();
  const EndOfCall end{engine_};
  ITEMDB_ASSIGN_OR_RETURN(v1::DatabaseBackup backup, CreateBackup(engine_, &cancellation_));
  const absl::Status verified = VerifyBackup(engine_, backup.backup_id(), &cancellation_).status();
  if (verified.ok()) return backup;
  // It must not count as one of those that are kept.
  v1::DeleteDatabaseBackupsRequest bad;
  bad.set_backup_id(backup.backup_id());
  const absl::Status deleted = DeleteBackups(engine_, bad).status();
  std::string message = "the backup that was made could not be verified, and was deleted";
  if (!deleted.ok()) message = "the backup that was made could be neither verified nor deleted";
  if (absl::IsDataLoss(verified)) {
    message +=
        "; a file that backups have in common may be damaged: find the damaged ones with 'itemctl backup "
        "verify "
        "NUMBER' and delete them, or use another directory";
  }
  return DataLossOrUnavailable(verified, message + ": " + MessageOf(verified));
}

absl::Status BackupSchedule::DeleteOldBackups(const v1::DatabaseBackup& newest) {
  if (!WaitForOtherCalls()) return absl::OkStatus();
  const EndOfCall end{engine_};
  v1::DeleteDatabaseBackupsRequest old;
  if (engine_.options().backup_keep > 0) {
    old.set_keep_newest(static_cast<uint32_t>(engine_.options().backup_keep));
    ITEMDB_RETURN_IF_ERROR(DeleteBackups(engine_, old).status());
  }
  if (engine_.options().backup_keep_age.count() > 0) {
    old.Clear();
    old.set_begun_before_us(
        newest.begin_time_us() -
        std::chrono::duration_cast<std::chrono::microseconds>(engine_.options().backup_keep_age).count());
    ITEMDB_RETURN_IF_ERROR(DeleteBackups(engine_, old).status());
  }
  return absl::OkStatus();
}

}  // namespace itemdb::storage
