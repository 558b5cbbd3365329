// Exports of tables: the operations on them, and the thread that makes them.
//
// An export is recorded in the catalog before it is answered, with the state to export. A state of the moment
// of the call is kept as a ReadView. When that view is gone, because the process ended or the store was
// reopened, or when the state is an earlier one, the database as it was then is made of a backup and the
// archive. So are both states of an incremental export: they end exactly at its times, so that nothing is
// lost between two windows. The thread makes one export after another, by the records that are IN_PROGRESS.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "itemdb/v1/backups.pb.h"
#include "itemdb/v1/exports.pb.h"
#include "storage/base/background_thread.h"
#include "storage/engine/engine.h"
#include "storage/engine/io_pool.h"
#include "storage/loading/item_source.h"

namespace itemdb::storage {

// Thread-safe.
class TableExports {
 public:
  // The state that is exported, or the one before it, whose difference an incremental export has.
  enum class State { kExported, kFrom };
  // Opens the table of `table` as it was after the commit that `table` names. Of each State one may be open.
  using OpenPointInTime = std::function<absl::StatusOr<PointInTime>(
      const v1::RestoringTable& table, State state, const Cancellation& cancellation)>;

  TableExports(Engine& engine, OpenPointInTime open_point_in_time);
  ~TableExports() { Stop(); }

  // Starts the thread that makes exports. Only once.
  void Start();
  // Wakes it, because the store was reopened. May be called before Start and after Stop.
  void Poll() { thread_.Wake(); }
  // Ends the calls, and the export that is being made, which stays IN_PROGRESS. The engine must still exist.
  void Stop();

  // These implement Database's methods of the same names. They run one after another on a thread of their
  // own, so two calls with one client token cannot both begin an export.
  void ExportTableToPointInTime(v1::ExportTableToPointInTimeRequest request,
                                Done<v1::ExportTableToPointInTimeReply> done);
  void DescribeExport(v1::DescribeExportRequest request, Done<v1::DescribeExportReply> done);
  using Shows = std::function<bool(std::string_view table_name)>;
  void ListExports(v1::ListExportsRequest request, Shows shows, Done<v1::ListExportsReply> done);

 private:
  using Time = BackgroundThread::Clock::time_point;

  template <typename Reply, typename Operation>
  void RunCall(Operation operation, Done<Reply> done);
  absl::StatusOr<v1::ExportTableToPointInTimeReply> Export(
      const v1::ExportTableToPointInTimeRequest& request);
  // The export that an earlier request with the client token of `request` has begun, if any.
  absl::StatusOr<std::optional<v1::ExportDescription>> FindReplay(
      const ReadView& view, const v1::ExportTableToPointInTimeRequest& request);
  absl::StatusOr<v1::DescribeExportReply> Describe(const v1::DescribeExportRequest& request);
  absl::StatusOr<v1::ListExportsReply> List(const v1::ListExportsRequest& request, const Shows& shows);

  void Loop();
  void ReleaseViews();
  void ReleaseView(const std::string& id);
  // The loop of watcher_.
  void ReleaseViewsOnFailure();
  // The oldest export that is IN_PROGRESS, if any.
  absl::StatusOr<std::optional<v1::StoredExport>> FindNextExport();
  // Makes all exports that are IN_PROGRESS. Returns when to try again.
  Time MakeExports();
  // Returns the description of `stored` when it is COMPLETED.
  absl::StatusOr<v1::ExportDescription> MakeExport(const v1::StoredExport& stored);
  absl::StatusOr<PointInTime> OpenSource(const v1::StoredExport& stored);
  // The state before an incremental export.
  absl::StatusOr<PointInTime> OpenFromSource(const v1::StoredExport& stored);
  absl::Status CheckExportGoesOn(bool shares_disk) const;
  absl::Status Record(const v1::StoredExport& stored, WriteSpace space);
  void DeleteExpiredExports();

  Engine& engine_;
  const OpenPointInTime open_point_in_time_;
  Cancellation cancellation_;
  Mutex mutex_;
  // By the ids of exports that are IN_PROGRESS: the states of the moments of their calls.
  using Views = std::map<std::string, std::shared_ptr<const ReadView>>;
  Views views_ ABSL_GUARDED_BY(mutex_);
  // Only of the thread: how often an export failed for a while.
  std::map<std::string, int> attempts_;
  IoPool calls_;
  BackgroundThread thread_;
  // Releases views_ when the store must be reopened, which needs that nobody uses it: thread_ may be busy
  // with an earlier state for long.
  BackgroundThread watcher_;
};

}  // namespace itemdb::storage
