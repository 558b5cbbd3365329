#include "storage/backup/table_backups.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "spdlog/spdlog.h"
#include "storage/backup/backup_operations.h"
#include "storage/backup/read_pace.h"
#include "storage/base/limits.h"
#include "storage/base/table_arn.h"
#include "storage/catalog/restored_definition.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/loading/table_restores.h"
#include "storage/loading/view_source.h"
#include "storage/schema/continuous_backups.h"
#include "storage/schema/table_changes.h"

namespace itemdb::storage {
namespace {

constexpr size_t kMaxWaitingCalls = 1'000;
constexpr int64_t kItemsBetweenChecks = 1'024;
// A backup of at most so many bytes is awaited by its call, if no other backup is being made: it takes about
// a tenth of a second.
constexpr int64_t kAwaitedBytes = 16 << 20;
constexpr auto kExpiryInterval = std::chrono::hours(1);
constexpr auto kRetryDeletedAfter = std::chrono::seconds(10);

// The ARN by which backups are stored: requests may name another region.
absl::StatusOr<std::string> CanonicalArn(const std::string& arn) {
  ITEMDB_ASSIGN_OR_RETURN(const BackupArn parsed, ParseBackupArn(arn));
  return BackupArnOf(parsed.table_name, parsed.backup_id);
}

// BAK-09: only what was on then.
std::string TimeToLiveAttributeOf(const Table& table) {
  const Index* index = table.FindTimeToLiveIndex();
  return index == nullptr ? "" : index->partition[0].name;
}

bool Matches(v1::BackupTypeFilter filter, v1::BackupType type) {
  switch (filter) {
    case v1::BACKUP_TYPE_FILTER_ALL:
      return true;
    case v1::BACKUP_TYPE_FILTER_SYSTEM:
      return type == v1::BACKUP_TYPE_SYSTEM;
    case v1::BACKUP_TYPE_FILTER_AWS_BACKUP:
      return false;
    default:
      return type == v1::BACKUP_TYPE_USER;
  }
}

absl::Status CheckList(const v1::ListBackupsRequest& request) {
  if (request.has_limit() && (request.limit() < 1 || request.limit() > kMaxListBackups)) {
    return ValidationError("BAK-14", "Limit must be 1 to " + std::to_string(kMaxListBackups) + "; it is " +
                                         std::to_string(request.limit()));
  }
  if (!v1::BackupTypeFilter_IsValid(request.backup_type()))
    return ValidationError("BAK-13", "BackupType must be USER, SYSTEM, AWS_BACKUP or ALL");
  if (request.has_time_range_lower_bound_ms() && request.has_time_range_upper_bound_ms() &&
      request.time_range_lower_bound_ms() > request.time_range_upper_bound_ms()) {
    return ValidationError("BAK-13", "Time range lower bound must be less than or equal to upper bound");
  }
  if (request.exclusive_start_backup_arn().empty()) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(const BackupArn start, ParseBackupArn(request.exclusive_start_backup_arn()));
  if (start.region == kRegion) return absl::OkStatus();
  return ValidationError("BAK-14", "The region of ExclusiveStartBackupArn " +
                                       request.exclusive_start_backup_arn() + " does not match the region");
}

absl::Status BackupInUseError(const std::string& message) {
  return WithRule("BAK-17", MakeError(absl::StatusCode::kFailedPrecondition, kReasonBackupInUse, message));
}

// The shape of the request (PIT-08).
absl::Status CheckPointInTime(const v1::RestoreTableToPointInTimeRequest& request) {
  ITEMDB_RETURN_IF_ERROR(CheckName("TargetTableName", request.target_table_name()));
  if (!request.source_table_name().empty() && !request.source_table_arn().empty())
    return ValidationError("PIT-08", "Must provide exactly one of: sourceTableArn, sourceTableName");
  if (request.source_table_name().empty() && request.source_table_arn().empty())
    return ValidationError("PIT-08", "The parameter 'TableName' is required");
  if (!request.source_table_arn().empty() && !request.source_table_arn().starts_with("arn:"))
    return ValidationError("PIT-08", "sourceTableArn is not a valid ARN");
  const int points = int{request.has_restore_time_ms()} + int{request.use_latest_restorable_time()} +
                     int{request.change_sequence() != 0};
  if (points == 1) return absl::OkStatus();
  if (points == 0) {
    return ValidationError(
        "PIT-08",
        "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be "
        "specified, but not both");
  }
  return ValidationError(
      "PIT-08",
      "Invalid Request: Both RestoreDateTime and UseLatestRestorableTime cannot be set at the same time");
}

// PIT-07. The text of the service, and behind it what it has no words for.
absl::Status InvalidRestoreTimeError(int64_t time_ms, const v1::ContinuousBackupsDescription& recovery,
                                     const std::string& why) {
  const auto text = [](int64_t ms) {
    return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixMillis(ms), absl::UTCTimeZone());
  };
  return WithRule(
      "PIT-07",
      MakeError(absl::StatusCode::kOutOfRange, kReasonInvalidRestoreTime,
                "RestoreDateTime '" + text(time_ms) + "' must be within EarliestRestorableDateTime '" +
                    text(recovery.earliest_restorable_time_ms()) + "' and LatestRestorableDateTime '" +
                    text(recovery.latest_restorable_time_ms()) + "'" + why));
}

absl::Status CheckInWindow(int64_t time_ms, const std::vector<RecoveryTimes>& times, int64_t now_ms) {
  if (IsRecoveryTime(time_ms, times)) return absl::OkStatus();
  v1::ContinuousBackupsDescription window;
  window.set_earliest_restorable_time_ms(times.empty() ? now_ms : times.front().begin_ms);
  window.set_latest_restorable_time_ms(times.empty() ? now_ms : times.back().end_ms);
  std::string why;
  if (times.empty())
    why = "; no time can be restored before the backup is made that the archive of commits begins with";
  else if (time_ms > times.front().begin_ms && time_ms < times.back().end_ms)
    why = "; the archive of commits has a gap there";
  return InvalidRestoreTimeError(time_ms, window, why);
}

}  // namespace

TableBackups::TableBackups(Engine& engine, CheckPoint check_point)
    : engine_(engine),
      check_point_(std::move(check_point)),
      calls_(/*threads=*/1, kMaxWaitingCalls),
      point_calls_(/*threads=*/1, kMaxWaitingCalls) {}

void TableBackups::Start() {
  thread_.Start([this] { Loop(); });
}

void TableBackups::Stop() {
  cancellation_.Cancel();
  calls_.Stop();
  point_calls_.Stop();
  thread_.Stop();
}

absl::StatusOr<std::shared_ptr<TableBackupDirectory>> TableBackups::OpenDirectory() {
  MutexLock lock(opening_mutex_);
  if (directory_ == nullptr) {
    ITEMDB_ASSIGN_OR_RETURN(directory_,
                            TableBackupDirectory::Open(engine_.environment(), BackupDirectoryOf(engine_)));
  }
  return directory_;
}

absl::StatusOr<std::shared_ptr<TableBackupDirectory>> TableBackups::FindDirectory() {
  std::error_code error;
  if (!std::filesystem::exists(BackupDirectoryOf(engine_) + "/tables", error) && !error) return nullptr;
  return OpenDirectory();
}

// ---- calls

template <typename Reply, typename Operation>
void TableBackups::RunCall(IoPool& pool, Operation operation, Done<Reply> done) {
  auto shared_done = std::make_shared<Done<Reply>>(std::move(done));
  IoPool::Task task = [operation = std::move(operation), shared_done]() mutable {
    absl::StatusOr<Reply> reply = operation();
    std::move (*shared_done)(std::move(reply));
  };
  if (!pool.Submit(task, IoPriority::kLong)) std::move (*shared_done)(IoPoolFullError());
}

void TableBackups::CreateBackup(v1::CreateBackupRequest request, Done<v1::CreateBackupReply> done) {
  auto shared_done = std::make_shared<Done<v1::CreateBackupReply>>(std::move(done));
  IoPool::Task task = [this, request = std::move(request), shared_done] {
    const absl::Status status = Create(request, shared_done.get());
    if (!status.ok()) std::move (*shared_done)(status);
  };
  if (!calls_.Submit(task, IoPriority::kLong)) std::move (*shared_done)(IoPoolFullError());
}

absl::Status TableBackups::Create(const v1::CreateBackupRequest& request, Done<v1::CreateBackupReply>* done) {
  ITEMDB_RETURN_IF_ERROR(CheckName("BackupName", request.backup_name()));
  auto job = std::make_shared<Job>();
  ITEMDB_ASSIGN_OR_RETURN(job->view, engine_.View());
  ITEMDB_ASSIGN_OR_RETURN(job->table, FindTableForBackups(*job->view, request.table_name()));
  ITEMDB_ASSIGN_OR_RETURN(v1::TableDescription described, DescribeTable(engine_, *job->view, *job->table));
  job->backup =
      NewTableBackup(std::move(described), TimeToLiveAttributeOf(*job->table), request.backup_name(),
                     v1::BACKUP_TYPE_USER, BackupClockMicros(engine_) / 1'000);
  job->backup.set_change_sequence(job->view->change_sequence());
  ITEMDB_RETURN_IF_ERROR(OpenDirectory().status());
  ITEMDB_RETURN_IF_ERROR(CheckGoesOn(engine_, &cancellation_, IsOnTheDiskOfTheData(engine_)));
  v1::CreateBackupReply reply;
  *reply.mutable_backup() = job->backup;
  bool waits = false;
  {
    MutexLock lock(mutex_);
    if (jobs_.size() >= kMaxWaitingBackups) {
      return MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                       "Subscriber limit exceeded: Only " + std::to_string(kMaxWaitingBackups) +
                           " backups can be made simultaneously",
                       1000);
    }
    waits = jobs_.empty() && job->backup.source_table().table_size_bytes() <= kAwaitedBytes;
    if (waits) job->done.emplace(std::move(*done));
    jobs_.push_back(job);
  }
  thread_.Wake();
  if (!waits) std::move (*done)(std::move(reply));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::TableBackup>> TableBackups::Unfinished() {
  std::vector<v1::TableBackup> backups;
  {
    MutexLock lock(mutex_);
    for (const auto& job : jobs_) backups.push_back(job->backup);
  }
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine_.View());
  ITEMDB_ASSIGN_OR_RETURN(const auto deleted, FindDeletedTables(*view));
  for (const v1::DeletedTable& table : deleted) backups.push_back(table.backup());
  return backups;
}

void TableBackups::DescribeBackup(v1::DescribeBackupRequest request, Done<v1::DescribeBackupReply> done) {
  RunCall<v1::DescribeBackupReply>(
      calls_, [this, request = std::move(request)] { return Describe(request); }, std::move(done));
}

absl::StatusOr<v1::DescribeBackupReply> TableBackups::Describe(const v1::DescribeBackupRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(const std::string arn, CanonicalArn(request.backup_arn()));
  v1::DescribeBackupReply reply;
  // Those that are not done first: one that is done meanwhile is found in the directory.
  ITEMDB_ASSIGN_OR_RETURN(const auto unfinished, Unfinished());
  ITEMDB_ASSIGN_OR_RETURN(const auto directory, FindDirectory());
  absl::StatusOr<v1::StoredTableBackup> stored = BackupNotFoundError(request.backup_arn());
  if (directory != nullptr) stored = directory->Find(arn);
  if (stored.ok()) {
    *reply.mutable_backup() = std::move(*stored->mutable_backup());
  } else {
    if (!absl::IsNotFound(stored.status())) return stored.status();
    const auto found = std::find_if(unfinished.begin(), unfinished.end(), [&](const v1::TableBackup& backup) {
      return backup.backup_arn() == arn;
    });
    if (found == unfinished.end()) return BackupNotFoundError(request.backup_arn());
    *reply.mutable_backup() = *found;
  }
  // BAK-16: another region is echoed.
  reply.mutable_backup()->set_backup_arn(request.backup_arn());
  return reply;
}

void TableBackups::ListBackups(v1::ListBackupsRequest request, Shows shows, Done<v1::ListBackupsReply> done) {
  RunCall<v1::ListBackupsReply>(
      calls_, [this, request = std::move(request), shows = std::move(shows)] { return List(request, shows); },
      std::move(done));
}

absl::StatusOr<v1::ListBackupsReply> TableBackups::List(const v1::ListBackupsRequest& request,
                                                        const Shows& shows) {
  ITEMDB_RETURN_IF_ERROR(CheckList(request));
  ITEMDB_ASSIGN_OR_RETURN(std::vector<v1::TableBackup> backups, Unfinished());
  ITEMDB_ASSIGN_OR_RETURN(const auto directory, FindDirectory());
  if (directory != nullptr) {
    std::vector<std::string> damaged;
    ITEMDB_ASSIGN_OR_RETURN(std::vector<v1::TableBackup> whole, directory->List(&damaged));
    for (const std::string& folder : damaged)
      engine_.options().log->error("a backup of a table has a damaged description folder={}", folder);
    std::set<std::string> done;
    for (const v1::TableBackup& backup : whole) done.insert(backup.backup_arn());
    std::erase_if(backups, [&](const v1::TableBackup& backup) { return done.contains(backup.backup_arn()); });
    backups.insert(backups.end(), whole.begin(), whole.end());
  }
  // By creation time; ids begin with it.
  const auto place = [](const std::string& arn) { return std::pair(arn.substr(arn.rfind('/') + 1), arn); };
  std::sort(backups.begin(), backups.end(), [&](const v1::TableBackup& a, const v1::TableBackup& b) {
    return place(a.backup_arn()) < place(b.backup_arn());
  });
  const std::string& start = request.exclusive_start_backup_arn();
  const std::string table(TableNameOf(request.table_name()));
  std::erase_if(backups, [&](const v1::TableBackup& backup) {
    const int64_t time = backup.creation_time_ms();
    return (!table.empty() && backup.source_table().table_name() != table) ||
           !Matches(request.backup_type(), backup.backup_type()) ||
           (request.has_time_range_lower_bound_ms() && time < request.time_range_lower_bound_ms()) ||
           (request.has_time_range_upper_bound_ms() && time >= request.time_range_upper_bound_ms()) ||
           (!start.empty() && place(backup.backup_arn()) <= place(start)) ||
           (shows != nullptr && !shows(backup.source_table().table_name()));
  });
  const size_t limit = request.has_limit() ? static_cast<size_t>(request.limit()) : kMaxListBackups;
  v1::ListBackupsReply reply;
  for (size_t i = 0; i < std::min(limit, backups.size()); ++i) *reply.add_backups() = std::move(backups[i]);
  if (backups.size() > limit) reply.set_last_evaluated_backup_arn(reply.backups().rbegin()->backup_arn());
  return reply;
}

void TableBackups::DeleteBackup(v1::DeleteBackupRequest request, Done<v1::DeleteBackupReply> done) {
  RunCall<v1::DeleteBackupReply>(
      calls_, [this, request = std::move(request)] { return Delete(request); }, std::move(done));
}

absl::StatusOr<v1::DeleteBackupReply> TableBackups::Delete(const v1::DeleteBackupRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(const v1::DescribeBackupReply described, [&] {
    v1::DescribeBackupRequest describe;
    describe.set_backup_arn(request.backup_arn());
    absl::StatusOr<v1::DescribeBackupReply> reply = Describe(describe);
    // A damaged one can be deleted.
    return absl::IsDataLoss(reply.status()) ? v1::DescribeBackupReply() : reply;
  }());
  const v1::TableBackup& backup = described.backup();
  if (backup.backup_type() == v1::BACKUP_TYPE_SYSTEM) {
    return ValidationError(
        "BAK-18", "User is not allowed to delete the system backup with arn " + request.backup_arn() +
                      ". It will automatically expire on " +
                      absl::FormatTime(absl::RFC3339_full, absl::FromUnixMillis(backup.expiry_time_ms()),
                                       absl::UTCTimeZone()));
  }
  if (backup.backup_status() == v1::BACKUP_STATUS_CREATING)
    return BackupInUseError("Backup is being created: " + request.backup_arn());
  ITEMDB_ASSIGN_OR_RETURN(const std::string arn, CanonicalArn(request.backup_arn()));
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine_.View());
  ITEMDB_ASSIGN_OR_RETURN(const auto restoring, FindRestoringTables(*view));
  for (const v1::RestoringTable& table : restoring) {
    if (table.definition().restore_summary().source_backup_arn() == arn)
      return BackupInUseError("Backup is being used to restore table: " + request.backup_arn());
  }
  ITEMDB_ASSIGN_OR_RETURN(const auto directory, OpenDirectory());
  v1::DeleteBackupReply reply;
  ITEMDB_ASSIGN_OR_RETURN(*reply.mutable_backup(), directory->Delete(arn));
  reply.mutable_backup()->set_backup_arn(request.backup_arn());
  engine_.options().log->info("backup of a table deleted backup={}", arn);
  return reply;
}

void TableBackups::RestoreTableFromBackup(v1::RestoreTableFromBackupRequest request,
                                          Done<v1::RestoreTableFromBackupReply> done) {
  RunCall<v1::RestoreTableFromBackupReply>(
      calls_, [this, request = std::move(request)] { return Restore(request); }, std::move(done));
}

absl::StatusOr<v1::RestoreTableFromBackupReply> TableBackups::Restore(
    const v1::RestoreTableFromBackupRequest& request) {
  // The order of errors is that of PIT-10.
  ITEMDB_RETURN_IF_ERROR(CheckName("TargetTableName", request.target_table_name()));
  ITEMDB_ASSIGN_OR_RETURN(const BackupArn parsed, ParseBackupArn(request.backup_arn()));
  if (parsed.region != kRegion && !request.overrides().has_sse_specification()) {
    return ValidationError(
        "PIT-18", "Invalid Request: sseSpecificationOverride must be provided for cross-region restores");
  }
  v1::DescribeBackupRequest describe;
  describe.set_backup_arn(request.backup_arn());
  ITEMDB_ASSIGN_OR_RETURN(const v1::DescribeBackupReply described, Describe(describe));
  const v1::TableBackup& backup = described.backup();
  // The backup of a newer program may have been moved here.
  ITEMDB_RETURN_IF_ERROR(CheckIsKnown(backup.source_table()));
  v1::RestoringTable table;
  ITEMDB_ASSIGN_OR_RETURN(
      *table.mutable_definition(),
      RestoredDefinition(request.target_table_name(), backup.source_table(), request.overrides()));
  if (backup.backup_status() == v1::BACKUP_STATUS_CREATING)
    return BackupInUseError("Backup is being created: " + request.backup_arn());
  v1::RestoreSummary* summary = table.mutable_definition()->mutable_restore_summary();
  summary->set_source_backup_arn(BackupArnOf(parsed.table_name, parsed.backup_id));
  summary->set_source_table_arn(TableArn(parsed.table_name));
  summary->set_restore_time_ms(backup.creation_time_ms());
  summary->set_items_total(backup.source_table().item_count());
  v1::RestoreTableFromBackupReply reply;
  ITEMDB_ASSIGN_OR_RETURN(*reply.mutable_table(), BeginRestore(engine_, std::move(table)));
  return reply;
}

void TableBackups::RestoreTableToPointInTime(v1::RestoreTableToPointInTimeRequest request,
                                             Done<v1::RestoreTableToPointInTimeReply> done) {
  RunCall<v1::RestoreTableToPointInTimeReply>(
      point_calls_, [this, request = std::move(request)] { return RestoreToPoint(request); },
      std::move(done));
}

absl::StatusOr<v1::RestoreTableToPointInTimeReply> TableBackups::RestoreToPoint(
    const v1::RestoreTableToPointInTimeRequest& request) {
  // The order of errors is that of PIT-07.
  ITEMDB_RETURN_IF_ERROR(CheckPointInTime(request));
  const bool by_name = !request.source_table_name().empty();
  const std::string& source = by_name ? request.source_table_name() : request.source_table_arn();
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
  ITEMDB_ASSIGN_OR_RETURN(const auto table, FindTableForBackups(*view, source));
  if (!table->definition.has_point_in_time_recovery()) return PointInTimeRecoveryUnavailableError(*table);
  v1::RestoringTable restored;
  restored.set_source_storage_id(table->storage_id);
  int64_t time_ms = BackupClockMicros(engine_) / 1'000;
  if (request.change_sequence() != 0) {
    restored.set_to_change(request.change_sequence());
  } else if (!request.use_latest_restorable_time()) {
    ITEMDB_ASSIGN_OR_RETURN(const std::vector<RecoveryTimes> times, FindRecoveryTimes(engine_, *table));
    const int64_t now_ms = std::exchange(time_ms, request.restore_time_ms());
    ITEMDB_RETURN_IF_ERROR(CheckInWindow(time_ms, times, now_ms));
    // The last commit of that millisecond.
    restored.set_to_time_us(std::min(time_ms * 1'000 + 999, BackupClockMicros(engine_)));
  }
  absl::Status point = check_point_(restored, table->definition.creation_time_ms());
  if (restored.to_time_us() != 0 && ReasonOf(point) == kReasonRestorePointUnknown)
    point = InvalidRestoreTimeError(time_ms, DescribeRecovery(engine_, *table), "; " + MessageOf(point));
  ITEMDB_RETURN_IF_ERROR(point);
  ITEMDB_ASSIGN_OR_RETURN(v1::TableDescription described, DescribeTable(engine_, *view, *table));
  ITEMDB_ASSIGN_OR_RETURN(*restored.mutable_definition(),
                          RestoredDefinition(request.target_table_name(), described, request.overrides()));
  v1::RestoreSummary* summary = restored.mutable_definition()->mutable_restore_summary();
  summary->set_source_table_arn(TableArn(table->name));
  summary->set_restore_time_ms(time_ms);
  summary->set_items_total(described.item_count());
  v1::RestoreTableToPointInTimeReply reply;
  ITEMDB_ASSIGN_OR_RETURN(*reply.mutable_table(), BeginRestore(engine_, std::move(restored)));
  return reply;
}

absl::StatusOr<std::unique_ptr<ItemSource>> TableBackups::OpenSource(const v1::RestoringTable& table) {
  ITEMDB_ASSIGN_OR_RETURN(const auto directory, OpenDirectory());
  ITEMDB_ASSIGN_OR_RETURN(const v1::StoredTableBackup backup,
                          directory->Find(table.definition().restore_summary().source_backup_arn()));
  return directory->Read(backup);
}

// ---- the thread

void TableBackups::Loop() {
  Time expire_at;  // At once.
  Time poll_at;
  while (thread_.WaitUntil(std::min(poll_at, expire_at))) {
    if (BackgroundThread::Clock::now() >= expire_at) {
      DeleteExpired();
      expire_at = BackgroundThread::Clock::now() + kExpiryInterval;
    }
    while (const std::shared_ptr<Job> job = NextJob()) RunJob(job);
    poll_at = BackUpDeletedTables();
  }
  // Those that wait are answered.
  while (const std::shared_ptr<Job> job = NextJob()) RunJob(job);
}

std::shared_ptr<TableBackups::Job> TableBackups::NextJob() {
  MutexLock lock(mutex_);
  return jobs_.empty() ? nullptr : jobs_.front();
}

void TableBackups::RunJob(const std::shared_ptr<Job>& job) {
  const absl::Status status = WriteBackup(job->view, *job->table, job->backup);
  job->view.reset();
  {
    MutexLock lock(mutex_);
    jobs_.pop_front();
  }
  const std::string& arn = job->backup.backup_arn();
  if (status.ok()) {
    engine_.options().log->info("backup of a table made backup={} change_sequence={} items={}", arn,
                                job->backup.change_sequence(), job->backup.source_table().item_count());
  } else {
    engine_.options().log->error("backup of a table failed backup={} error={}", arn, MessageOf(status));
  }
  if (!job->done.has_value()) return;
  if (!status.ok()) return std::move(*job->done)(status);
  v1::CreateBackupReply reply;
  *reply.mutable_backup() = job->backup;
  std::move (*job->done)(std::move(reply));
}

absl::Status TableBackups::WriteBackup(const std::shared_ptr<const ReadView>& view, const Table& table,
                                       const v1::TableBackup& backup) {
  ITEMDB_ASSIGN_OR_RETURN(const auto directory, OpenDirectory());
  const bool shares_disk = IsOnTheDiskOfTheData(engine_);
  ITEMDB_RETURN_IF_ERROR(CheckGoesOn(engine_, &cancellation_, shares_disk));
  // With relaxed durability the backup must not have changes that a power cut takes back.
  ITEMDB_RETURN_IF_ERROR(engine_.SyncNow());
  ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<TableBackupWriter> writer,
                          directory->Write(backup, engine_.database_id()));
  ViewSource source(view, table);
  const auto check = [&] { return CheckGoesOn(engine_, &cancellation_, shares_disk); };
  ReadPace pace(engine_.options().backup_bytes_per_second);
  ItemSource::Item item;
  for (int64_t items = 1;; ++items) {
    ITEMDB_ASSIGN_OR_RETURN(const bool is_there, source.Next(&item));
    if (!is_there) break;
    if (items % kItemsBetweenChecks == 0) ITEMDB_RETURN_IF_ERROR(check());
    ITEMDB_RETURN_IF_ERROR(pace.Wait(item.key.size() + item.item.size(), check));
    ITEMDB_RETURN_IF_ERROR(writer->Add(item));
  }
  return writer->Finish();
}

TableBackups::Time TableBackups::BackUpDeletedTables() {
  const Time retry_at = BackgroundThread::Clock::now() + kRetryDeletedAfter;
  const auto view = engine_.View();
  if (!view.ok()) return retry_at;  // The store is being reopened.
  const auto tables = FindDeletedTables(**view);
  if (!tables.ok()) {
    engine_.options().log->error("deleted tables cannot be read error={}", MessageOf(tables.status()));
    return retry_at;
  }
  Time poll_at = Time::max();
  for (const v1::DeletedTable& table : *tables) {
    absl::Status status = BackUpDeletedTable(table);
    if (absl::IsCancelled(status)) return Time::max();
    const std::string& name = table.definition().table_name();
    // Neither the space of a full disk nor a damaged item comes back by waiting.
    const bool gives_up = absl::IsDataLoss(status) || ReasonOf(status) == kReasonDiskFull;
    if (gives_up) {
      engine_.options().log->error("a deleted table is dropped without a backup table={} error={}", name,
                                   MessageOf(status));
    } else if (!status.ok()) {
      engine_.options().log->warn(
          "the backup of a deleted table failed and will be retried table={} "
          "error={}",
          name, MessageOf(status));
      poll_at = retry_at;
      continue;
    }
    status = CommitAndWait(engine_,
                           [&](CommitGroup& group) {
                             group.DropItems(MakeTable(table.definition()));
                             DeleteDeletedTable(table.definition().storage_id(), group);
                             return absl::OkStatus();
                           },
                           {.when_full = WhenFull::kWait, .space = WriteSpace::kFrees})
                 .status();
    if (!status.ok()) poll_at = retry_at;
  }
  return poll_at;
}

absl::Status TableBackups::BackUpDeletedTable(const v1::DeletedTable& deleted) {
  ITEMDB_ASSIGN_OR_RETURN(const auto directory, OpenDirectory());
  // The process may have ended between the backup and the commit that drops the items.
  if (directory->Find(deleted.backup().backup_arn()).ok()) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine_.View());
  ITEMDB_RETURN_IF_ERROR(WriteBackup(view, MakeTable(deleted.definition()), deleted.backup()));
  engine_.options().log->info("backup of a deleted table made backup={}", deleted.backup().backup_arn());
  return absl::OkStatus();
}

void TableBackups::DeleteExpired() {
  const auto directory = FindDirectory();
  std::vector<std::string> damaged;
  if (!directory.ok() || *directory == nullptr) return;
  const auto backups = (*directory)->List(&damaged);
  if (!backups.ok()) return;
  const int64_t now_ms = BackupClockMicros(engine_) / 1'000;
  for (const v1::TableBackup& backup : *backups) {
    if (backup.expiry_time_ms() == 0 || backup.expiry_time_ms() > now_ms) continue;
    const absl::Status deleted = (*directory)->Delete(backup.backup_arn()).status();
    engine_.options().log->info("backup of a deleted table expired backup={} deleted={}", backup.backup_arn(),
                                deleted.ok());
  }
}

}  // namespace itemdb::storage
