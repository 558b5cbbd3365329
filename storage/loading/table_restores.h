// The thread that makes tables of stored items, one after another.
//
//   1. BeginRestore or BeginTable: one commit puts a record of the new table into the catalog
//   (schema/restoring_tables.h).
//      From here on its name is taken, and DescribeTable shows it, CREATING.
//   2. An attempt: one commit gives the table and its indexes new storage ids, and drops those of the attempt
//      before, of which nobody knows what was stored. LoadTable writes all records.
//   3. One commit deletes the record and puts the table into the catalog, ACTIVE, with its size statistics.
//   It
//      is refused if the store was reopened since 2.
//
// After a crash the next start finds the record and begins at 2 again. An attempt that failed because of the
// store is repeated; after any other error, or five attempts, one commit deletes the record and drops the
// storage ids. So a table is either whole or not there.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "storage/base/background_thread.h"
#include "storage/engine/engine.h"
#include "storage/loading/item_source.h"
#include "storage/schema/restoring_tables.h"

namespace itemdb::storage {

// Step 1. `table` is the definition of the new table, without storage ids, table id, creation time and
// status, and with a restore_summary. Returns the definition as DescribeTable will show it. Blocks; not on
// the DDL thread.
//
// ALREADY_EXISTS (TABLE_ALREADY_EXISTS): there is a table of this name (PIT-09). FAILED_PRECONDITION: the
// table is being restored (TABLE_IN_USE), or another table from the same backup (BACKUP_IN_USE, BAK-17).
// RESOURCE_EXHAUSTED (LIMIT_EXCEEDED): too many tables are being restored, or exist.
absl::StatusOr<v1::TableDescription> BeginRestore(Engine& engine, v1::RestoringTable table);

// The same for a table that is made of something else: `table` has no restore_summary, `check` decides
// instead of the checks above, and `append` adds to the commit. Both are called with the finished definition.
absl::StatusOr<v1::TableDescription> BeginTable(
    Engine& engine, v1::RestoringTable table, absl::FunctionRef<absl::Status(const ReadView& view)> check,
    absl::FunctionRef<void(const v1::RestoringTable& table, CommitGroup& group)> append);

// The description of a table that is being restored, without its progress.
v1::TableDescription DescribeRestoringTable(const v1::RestoringTable& table);

// Thread-safe.
class TableRestores {
 public:
  // Opens the source that `table` names. Called on the thread. What waits must end with `cancellation`.
  using OpenSource = std::function<absl::StatusOr<std::unique_ptr<ItemSource>>(
      const v1::RestoringTable& table, const Cancellation& cancellation)>;

  // Called before the commit that gives a table up because of `error`, returns what appends to it. Its
  // sources do so for the commit that shows it. After an error the table is not given up now: it is tried
  // again.
  using PrepareFailure = std::function<absl::StatusOr<std::function<void(CommitGroup& group)>>(
      const v1::RestoringTable& table, const absl::Status& error)>;

  TableRestores(Engine& engine, OpenSource open_source, PrepareFailure prepare_failure);
  ~TableRestores() { Stop(); }

  // Starts the thread. Only once.
  void Start();
  // Wakes the thread, because a table may have to be restored. May be called before Start and after Stop.
  void Poll() { thread_.Wake(); }
  // Ends the current attempt, which begins anew at the next start. The engine must still exist.
  void Stop();

  // Where sources may keep files while a table is made. It exists while a source is opened and read; what is
  // left in it is deleted.
  const std::string& directory() const { return directory_; }

  // `not_found`, which says that the table `name` does not exist, and behind it why a restore has removed it
  // since the start, if one did: that is in no reply otherwise.
  absl::Status ExplainMissing(std::string_view name, absl::Status not_found) const;

  // Adds the progress to the restore_summary of `table`, if it has one.
  void Describe(v1::TableDescription* table) const;

 private:
  using Time = BackgroundThread::Clock::time_point;

  void Loop();
  // Runs an attempt for each table. Returns when to try again.
  Time RestoreAll();
  // Steps 2 and 3.
  absl::Status Restore(v1::RestoringTable table);
  // Gives a table up.
  absl::Status Undo(const std::string& name, const absl::Status& error);
  void RemoveFiles();

  Engine& engine_;
  const OpenSource open_source_;
  const PrepareFailure prepare_failure_;
  const std::string directory_;
  const std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
  // Only for the thread: failed attempts, by table name.
  std::map<std::string, int> failures_;
  std::atomic<int64_t> items_done_ = 0;
  mutable Mutex mutex_;
  // The table that is being restored now; empty for none.
  std::string current_ ABSL_GUARDED_BY(mutex_);
  // Why tables were removed, by name, and when, in microseconds since the Unix epoch.
  struct Removed {
    std::string error;
    int64_t time_us = 0;
  };
  std::map<std::string, Removed, std::less<>> removed_ ABSL_GUARDED_BY(mutex_);
  BackgroundThread thread_;
};

}  // namespace itemdb::storage
