// Bulk puts: the operations on them, and the thread that makes them (BLK-01 to BLK-11).
//
//   1. StartBulkPutItems puts a record of the operation into the catalog, IN_PROGRESS.
//   2. The thread makes one operation after another. It lists the objects and stores the list. Then each
//   commit
//      has the puts of some lines and how far the operation is (bulk_commit.h). After a crash the next start
//      goes on after the last line that was put.
//   3. The report is written to the output bucket, one commit records the end, and others delete the rest.
//
// CancelBulkOperation writes a record of its own, which the thread looks for before each commit. So only the
// thread writes the record of the operation after its begin.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "itemdb/v1/bulk_puts.pb.h"
#include "storage/api/replies.h"
#include "storage/base/background_thread.h"
#include "storage/base/cancellation.h"
#include "storage/bulk_puts/bulk_run.h"
#include "storage/engine/engine.h"
#include "storage/engine/io_pool.h"

namespace itemdb::storage {

// Thread-safe.
class BulkPuts {
 public:
  explicit BulkPuts(Engine& engine);
  ~BulkPuts() { Stop(); }

  // Starts the thread that makes operations. Only once.
  void Start();
  // Wakes it, because the store was reopened. May be called before Start and after Stop.
  void Poll() { thread_.Wake(); }
  // Ends the calls, and the operation that is being made, which stays IN_PROGRESS. The engine must still
  // exist.
  void Stop();

  // These implement Database's methods of the same names. The first two run one after another on a thread of
  // their own, so two calls with one client token cannot both begin an operation.
  void StartBulkPutItems(v1::StartBulkPutItemsRequest request, Done<v1::StartBulkPutItemsReply> done);
  void CancelBulkOperation(v1::CancelBulkOperationRequest request, Done<v1::CancelBulkOperationReply> done);
  absl::StatusOr<v1::DescribeBulkOperationReply> DescribeBulkOperation(
      const v1::DescribeBulkOperationRequest& request);
  absl::StatusOr<v1::ListBulkOperationsReply> ListBulkOperations(
      const v1::ListBulkOperationsRequest& request,
      const std::function<bool(std::string_view table_name)>& shows);

 private:
  using Time = BackgroundThread::Clock::time_point;

  template <typename Reply, typename Operation>
  void RunCall(Operation operation, Done<Reply> done);
  absl::StatusOr<v1::StartBulkPutItemsReply> Begin(v1::StartBulkPutItemsRequest request);
  absl::StatusOr<v1::CancelBulkOperationReply> Cancel(const v1::CancelBulkOperationRequest& request);
  // The operation of this ARN with its progress. NOT_FOUND, INVALID_ARGUMENT, PERMISSION_DENIED (BLK-09).
  absl::StatusOr<v1::BulkOperationDescription> FindShown(const ReadView& view, const std::string& arn) const;
  // Adds what was done until now to an operation that has not ended.
  absl::Status AddProgress(const ReadView& view, v1::BulkOperationDescription* description) const;
  // The operation that an earlier request with the same client token has begun, if any.
  absl::StatusOr<std::optional<v1::BulkOperationDescription>> FindReplay(
      const ReadView& view, const v1::StartBulkPutItemsRequest& checked) const;
  absl::Status CheckRoom(const ReadView& view) const;
  bool IsExpired(const v1::BulkOperationDescription& description) const;
  // Deletes the records of expired operations.
  void DeleteExpired();

  void Loop();
  // Makes all operations. Returns when to try again.
  Time MakeAll();
  // An operation that has not ended, the oldest first; or one that has ended whose other records are left.
  absl::StatusOr<std::optional<v1::StoredBulkOperation>> FindNext();
  absl::Status Make(const v1::StoredBulkOperation& stored);
  // Writes the report and records the end.
  absl::Status Finish(v1::StoredBulkOperation stored, BulkOutcome outcome);
  // Deletes what an operation that has ended has left.
  absl::Status DeleteWork(const std::string& id);

  Engine& engine_;
  Cancellation cancellation_;
  // Only of the thread: why no operation goes on, empty if they do.
  std::string paused_reason_;
  // The same: how often the report of the operation failed.
  int report_attempts_ = 0;
  // The same: failures of its buckets since its last commit.
  int bucket_failures_ = 0;
  IoPool calls_;
  BackgroundThread thread_;
};

}  // namespace itemdb::storage
