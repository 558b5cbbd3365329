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

absl::Time BackupSchedule::LastBegin() const {
  const absl::StatusOr<v1::ListDatabaseBackupsReply> backups = ListBackups(engine_);
  const absl::Time now = Now();
  if (!backups.ok() || backups->backups().empty()) return now;
  // A clock that was wrong once must not hold up backups for years.
  return std::min(now, absl::FromUnixMicros(backups->backups().rbegin()->begin_time_us()));
}

void BackupSchedule::Loop() {
  absl::Time due = DueAfter(LastBegin());
  while (true) {
    {
      MutexLock lock(mutex_);
      figures_.set_next_time_us(absl::ToUnixMicros(due));
    }
    do {
      if (!thread_.WaitFor(kTick)) return;
    } while (Now() < due);
    const absl::Time begin = Now();
    absl::StatusOr<v1::DatabaseBackup> backup = MakeBackup();
    if (!cancellation_.Check().ok()) return;
    due = backup.ok() ? DueAfter(begin) : begin + kRetryAfter;
    MutexLock lock(mutex_);
    figures_.set_last_error(backup.ok() ? "" : MessageOf(backup.status()));
    if (!backup.ok()) {
      engine_.options().log->error("a scheduled backup failed; it is tried again in ten minutes error=\"{}\"",
                                   figures_.last_error());
      continue;
    }
    *figures_.mutable_last() = *std::move(backup);
    figures_.set_last_verified_time_us(BackupClockMicros(engine_));
  }
}

absl::StatusOr<v1::DatabaseBackup> BackupSchedule::MakeBackup() {
  while (!engine_.TryBeginBackupCall()) {
    if (!thread_.WaitFor(kTick)) return absl::CancelledError();
  }
  struct End {
    ~End() { engine.EndBackupCall(); }
    Engine& engine;
  } end{engine_};
  ITEMDB_ASSIGN_OR_RETURN(v1::DatabaseBackup backup, CreateBackup(engine_, &cancellation_));
  ITEMDB_RETURN_IF_ERROR(VerifyBackup(engine_, backup.backup_id(), &cancellation_).status());
  v1::DeleteDatabaseBackupsRequest old;
  if (engine_.options().backup_keep > 0) {
    old.set_keep_newest(static_cast<uint32_t>(engine_.options().backup_keep));
    ITEMDB_RETURN_IF_ERROR(DeleteBackups(engine_, old).status());
  }
  if (engine_.options().backup_keep_age.count() > 0) {
    old.Clear();
    old.set_begun_before_us(
        backup.begin_time_us() -
        std::chrono::duration_cast<std::chrono::microseconds>(engine_.options().backup_keep_age).count());
    ITEMDB_RETURN_IF_ERROR(DeleteBackups(engine_, old).status());
  }
  return backup;
}

}  // namespace itemdb::storage
