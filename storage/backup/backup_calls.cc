#include "storage/backup/backup_calls.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "storage/backup/backup_directory.h"
#include "storage/base/wall_clock.h"

namespace itemdb::storage {
namespace {

std::string DirectoryOf(const Engine& engine) {
  const DatabaseOptions& options = engine.options();
  return options.backup_directory.empty() ? options.data_directory + "/backups" : options.backup_directory;
}

absl::StatusOr<BackupDirectory> OpenDirectoryOf(const Engine& engine) {
  return BackupDirectory::Open(engine.env(), DirectoryOf(engine), engine.options().backup_bytes_per_second);
}

// Runs `operation` on an I/O thread if no other call about backups runs.
template <typename Reply, typename Operation>
void RunAlone(Engine& engine, Operation operation, Done<Reply> done) {
  if (!engine.TryBeginBackupCall()) {
    return std::move(done)(MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                                     "another call about backups is running; try again when it is done",
                                     1000));
  }
  auto shared_done = std::make_shared<Done<Reply>>(std::move(done));
  IoPool::Task task = [&engine, operation = std::move(operation), shared_done]() mutable {
    absl::StatusOr<Reply> reply = operation();
    engine.EndBackupCall();
    std::move (*shared_done)(std::move(reply));
  };
  if (engine.io().Submit(task, IoPriority::kLong)) return;
  engine.EndBackupCall();
  std::move (*shared_done)(IoPoolFullError());
}

absl::StatusOr<v1::DatabaseBackup> Create(Engine& engine, const Cancellation* cancellation) {
  ITEMDB_ASSIGN_OR_RETURN(BackupDirectory directory, OpenDirectoryOf(engine));
  v1::DatabaseBackup about;
  about.set_database_id(engine.database_id());
  about.set_begin_time_us(NowMicros());
  // With relaxed durability too, what was answered so far is in the backup.
  ITEMDB_RETURN_IF_ERROR(engine.SyncNow());
  about.set_change_sequence(engine.durable_sequence());
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine.View());
  about.set_table_count(static_cast<int64_t>(view->catalog().size()));
  const auto stops = [&] {
    return engine.IsFailed() || (cancellation != nullptr && !cancellation->Check().ok());
  };
  absl::StatusOr<v1::DatabaseBackup> backup = directory.Create(*view->store(), about, stops);
  if (backup.ok()) {
    engine.options().log->info("backup made backup_id={} change_sequence={} files={} bytes={} seconds={:.1f}",
                               backup->backup_id(), backup->change_sequence(), backup->file_count(),
                               backup->size_bytes(),
                               static_cast<double>(NowMicros() - backup->begin_time_us()) / 1e6);
    return backup;
  }
  engine.options().log->error("backup failed error=\"{}\"", MessageOf(backup.status()));
  if (engine.IsFailed()) {
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                     "no backup was made: the database is reopening after a failed write", 1000);
  }
  if (cancellation != nullptr) ITEMDB_RETURN_IF_ERROR(cancellation->Check());
  return backup;
}

absl::StatusOr<v1::ListDatabaseBackupsReply> List(const Engine& engine) {
  ITEMDB_ASSIGN_OR_RETURN(BackupDirectory directory, OpenDirectoryOf(engine));
  v1::ListDatabaseBackupsReply reply;
  reply.set_directory(DirectoryOf(engine));
  for (v1::DatabaseBackup& backup : directory.List()) *reply.add_backups() = std::move(backup);
  for (const uint32_t id : directory.Damaged()) reply.add_damaged_backup_ids(id);
  return reply;
}

absl::StatusOr<v1::DatabaseBackup> Verify(const Engine& engine, uint32_t backup_id) {
  ITEMDB_ASSIGN_OR_RETURN(BackupDirectory directory, OpenDirectoryOf(engine));
  ITEMDB_ASSIGN_OR_RETURN(v1::DatabaseBackup backup, directory.Find(backup_id));
  ITEMDB_RETURN_IF_ERROR(directory.Verify(backup));
  return backup;
}

absl::StatusOr<v1::DeleteDatabaseBackupsReply> Delete(const Engine& engine,
                                                      const v1::DeleteDatabaseBackupsRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(BackupDirectory directory, OpenDirectoryOf(engine));
  std::vector<uint32_t> ids;
  if (request.backup_id() != 0) {
    ids.push_back(request.backup_id());
  } else {
    for (const v1::DatabaseBackup& backup : directory.List()) ids.push_back(backup.backup_id());
    ids.resize(ids.size() - std::min<size_t>(ids.size(), request.keep_newest()));
  }
  v1::DeleteDatabaseBackupsReply reply;
  for (const uint32_t id : ids) {
    ITEMDB_RETURN_IF_ERROR(directory.Delete(id));
    engine.options().log->info("backup deleted backup_id={}", id);
    reply.add_deleted_backup_ids(id);
  }
  return reply;
}

}  // namespace

void CreateDatabaseBackup(Engine& engine, Done<v1::DatabaseBackup> done, CancellationPtr cancellation) {
  RunAlone<v1::DatabaseBackup>(
      engine,
      [&engine, cancellation = std::move(cancellation)] { return Create(engine, cancellation.get()); },
      std::move(done));
}

void ListDatabaseBackups(Engine& engine, Done<v1::ListDatabaseBackupsReply> done) {
  RunAlone<v1::ListDatabaseBackupsReply>(
      engine, [&engine] { return List(engine); }, std::move(done));
}

void VerifyDatabaseBackup(Engine& engine, const v1::VerifyDatabaseBackupRequest& request,
                          Done<v1::DatabaseBackup> done) {
  RunAlone<v1::DatabaseBackup>(
      engine, [&engine, id = request.backup_id()] { return Verify(engine, id); }, std::move(done));
}

void DeleteDatabaseBackups(Engine& engine, const v1::DeleteDatabaseBackupsRequest& request,
                           Done<v1::DeleteDatabaseBackupsReply> done) {
  if ((request.backup_id() == 0) == (request.keep_newest() == 0)) {
    return std::move(done)(
        ValidationError("one of backup_id and keep_newest must be given, and be at least 1"));
  }
  RunAlone<v1::DeleteDatabaseBackupsReply>(
      engine, [&engine, request] { return Delete(engine, request); }, std::move(done));
}

}  // namespace itemdb::storage
