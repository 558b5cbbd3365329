#include "storage/backup/backup_calls.h"

#include <utility>

#include "storage/backup/backup_operations.h"

namespace itemdb::storage {
namespace {

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

}  // namespace

void CreateDatabaseBackup(Engine& engine, Done<v1::DatabaseBackup> done, CancellationPtr cancellation) {
  RunAlone<v1::DatabaseBackup>(
      engine,
      [&engine, cancellation = std::move(cancellation)] { return CreateBackup(engine, cancellation.get()); },
      std::move(done));
}

void ListDatabaseBackups(Engine& engine, const v1::ListDatabaseBackupsRequest& request,
                         Done<v1::ListDatabaseBackupsReply> done) {
  RunAlone<v1::ListDatabaseBackupsReply>(
      engine,
      [&engine, id = request.describe_backup_id()] {
        return id != 0 ? DescribeDatabaseBackup(engine, id) : ListBackups(engine);
      },
      std::move(done));
}

void VerifyDatabaseBackup(Engine& engine, const v1::VerifyDatabaseBackupRequest& request,
                          ProveBackupFunction prove, Done<v1::DatabaseBackup> done,
                          CancellationPtr cancellation) {
  RunAlone<v1::DatabaseBackup>(
      engine,
      [&engine, id = request.backup_id(), by_restoring = request.by_restoring(), prove = std::move(prove),
       cancellation = std::move(cancellation)] {
        return by_restoring ? prove(engine, id, cancellation) : VerifyBackup(engine, id, cancellation.get());
      },
      std::move(done));
}

void DeleteDatabaseBackups(Engine& engine, const v1::DeleteDatabaseBackupsRequest& request,
                           Done<v1::DeleteDatabaseBackupsReply> done) {
  const int given =
      (request.backup_id() != 0) + (request.keep_newest() != 0) + (request.begun_before_us() != 0);
  if (given != 1 || request.begun_before_us() < 0) {
    return std::move(done)(ValidationError(
        "one of backup_id, keep_newest and begun_before_us must be given, and be at least 1"));
  }
  RunAlone<v1::DeleteDatabaseBackupsReply>(
      engine, [&engine, request] { return DeleteBackups(engine, request); }, std::move(done));
}

}  // namespace itemdb::storage
