#include "storage/backup/backup_operations.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "storage/backup/backup_directory.h"
#include "storage/backup/backup_notes.h"
#include "storage/backup/proof_record.h"
#include "storage/base/background_thread.h"
#include "storage/base/wall_clock.h"
#include "storage/store/table_sizes.h"

namespace itemdb::storage {
namespace {

// Times of files may be so much older than the clock.
constexpr int64_t kFileTimeErrorUs = 10'000;
// No backup takes longer, if nothing bounds its bytes per second.
constexpr int64_t kLongestBackupUs = int64_t{10} * 60 * 1'000'000;
constexpr int64_t kSlowestBytesPerSecond = 1'000'000;
// How often a call that cannot be asked looks whether its caller has left.
constexpr std::chrono::milliseconds kCancellationInterval(50);

absl::StatusOr<BackupDirectory> OpenDirectoryOf(const Engine& engine) {
  return BackupDirectory::Open(engine.environment(), BackupDirectoryOf(engine),
                               engine.options().backup_bytes_per_second);
}

// For reading only. NOT_FOUND: there is no directory with backups.
absl::StatusOr<BackupDirectory> ReadDirectoryOf(const Engine& engine) {
  ITEMDB_RETURN_IF_ERROR(CheckEncryption(BackupDirectoryOf(engine), engine.environment().keys()));
  return BackupDirectory::OpenReadOnly({.backups = engine.env(), .database = engine.env()},
                                       BackupDirectoryOf(engine));
}

// RocksDB looks at its table files first and at its log later. Files that an index build or a restore adds in
// between would be missing, while the log says that the index has them: then the backup is deleted and made
// again.
// Files count as added in between also when adding them began before the backup. An index or table becomes
// ACTIVE after its files were added, so a backup that ends before that does not have it as ACTIVE.
absl::StatusOr<v1::DatabaseBackup> CreateWithoutIngestions(BackupDirectory& directory, const Store& store,
                                                           const v1::DatabaseBackup& about,
                                                           const std::function<bool()>& stops,
                                                           int64_t* resumed_bytes) {
  constexpr int kAttempts = 5;
  for (int i = 0; i < kAttempts; ++i) {
    const int64_t before = store.ingestion_steps();
    ITEMDB_ASSIGN_OR_RETURN(v1::DatabaseBackup backup, directory.Create(store, about, stops, resumed_bytes));
    if (store.ingestion_steps() == before) return backup;
    ITEMDB_RETURN_IF_ERROR(directory.Delete(backup.backup_id()));
  }
  return MakeError(
      absl::StatusCode::kUnavailable, kReasonUnavailable,
      "no backup was made: an index is being built or a table restored; try again when that is done", 1000);
}

}  // namespace

std::string BackupDirectoryOf(const Engine& engine) {
  const DatabaseOptions& options = engine.options();
  return options.backup_directory.empty() ? options.data_directory + "/backups" : options.backup_directory;
}

std::string ScheduledProofFolderOf(const Engine& engine) {
  return BackupDirectoryOf(engine) + "/proof-" + engine.database_id();
}

bool IsOnTheDiskOfTheData(const Engine& engine, const std::string& directory) {
  struct stat other = {};
  struct stat data = {};
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(directory, error);
  if (error) return false;
  while (stat(path.c_str(), &other) != 0) {
    if (errno != ENOENT || !path.has_relative_path()) return false;
    path = path.parent_path();
  }
  return stat(engine.options().data_directory.c_str(), &data) == 0 && other.st_dev == data.st_dev;
}

bool IsOnTheDiskOfTheData(const Engine& engine) {
  return IsOnTheDiskOfTheData(engine, BackupDirectoryOf(engine));
}

absl::Status CheckGoesOn(const Engine& engine, const Cancellation* cancellation, bool shares_disk) {
  if (engine.IsFailed()) {
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                     "no backup was made: the database is reopening after a failed write", 1000);
  }
  if (shares_disk) ITEMDB_RETURN_IF_ERROR(engine.disk_space().CheckNow());
  return cancellation == nullptr ? absl::OkStatus() : cancellation->Check();
}

int64_t BackupClockMicros(Engine& engine) { return engine.time_of_day().NowMicros(); }

absl::StatusOr<v1::DatabaseBackup> CreateBackup(Engine& engine, const Cancellation* cancellation,
                                                bool for_archive) {
  ITEMDB_ASSIGN_OR_RETURN(BackupDirectory directory, OpenDirectoryOf(engine));
  const bool shares_disk = IsOnTheDiskOfTheData(engine);
  if (absl::Status begins = CheckGoesOn(engine, cancellation, shares_disk); !begins.ok()) {
    if (absl::IsResourceExhausted(begins)) directory.DeleteUnfinished();
    return begins;
  }
  v1::DatabaseBackup about;
  about.set_database_id(engine.database_id());
  about.set_begin_time_us(BackupClockMicros(engine));
  // With relaxed durability too, what was answered so far is in the backup.
  ITEMDB_RETURN_IF_ERROR(engine.SyncNow());
  about.set_change_sequence(engine.durable_sequence());
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine.View());
  about.set_table_count(static_cast<int64_t>(view->catalog().size()));
  BackupNotes notes{.tables = DescribeTableSizes(*view, engine.size_statistics())};
  about.set_for_archive(for_archive);
  const auto chain_id = [&] { return engine.archive() == nullptr ? 0 : engine.archive()->Status().chain_id; };
  const uint64_t chain = chain_id();
  about.set_store_sequence(view->store()->db()->GetLatestSequenceNumber());
  // Otherwise nobody knows which of them has the groups behind that sequence.
  if (chain_id() == chain) about.set_archive_chain_id(chain);
  const auto stops = [&] { return !CheckGoesOn(engine, cancellation, shares_disk).ok(); };
  int64_t resumed_bytes = 0;
  absl::StatusOr<v1::DatabaseBackup> backup =
      CreateWithoutIngestions(directory, *view->store(), about, stops, &resumed_bytes);
  if (!backup.ok()) {
    engine.options().log->error("backup failed error={}", MessageOf(backup.status()));
    absl::Status why = backup.status();
    if (absl::IsCancelled(why)) {
      const absl::Status stopped = CheckGoesOn(engine, cancellation, shares_disk);
      if (!stopped.ok()) why = stopped;
    }
    // A full disk needs the space of what was copied. Otherwise the next backup goes on with it.
    if (absl::IsResourceExhausted(why)) directory.DeleteUnfinished();
    return why;
  }
  notes.end_time_us = std::max(backup->begin_time_us(), BackupClockMicros(engine));
  const absl::Status noted = WriteBackupNotes(engine.env(), BackupDirectoryOf(engine), *backup, notes);
  // The time of its description says it too, until the directory is copied.
  if (!noted.ok()) engine.options().log->warn("{}", MessageOf(noted));
  engine.options().log->info(
      "backup made backup_id={} change_sequence={} files={} bytes={} resumed_bytes={} seconds={:.1f}",
      backup->backup_id(), backup->change_sequence(), backup->file_count(), backup->size_bytes(),
      resumed_bytes, static_cast<double>(BackupClockMicros(engine) - backup->begin_time_us()) / 1e6);
  return backup;
}

absl::StatusOr<v1::ListDatabaseBackupsReply> ListBackups(const Engine& engine) {
  v1::ListDatabaseBackupsReply reply;
  reply.set_directory(BackupDirectoryOf(engine));
  const absl::StatusOr<BackupDirectory> directory = ReadDirectoryOf(engine);
  if (absl::IsNotFound(directory.status())) return reply;
  ITEMDB_RETURN_IF_ERROR(directory.status());
  for (v1::DatabaseBackup& backup : directory->List()) *reply.add_backups() = std::move(backup);
  for (const uint32_t id : directory->Damaged()) reply.add_damaged_backup_ids(id);
  return reply;
}

absl::StatusOr<v1::ListDatabaseBackupsReply> DescribeDatabaseBackup(const Engine& engine,
                                                                    uint32_t backup_id) {
  const std::string path = BackupDirectoryOf(engine);
  v1::ListDatabaseBackupsReply reply;
  reply.set_directory(path);
  ITEMDB_ASSIGN_OR_RETURN(const BackupDirectory directory, ReadDirectoryOf(engine));
  ITEMDB_ASSIGN_OR_RETURN(const v1::DatabaseBackup backup, directory.Find(backup_id));
  *reply.add_backups() = backup;
  v1::DatabaseBackupDetails* details = reply.mutable_details();
  const BackupDirectory::SharedFiles shared = directory.SharedFilesOf(backup);
  details->set_shared_bytes(shared.bytes);
  details->set_shared_file_count(shared.count);
  details->set_encrypted(IsEncrypted(path));
  // A proof of before proofs were noted with each backup.
  const std::optional<ProofRecord> proof = ReadProof(engine.env(), path);
  if (proof.has_value() && proof->backup_id == backup_id && proof->begin_time_us == backup.begin_time_us())
    details->set_proven_time_us(proof->proven_time_us);
  std::optional<BackupNotes> notes = ReadBackupNotes(engine.env(), path, backup);
  if (!notes.has_value()) return reply;
  details->set_end_time_us(notes->end_time_us);
  details->set_verified_time_us(notes->verified_time_us);
  details->set_proven_time_us(std::max(details->proven_time_us(), notes->proven_time_us));
  if (details->proven_time_us() <= notes->damaged_time_us) details->clear_proven_time_us();
  details->set_knows_tables(notes->tables.has_value());
  if (notes->tables.has_value())
    for (v1::TableStatistics& table : *notes->tables) *details->add_tables() = std::move(table);
  return reply;
}

int64_t LastVerifiedMicros(const Engine& engine, const v1::ListDatabaseBackupsReply& backups) {
  int64_t last_us = 0;
  for (const v1::DatabaseBackup& backup : backups.backups()) {
    const std::optional<BackupNotes> notes = ReadBackupNotes(engine.env(), BackupDirectoryOf(engine), backup);
    if (notes.has_value()) last_us = std::max(last_us, notes->verified_time_us);
  }
  return last_us;
}

absl::Status NoteProof(Engine& engine, const v1::DatabaseBackup& backup, int64_t proven_time_us) {
  const std::string path = BackupDirectoryOf(engine);
  ITEMDB_RETURN_IF_ERROR(WriteProof(engine.env(), path,
                                    {.backup_id = backup.backup_id(),
                                     .begin_time_us = backup.begin_time_us(),
                                     .proven_time_us = proven_time_us}));
  std::optional<BackupNotes> notes = ReadBackupNotes(engine.env(), path, backup);
  if (!notes.has_value()) return absl::OkStatus();
  notes->proven_time_us = proven_time_us;
  notes->damaged_time_us = 0;
  return WriteBackupNotes(engine.env(), path, backup, *notes);
}

void NoteDamage(Engine& engine, const v1::DatabaseBackup& backup) {
  const std::string path = BackupDirectoryOf(engine);
  std::optional<BackupNotes> notes = ReadBackupNotes(engine.env(), path, backup);
  if (!notes.has_value()) return;
  notes->verified_time_us = 0;
  notes->proven_time_us = 0;
  notes->damaged_time_us = BackupClockMicros(engine);
  const absl::Status noted = WriteBackupNotes(engine.env(), path, backup, *notes);
  // The backup is damaged all the same.
  if (!noted.ok()) engine.options().log->warn("{}", MessageOf(noted));
}

int64_t BackupEndMicros(Engine& engine, const v1::DatabaseBackup& backup, int64_t next_begin_us) {
  if (const auto notes = ReadBackupNotes(engine.env(), BackupDirectoryOf(engine), backup); notes.has_value())
    return notes->end_time_us;
  // BackupEngine writes its description last. A copy of it may be younger than the backup, by days: the
  // backup was done before the next one began, because one at a time is made, and did not take longer than
  // the slowest. If it did, a restore to the time between finds that out later, and says so.
  const std::string path = BackupDirectoryOf(engine) + "/meta/" + std::to_string(backup.backup_id());
  struct stat description = {};
  if (stat(path.c_str(), &description) != 0) return INT64_MAX;
  const int64_t written_us =
      int64_t{description.st_mtim.tv_sec} * 1'000'000 + description.st_mtim.tv_nsec / 1'000;
  const int64_t bound = engine.options().backup_bytes_per_second;
  const int64_t bytes_per_second =
      bound == 0 ? kSlowestBytesPerSecond : std::min(bound, kSlowestBytesPerSecond);
  const int64_t slowest_us =
      kLongestBackupUs + static_cast<int64_t>(static_cast<double>(backup.size_bytes()) /
                                              static_cast<double>(bytes_per_second) * 1e6);
  const int64_t at_most_us =
      std::min({next_begin_us, BackupClockMicros(engine), backup.begin_time_us() + slowest_us});
  return std::max(backup.begin_time_us(), std::min(written_us + kFileTimeErrorUs, at_most_us));
}

void DescribeProof(const Engine& engine, v1::GetStatusReply* reply) {
  const std::optional<ProofRecord> proof = ReadProof(engine.env(), BackupDirectoryOf(engine));
  if (!proof.has_value()) return;
  reply->mutable_proven_backup()->set_backup_id(proof->backup_id);
  reply->mutable_proven_backup()->set_begin_time_us(proof->begin_time_us);
  reply->mutable_proven_backup()->set_proven_time_us(proof->proven_time_us);
}

void LogProof(Engine& engine) {
  const std::string directory = BackupDirectoryOf(engine);
  const common::Log& log = engine.options().log;
  const std::optional<ProofRecord> proof = ReadProof(engine.env(), directory);
  if (!proof.has_value()) {
    const absl::StatusOr<v1::ListDatabaseBackupsReply> listed = ListBackups(engine);
    if (listed.ok() && listed->backups_size() > 0)
      log->warn("no backup was ever proven directory={} backups={}", directory, listed->backups_size());
    return;
  }
  const auto time = [](int64_t time_us) {
    return absl::FormatTime(absl::FromUnixMicros(time_us), absl::UTCTimeZone());
  };
  const auto hours = [now = BackupClockMicros(engine)](int64_t time_us) {
    return static_cast<double>(now - time_us) / 3.6e9;
  };
  log->info(
      "last proven backup backup_id={} made_at={} proven_at={} age_hours={:.1f} proven_hours_ago={:.1f}",
      proof->backup_id, time(proof->begin_time_us), time(proof->proven_time_us), hours(proof->begin_time_us),
      hours(proof->proven_time_us));
}

void DescribePlaces(const Engine& engine, v1::GetStatusReply* reply) {
  v1::BackupPlaces* places = reply->mutable_backup_places();
  places->set_backup_directory(BackupDirectoryOf(engine));
  places->set_shares_disk(IsOnTheDiskOfTheData(engine));
}

absl::StatusOr<v1::DatabaseBackup> VerifyBackup(Engine& engine, uint32_t backup_id,
                                                const Cancellation* cancellation) {
  ITEMDB_ASSIGN_OR_RETURN(BackupDirectory directory, OpenDirectoryOf(engine));
  ITEMDB_ASSIGN_OR_RETURN(v1::DatabaseBackup backup, directory.Find(backup_id));
  // RocksDB asks nobody while it reads.
  BackgroundThread watcher;
  watcher.Start([&] {
    while (watcher.WaitFor(kCancellationInterval))
      if (cancellation != nullptr && !cancellation->Check().ok()) return directory.Stop();
  });
  const absl::Status verified = directory.Verify(backup);
  watcher.Stop();
  if (absl::IsCancelled(verified) && cancellation != nullptr) ITEMDB_RETURN_IF_ERROR(cancellation->Check());
  if (absl::IsDataLoss(verified)) NoteDamage(engine, backup);
  ITEMDB_RETURN_IF_ERROR(verified);
  if (auto notes = ReadBackupNotes(engine.env(), BackupDirectoryOf(engine), backup); notes.has_value()) {
    notes->verified_time_us = BackupClockMicros(engine);
    notes->damaged_time_us = 0;
    const absl::Status noted = WriteBackupNotes(engine.env(), BackupDirectoryOf(engine), backup, *notes);
    // The backup is whole all the same.
    if (!noted.ok()) engine.options().log->warn("{}", MessageOf(noted));
  }
  return backup;
}

absl::StatusOr<v1::DeleteDatabaseBackupsReply> DeleteBackups(
    const Engine& engine, const v1::DeleteDatabaseBackupsRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(BackupDirectory directory, OpenDirectoryOf(engine));
  std::vector<v1::DatabaseBackup> goes;
  if (request.backup_id() != 0) {
    ITEMDB_ASSIGN_OR_RETURN(goes.emplace_back(), directory.Find(request.backup_id()));
  } else {
    goes = directory.List();
    std::erase_if(goes, [](const v1::DatabaseBackup& backup) { return backup.for_archive(); });
    const size_t stay = request.keep_newest() != 0 ? request.keep_newest() : 1;
    goes.resize(goes.size() - std::min(goes.size(), stay));
    if (request.begun_before_us() != 0) {
      std::erase_if(goes, [&](const v1::DatabaseBackup& backup) {
        return backup.begin_time_us() >= request.begun_before_us();
      });
    }
  }
  v1::DeleteDatabaseBackupsReply reply;
  for (const v1::DatabaseBackup& backup : goes) {
    ITEMDB_RETURN_IF_ERROR(directory.CheckOwner(engine.database_id(), backup));
    ITEMDB_RETURN_IF_ERROR(directory.Delete(backup.backup_id()));
    DeleteBackupNotes(engine.env(), BackupDirectoryOf(engine), backup.backup_id());
    engine.options().log->info("backup deleted backup_id={}", backup.backup_id());
    reply.add_deleted_backup_ids(backup.backup_id());
  }
  // Whoever deletes backups wants their space, or has a new encryption key.
  directory.DeleteUnfinished();
  return reply;
}

}  // namespace itemdb::storage
