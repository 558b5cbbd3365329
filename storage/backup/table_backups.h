// Backups of single tables: the operations on them, and the thread that makes them.
//
// A backup is all items of the table in one ReadView, so of one change sequence. A view of the moment of the
// call is kept for each backup that waits. When the store must be reopened, all views must go, and backups
// that are not done fail.
//
// A table with point-in-time recovery leaves a backup when it is deleted: the commit that deletes it keeps
// its items under a record in the catalog (schema/restoring_tables.h). The thread makes a SYSTEM backup of
// them and then drops them. After a crash it finds the record again.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/backup/table_backup_directory.h"
#include "storage/base/background_thread.h"
#include "storage/engine/engine.h"
#include "storage/engine/io_pool.h"
#include "storage/schema/restoring_tables.h"

namespace itemdb::storage {

// Thread-safe.
class TableBackups {
 public:
  // Whether a table can be restored to the point that `table` names: an error that can be known before.
  // Blocks for seconds, unless the file system of the archive or the backups ceases to answer meanwhile.
  using CheckPoint =
      std::function<absl::Status(const v1::RestoringTable& table, int64_t source_creation_time_ms)>;

  TableBackups(Engine& engine, CheckPoint check_point);
  ~TableBackups() { Stop(); }

  // Starts the thread that makes backups. Only once.
  void Start();
  // Wakes it, because a table may have been deleted. May be called before Start and after Stop.
  void Poll() { thread_.Wake(); }
  // Ends the calls, and the backup that is being made, of which nothing is left. The engine must still exist.
  void Stop();

  // These implement Database's methods of the same names. They run one after another on a thread of their
  // own, so that a backup is not deleted while a restore begins, and a file system that hangs holds nobody
  // else up.
  void CreateBackup(v1::CreateBackupRequest request, Done<v1::CreateBackupReply> done);
  void DescribeBackup(v1::DescribeBackupRequest request, Done<v1::DescribeBackupReply> done);
  using Shows = std::function<bool(std::string_view table_name)>;
  void ListBackups(v1::ListBackupsRequest request, Shows shows, Done<v1::ListBackupsReply> done);
  void DeleteBackup(v1::DeleteBackupRequest request, Done<v1::DeleteBackupReply> done);
  // The caller wakes TableRestores after it.
  void RestoreTableFromBackup(v1::RestoreTableFromBackupRequest request,
                              Done<v1::RestoreTableFromBackupReply> done);

  // The same. The items come from another source than OpenSource.
  void RestoreTableToPointInTime(v1::RestoreTableToPointInTimeRequest request,
                                 Done<v1::RestoreTableToPointInTimeReply> done);

  absl::StatusOr<std::unique_ptr<ItemSource>> OpenSource(const v1::RestoringTable& table);

 private:
  // A backup that is being made or waits for it.
  struct Job {
    v1::TableBackup backup;
    std::shared_ptr<const ReadView> view;
    std::shared_ptr<const Table> table;
    // Waits for the backup. Null: was answered.
    std::optional<Done<v1::CreateBackupReply>> done;
  };
  using Time = BackgroundThread::Clock::time_point;

  // The directory, which is made if it does not exist. Errors as TableBackupDirectory::Open.
  absl::StatusOr<std::shared_ptr<TableBackupDirectory>> OpenDirectory();
  // Null: it does not exist, so there are no backups.
  absl::StatusOr<std::shared_ptr<TableBackupDirectory>> FindDirectory();

  template <typename Reply, typename Operation>
  void RunCall(IoPool& pool, Operation operation, Done<Reply> done);
  absl::Status Create(const v1::CreateBackupRequest& request, Done<v1::CreateBackupReply>* done);
  absl::StatusOr<v1::DescribeBackupReply> Describe(const v1::DescribeBackupRequest& request);
  absl::StatusOr<v1::ListBackupsReply> List(const v1::ListBackupsRequest& request, const Shows& shows);
  absl::StatusOr<v1::DeleteBackupReply> Delete(const v1::DeleteBackupRequest& request);
  absl::StatusOr<v1::RestoreTableFromBackupReply> Restore(const v1::RestoreTableFromBackupRequest& request);
  absl::StatusOr<v1::RestoreTableToPointInTimeReply> RestoreToPoint(
      const v1::RestoreTableToPointInTimeRequest& request);
  // The backups that are not done yet.
  absl::StatusOr<std::vector<v1::TableBackup>> Unfinished();

  void Loop();
  // The first of jobs_; null when there is none.
  std::shared_ptr<Job> NextJob();
  void RunJob(const std::shared_ptr<Job>& job);
  // Makes the backups of deleted tables. Returns when to try again.
  Time BackUpDeletedTables();
  absl::Status BackUpDeletedTable(const v1::DeletedTable& deleted);
  // Writes the items of `table` in `view`.
  absl::Status WriteBackup(const std::shared_ptr<const ReadView>& view, const Table& table,
                           const v1::TableBackup& backup);
  void DeleteExpired();

  Engine& engine_;
  const CheckPoint check_point_;
  Cancellation cancellation_;
  // Held while the directory is opened, which only one may do.
  Mutex opening_mutex_;
  std::shared_ptr<TableBackupDirectory> directory_ ABSL_GUARDED_BY(opening_mutex_);
  Mutex mutex_;
  // The first is being made.
  std::deque<std::shared_ptr<Job>> jobs_ ABSL_GUARDED_BY(mutex_);
  IoPool calls_;
  // Of restores to a point in time. Their calls read the archive, whose file system may not answer.
  IoPool point_calls_;
  BackgroundThread thread_;
};

}  // namespace itemdb::storage
