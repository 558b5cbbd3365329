#include "storage/backup/archive_upkeep.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "storage/archive/archive_directory.h"
#include "storage/archive/commit_archive.h"
#include "storage/archive/directory_probe.h"
#include "storage/backup/backup_operations.h"

namespace itemdb::storage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kUpkeepTick(200);
// How often backups are looked at while nothing has changed.
constexpr std::chrono::minutes kLookInterval(10);
// While a large table is loaded, a chain may begin each second.
constexpr std::chrono::seconds kMinInterval(2);
constexpr std::chrono::seconds kUpkeepRetry(10);
// How long and how often WhenRestorable looks.
constexpr std::chrono::seconds kAwaitRestorable(2);
constexpr std::chrono::milliseconds kRestorableTick(5);
constexpr size_t kMaxWaitingForRestorable = 1'000;

int64_t Micros(std::chrono::milliseconds time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

// The window, or the longest period of a table's point-in-time recovery.
absl::StatusOr<int64_t> WindowMicros(const Engine& engine) {
  constexpr int64_t kDayUs = int64_t{24} * 3'600'000'000;
  int64_t window_us = Micros(engine.options().archive_window);
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine.View());
  for (const auto& table : view->catalog()) {
    const v1::PointInTimeRecovery& recovery = table->definition.point_in_time_recovery();
    window_us = std::max(window_us, recovery.recovery_period_in_days() * kDayUs);
  }
  return window_us;
}

bool Continues(const CommitArchiveStatus& archive, const v1::DatabaseBackup& backup) {
  return backup.archive_chain_id() == archive.chain_id &&
         backup.store_sequence() >= archive.chain_after.sequence;
}

// The number of the first segment that has groups behind `backup`, or is still written.
uint64_t FirstNeeded(const ArchiveContents& contents, const v1::DatabaseBackup& backup) {
  const auto chain =
      std::find_if(contents.chains.begin(), contents.chains.end(),
                   [&](const ArchiveChain& one) { return one.id == backup.archive_chain_id(); });
  if (chain == contents.chains.end()) return 0;
  for (size_t i = 0; i + 1 < chain->segments.size(); ++i) {
    if (chain->segments[i + 1].after_sequence > backup.store_sequence()) return chain->segments[i].number;
  }
  return chain->segments.back().number;
}

}  // namespace

ArchiveUpkeep::ArchiveUpkeep(Engine& engine)
    : engine_(engine), waiting_calls_(/*threads=*/1, kMaxWaitingForRestorable) {
  thread_.Start([this] { Loop(); });
}

ArchiveUpkeep::~ArchiveUpkeep() {
  cancellation_.Cancel();
  waiting_calls_.Stop();
  thread_.Stop();
}

void ArchiveUpkeep::WhenRestorable(std::function<void()> call) {
  const Clock::time_point until = Clock::now() + kAwaitRestorable;
  IoPool::Task task = [this, until, call] {
    const auto is_restorable = [this] {
      const auto times = engine_.archive() != nullptr ? engine_.archive()->restorable_times() : std::nullopt;
      // In a later millisecond: replies have whole ones.
      return times.has_value() && !times->empty() && times->back().end_us == RestorableTimes::kNoEnd &&
             times->back().begin_us / 1'000 < BackupClockMicros(engine_) / 1'000;
    };
    while (!is_restorable() && Clock::now() < until && cancellation_.Check().ok())
      std::this_thread::sleep_for(kRestorableTick);
    call();
  };
  thread_.Wake();
  if (!waiting_calls_.Submit(task, IoPriority::kLong)) call();
}

void ArchiveUpkeep::Loop() {
  uint64_t chain_id = 0;
  // The chain that the archive was told of before its backup is made.
  uint64_t told_chain_id = 0;
  Clock::time_point next = Clock::now();
  Clock::time_point earliest = next;
  bool knows_disk = false;
  bool has_told = false;
  bool has_told_backups = false;
  while (thread_.WaitFor(kUpkeepTick)) {
    // Point-in-time recovery of a table may begin one.
    if (engine_.archive() == nullptr) {
      if (!std::exchange(has_told_backups, true)) TellSharedDisk();
      continue;
    }
    const uint64_t now = engine_.archive()->Status().chain_id;
    const bool is_new = now != chain_id;
    if (Clock::now() < (is_new ? earliest : next)) continue;
    // Before the backup, which may take long or wait for another one.
    if (told_chain_id != now && engine_.archive()->CheckAnswers().ok() && TellRestorableTimes().ok())
      told_chain_id = now;
    if (!knows_disk && engine_.archive()->CheckAnswers().ok()) {
      knows_disk = true;
      const bool shares = IsOnTheDiskOfTheData(engine_, engine_.archive()->directory());
      MutexLock lock(mutex_);
      shares_disk_ = shares;
    }
    if (!engine_.TryBeginBackupCall()) continue;
    absl::Status kept = engine_.archive()->CheckAnswers();
    if (kept.ok()) kept = KeepBackups();
    if (kept.ok()) kept = DeleteOld();
    if (kept.ok() && !std::exchange(has_told, true)) TellSharedDisk();
    // Not when the archive cannot be written, which it says itself.
    const bool is_told = kept.ok() && TellRestorableTimes().ok();
    engine_.EndBackupCall();
    if (!cancellation_.Check().ok()) return;
    chain_id = now;
    earliest = Clock::now() + kMinInterval;
    next = Clock::now() + (is_told ? Clock::duration(kLookInterval) : Clock::duration(kUpkeepRetry));
    if (!kept.ok()) {
      engine_.options().log->error("the backups of the archive could not be kept error={}", MessageOf(kept));
    }
    MutexLock lock(mutex_);
    error_ = kept;
    if (kept.ok()) covered_chain_id_ = now;
  }
}

void ArchiveUpkeep::TellSharedDisk() const {
  const DatabaseOptions& options = engine_.options();
  const CommitArchive* const archive = engine_.archive();
  const bool archive_shares = archive != nullptr && IsOnTheDiskOfTheData(engine_, archive->directory());
  if (archive == nullptr) {
    const std::string backups = BackupDirectoryOf(engine_);
    if (!DirectoryProbe(engine_.env(), backups).Check().ok() || !IsOnTheDiskOfTheData(engine_)) return;
    options.log->info(
        "backups, and the archive that point-in-time recovery begins, go to the disk of the data, and are "
        "lost with it; --archive-directory and --backup-directory name others archive={} backups={}",
        options.data_directory + "/archive", backups);
    return;
  }
  const bool backups_share = IsOnTheDiskOfTheData(engine_);
  if (!archive_shares && !backups_share) return;
  options.log->info(
      "{} on the disk of the data, and lost with it; --archive-directory and --backup-directory name others "
      "archive={} backups={}",
      !backups_share   ? "the archive is"
      : archive_shares ? "the archive and the backups are"
                       : "the backups are",
      archive->directory(), BackupDirectoryOf(engine_));
}

absl::StatusOr<bool> HasBackupForArchive(const Engine& engine) {
  const CommitArchiveStatus archive = engine.archive()->Status();
  ITEMDB_ASSIGN_OR_RETURN(const v1::ListDatabaseBackupsReply backups, ListBackups(engine));
  return std::any_of(backups.backups().begin(), backups.backups().end(),
                     [&](const v1::DatabaseBackup& backup) { return Continues(archive, backup); });
}

absl::Status ArchiveUpkeep::KeepBackups() {
  const CommitArchiveStatus archive = engine_.archive()->Status();
  ITEMDB_ASSIGN_OR_RETURN(v1::ListDatabaseBackupsReply backups, ListBackups(engine_));
  const int64_t made_after = BackupClockMicros(engine_) - Micros(engine_.options().archive_backup_interval);
  bool is_needed = true;
  for (const v1::DatabaseBackup& backup : backups.backups())
    is_needed = is_needed &&
                !(backup.for_archive() && Continues(archive, backup) && backup.begin_time_us() > made_after);
  if (!is_needed) return absl::OkStatus();
  return CreateBackup(engine_, &cancellation_, /*for_archive=*/true).status();
}

absl::Status ArchiveUpkeep::DeleteOld() {
  ITEMDB_ASSIGN_OR_RETURN(const v1::ListDatabaseBackupsReply listed, ListBackups(engine_));
  std::vector<v1::DatabaseBackup> backups;
  for (const v1::DatabaseBackup& backup : listed.backups())
    if (backup.archive_chain_id() != 0) backups.push_back(backup);
  ITEMDB_ASSIGN_OR_RETURN(const int64_t window_us, WindowMicros(engine_));
  const int64_t window_begin = BackupClockMicros(engine_) - window_us;
  // The newest one from before the window: commits at its beginning are replayed on this backup.
  auto first = std::find_if(backups.rbegin(), backups.rend(), [&](const v1::DatabaseBackup& backup) {
    return backup.begin_time_us() <= window_begin;
  });
  if (first != backups.rend()) {
    for (auto older = std::next(first); older != backups.rend(); ++older) {
      if (!older->for_archive()) continue;
      v1::DeleteDatabaseBackupsRequest request;
      request.set_backup_id(older->backup_id());
      ITEMDB_RETURN_IF_ERROR(DeleteBackups(engine_, request).status());
    }
    const std::string& directory = engine_.archive()->directory();
    ITEMDB_ASSIGN_OR_RETURN(const ArchiveContents contents, ReadArchive(engine_.env(), directory));
    const uint64_t needed = FirstNeeded(contents, *first);
    for (const ArchiveChain& chain : contents.chains) {
      for (const SegmentHeader& segment : chain.segments) {
        if (segment.number >= needed) continue;
        const std::string path = directory + "/" + SegmentName(segment.number);
        if (const rocksdb::Status deleted = engine_.env()->DeleteFile(path); !deleted.ok())
          return FromRocksDB("cannot delete " + path, deleted);
      }
    }
  }
  const auto oldest = first != backups.rend() ? std::prev(first.base()) : backups.begin();
  MutexLock lock(mutex_);
  oldest_ = oldest == backups.end() ? v1::DatabaseBackup() : *oldest;
  return absl::OkStatus();
}

absl::Status ArchiveUpkeep::TellRestorableTimes() {
  const uint64_t current = engine_.archive()->Status().chain_id;
  const std::string& directory = engine_.archive()->directory();
  // A chain that has just begun has no file before. Without this one, its times would be told ten minutes
  // later.
  ITEMDB_RETURN_IF_ERROR(engine_.archive()->WriteNow());
  ITEMDB_ASSIGN_OR_RETURN(const v1::ListDatabaseBackupsReply backups, ListBackups(engine_));
  ITEMDB_ASSIGN_OR_RETURN(const ArchiveContents contents, ReadArchive(engine_.env(), directory));
  std::erase_if(last_commit_times_, [&](const auto& known) {
    return std::none_of(contents.chains.begin(), contents.chains.end(), [&](const ArchiveChain& chain) {
      return known.first == std::pair(chain.id, chain.segments.back().number);
    });
  });
  std::vector<RestorableTimes> times;
  for (size_t i = 0; i < contents.chains.size(); ++i) {
    const ArchiveChain& chain = contents.chains[i];
    RestorableTimes in_chain = {.begin_us = INT64_MAX};
    for (int j = 0; j < backups.backups_size(); ++j) {
      const v1::DatabaseBackup& backup = backups.backups(j);
      if (backup.archive_chain_id() != chain.id || backup.store_sequence() < chain.after_sequence ||
          backup.store_sequence() > chain.through_sequence)
        continue;
      // Commits that were made while it was are in it or not.
      const int64_t next_us =
          j + 1 < backups.backups_size() ? backups.backups(j + 1).begin_time_us() : INT64_MAX;
      in_chain.begin_us = std::min(in_chain.begin_us, BackupEndMicros(engine_, backup, next_us));
    }
    if (chain.id != current || i + 1 < contents.chains.size()) {
      const auto [known, is_new] =
          last_commit_times_.emplace(std::pair(chain.id, chain.segments.back().number), 0);
      if (is_new) {
        // A damaged end is told by the restore that needs it.
        known->second = LastCommitTime(engine_.env(), directory, chain).value_or(0);
      }
      // Up to when the state after that commit lasted is not known.
      in_chain.end_us = known->second - 1;
    }
    if (in_chain.begin_us <= in_chain.end_us && in_chain.begin_us != INT64_MAX) times.push_back(in_chain);
  }
  engine_.archive()->SetRestorableTimes(current, std::move(times));
  return absl::OkStatus();
}

void ArchiveUpkeep::Describe(v1::GetStatusReply* reply) const {
  const CommitArchive* const archive = engine_.archive();
  if (archive == nullptr) return;
  const CommitArchiveStatus status = archive->Status();
  v1::ArchiveStatus* described = reply->mutable_archive();
  described->set_directory(archive->directory());
  described->set_change_sequence(status.last_change);
  described->set_commit_time_us(status.last_commit_time_us);
  described->set_lag_ms(status.lag.count());
  described->set_queued_bytes(static_cast<int64_t>(status.queued_bytes));
  described->set_gaps(status.gaps);
  if (!status.error.ok()) described->set_error(MessageOf(status.error));
  MutexLock lock(mutex_);
  if (status.error.ok() && !error_.ok()) described->set_error(MessageOf(error_));
  described->set_needs_backup(covered_chain_id_ != status.chain_id);
  described->set_oldest_change_sequence(oldest_.change_sequence());
  described->set_oldest_time_us(oldest_.begin_time_us());
  described->set_shares_disk(shares_disk_);
}

}  // namespace itemdb::storage
