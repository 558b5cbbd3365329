#include "storage/backup/backup_schedule.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "spdlog/spdlog.h"
#include "storage/backup/backup_operations.h"
#include "storage/backup/proof_record.h"
#include "storage/base/check.h"

namespace itemdb::storage {
namespace {

// The clock may jump, and the machine may sleep.
constexpr std::chrono::seconds kTick(1);
constexpr absl::Duration kRetryAfter = absl::Minutes(10);
constexpr absl::Duration kProveAgainAfter = absl::Hours(1);
// Times of the schedule among which the longest gap is looked for.
constexpr int kTimesForGap = 12;

// Between two times of `schedule`, of some after `now`.
absl::Duration LongestGap(const CronSchedule& schedule, absl::Time now) {
  absl::Duration longest = absl::ZeroDuration();
  absl::Time last = schedule.NextAfter(now, absl::LocalTimeZone());
  for (int i = 0; i < kTimesForGap; ++i) {
    const absl::Time next = schedule.NextAfter(last, absl::LocalTimeZone());
    longest = std::max(longest, next - last);
    last = next;
  }
  return longest;
}

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

BackupSchedule::BackupSchedule(Engine& engine, ProveQuietlyFunction prove)
    : engine_(engine), prove_(std::move(prove)) {
  const std::string& text = engine.options().backup_schedule;
  if (!text.empty()) {
    absl::StatusOr<CronSchedule> schedule = CronSchedule::Parse(text);
    ITEMDB_CHECK(schedule.ok());
    schedule_ = *schedule;
    figures_.set_schedule(text);
    const int64_t interval_ms = engine.options().backup_prove_interval.count();
    figures_.set_proof_interval_ms(interval_ms);
    if (interval_ms > 0)
      figures_.set_proof_max_age_ms(interval_ms + absl::ToInt64Milliseconds(LongestGap(*schedule_, Now())));
  }
  thread_.Start([this] { Loop(); });
}

BackupSchedule::~BackupSchedule() {
  cancellation_->Cancel();
  thread_.Stop();
}

void BackupSchedule::Describe(v1::GetStatusReply* reply) const {
  if (!schedule_.has_value()) return;
  MutexLock lock(mutex_);
  v1::ScheduledBackups* const figures = reply->mutable_scheduled_backups();
  *figures = figures_;
  if (found_damage_ && figures->last_error().empty()) figures->set_last_error(figures->last_proof_error());
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
  newest_ = *backups->backups().rbegin();
  // The directory may have those of a database that was lost.
  may_prove_ = newest_->database_id() == engine_.database_id();
  // A clock that was wrong once must not hold up backups for years.
  return std::min(now, absl::FromUnixMicros(newest_->begin_time_us()));
}

void BackupSchedule::Loop() {
  std::error_code ignored;
  // What a killed proof has left.
  std::filesystem::remove_all(ScheduledProofFolderOf(engine_), ignored);
  LogProof(engine_);
  if (!schedule_.has_value()) return;
  absl::Time due = DueAfter(ReadLast());
  SetNextTime(due);
  absl::Time before = Now();
  while (thread_.WaitFor(kTick)) {
    // A clock that is set back must not hold up backups until it gets there again.
    if (Now() < before) SetNextTime(due = std::min(due, DueAfter(Now())));
    before = Now();
    if (Now() >= due) {
      due = MakeDueBackup();
      if (!cancellation_->Check().ok()) return;
      SetNextTime(due);
    }
    LookAfterProof();
  }
}

absl::Time BackupSchedule::MakeDueBackup() {
  const absl::Time begin = Now();
  const absl::StatusOr<v1::DatabaseBackup> backup = MakeBackup();
  const absl::Time next = DueAfter(begin);
  if (!cancellation_->Check().ok()) return next;
  if (!backup.ok()) {
    SetError(backup.status());
    engine_.options().log->error("a scheduled backup failed error={}", MessageOf(backup.status()));
    // A damaged file in the directory of the backups does not become whole by another attempt.
    return absl::IsDataLoss(backup.status()) ? next : std::min(next, begin + kRetryAfter);
  }
  const int64_t verified_us = BackupClockMicros(engine_);
  newest_ = *backup;
  earliest_proof_ = absl::InfinitePast();
  may_prove_ = IsProofDue(*backup);
  deletes_after_proof_ = may_prove_ || proof_ != nullptr;
  SetError(absl::OkStatus());
  if (!deletes_after_proof_) DeleteOldBackups();
  MutexLock lock(mutex_);
  *figures_.mutable_last() = *backup;
  figures_.set_last_verified_time_us(verified_us);
  return next;
}

void BackupSchedule::LookAfterProof() {
  if (proof_ != nullptr && proof_->IsDone()) {
    const std::unique_ptr<ScheduledProof> done = std::move(proof_);
    EndProof(done->backup(), done->status());
    return;
  }
  if (proof_ != nullptr || !may_prove_ || Now() < earliest_proof_) return;
  may_prove_ = IsProofDue(*newest_);
  if (!may_prove_) return;
  SetProving(newest_->backup_id());
  proof_ = std::make_unique<ScheduledProof>(*newest_, prove_, cancellation_);
}

void BackupSchedule::EndProof(const v1::DatabaseBackup& backup, const absl::Status& status) {
  const absl::Status outcome = NoteOutcome(backup, status);
  if (!cancellation_->Check().ok()) return;
  const bool is_damaged = absl::IsDataLoss(outcome);
  const bool is_deleted = absl::IsNotFound(outcome);
  const bool is_newest = newest_->backup_id() == backup.backup_id();
  // Neither becomes another by another attempt.
  if (is_newest && (is_damaged || is_deleted)) may_prove_ = false;
  if (is_newest && !outcome.ok()) earliest_proof_ = Now() + kProveAgainAfter;
  if (is_deleted) {
    engine_.options().log->info("a backup was deleted while it was being proven backup_id={}",
                                backup.backup_id());
  } else {
    if (!outcome.ok())
      engine_.options().log->error("a scheduled backup was not proven backup_id={} error={}",
                                   backup.backup_id(), MessageOf(outcome));
    SetProofError(outcome);
  }
  // Older ones may be needed.
  if (!is_damaged && std::exchange(deletes_after_proof_, false)) DeleteOldBackups();
  SetProving(0);
}

absl::Status BackupSchedule::NoteOutcome(const v1::DatabaseBackup& backup, const absl::Status& status) {
  if (!WaitForOtherCalls()) return absl::CancelledError();
  const EndOfCall end{engine_};
  if (status.ok()) return NoteProof(engine_, backup, BackupClockMicros(engine_));
  const absl::StatusOr<v1::ListDatabaseBackupsReply> listed = ListBackups(engine_);
  if (!listed.ok()) return status;
  const bool is_there = std::any_of(listed->backups().begin(), listed->backups().end(),
                                    [&](const v1::DatabaseBackup& other) {
                                      return other.backup_id() == backup.backup_id() &&
                                             other.begin_time_us() == backup.begin_time_us();
                                    }) ||
                        std::find(listed->damaged_backup_ids().begin(), listed->damaged_backup_ids().end(),
                                  backup.backup_id()) != listed->damaged_backup_ids().end();
  if (!is_there) return absl::NotFoundError("");
  // Files of it are missing.
  const bool is_damaged = absl::IsDataLoss(status) || absl::IsNotFound(status);
  if (!is_damaged) return status;
  NoteDamage(engine_, backup);
  return absl::IsDataLoss(status) ? status : DataLossError(MessageOf(status));
}

void BackupSchedule::SetNextTime(absl::Time time) {
  MutexLock lock(mutex_);
  figures_.set_next_time_us(absl::ToUnixMicros(time));
}

void BackupSchedule::SetError(const absl::Status& status) {
  MutexLock lock(mutex_);
  figures_.set_last_error(status.ok() ? "" : MessageOf(status));
}

void BackupSchedule::SetProofError(const absl::Status& status) {
  MutexLock lock(mutex_);
  figures_.set_last_proof_error(status.ok() ? "" : MessageOf(status));
  found_damage_ = absl::IsDataLoss(status);
}

void BackupSchedule::SetProving(uint32_t backup_id) {
  MutexLock lock(mutex_);
  figures_.set_proving_backup_id(backup_id);
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
  ITEMDB_ASSIGN_OR_RETURN(v1::DatabaseBackup backup, CreateBackup(engine_, cancellation_.get()));
  const absl::Status verified = VerifyBackup(engine_, backup.backup_id(), cancellation_.get()).status();
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

bool BackupSchedule::IsProofDue(const v1::DatabaseBackup& backup) const {
  const int64_t interval_us =
      std::chrono::duration_cast<std::chrono::microseconds>(engine_.options().backup_prove_interval).count();
  if (interval_us <= 0) return false;
  const std::optional<ProofRecord> last = ReadProof(engine_.env(), BackupDirectoryOf(engine_));
  // The clock may have been ahead.
  if (!last.has_value() || last->begin_time_us > backup.begin_time_us()) return true;
  if (last->backup_id == backup.backup_id() && last->begin_time_us == backup.begin_time_us()) return false;
  // Backups of a daily schedule are not a day apart to the microsecond, and in spring an hour less.
  return backup.begin_time_us() - last->begin_time_us >= interval_us - interval_us / 20;
}

void BackupSchedule::DeleteOldBackups() {
  if (!WaitForOtherCalls()) return;
  const EndOfCall end{engine_};
  const DatabaseOptions& options = engine_.options();
  absl::Status deleted;
  v1::DeleteDatabaseBackupsRequest old;
  if (options.backup_keep > 0) {
    old.set_keep_newest(static_cast<uint32_t>(options.backup_keep));
    deleted = DeleteBackups(engine_, old).status();
  }
  if (deleted.ok() && options.backup_keep_age.count() > 0) {
    old.Clear();
    old.set_begun_before_us(
        newest_->begin_time_us() -
        std::chrono::duration_cast<std::chrono::microseconds>(options.backup_keep_age).count());
    deleted = DeleteBackups(engine_, old).status();
  }
  if (deleted.ok()) return;
  SetError(deleted);
  options.log->error("old backups could not be deleted error={}", MessageOf(deleted));
}

}  // namespace itemdb::storage
