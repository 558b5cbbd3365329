// The client of one itemdb daemon: typed requests and absl::StatusOr results. This header includes nothing of
// gRPC or protobuf.
//
//   absl::StatusOr<Client> client = Client::Open({.endpoint = "127.0.0.1:7420"});
//   if (!client.ok()) return client.status();
//   absl::StatusOr<GetItemResult> got = client->GetItem(
//       {.table_name = "Product", .key = {{"product_id", "prod_100"}, {"warehouse_id", "wh_sea"}}});
//   if (got.ok() && got->item) Show(*got->item);
//
// Requests and results (requests.h) follow DynamoDB's names and rules. The daemon checks the rules; this
// library does not. Reads are strongly consistent, reads of indexes too. The `change_sequence` of a result is
// the number of the last change contained in the state that the operation read or left. Errors: errors.h.
// Deadlines, cancellation, retries: options.h.
//
// Every operation on data and on tables has three forms:
//
//   absl::StatusOr<WriteResult> done = client.PutItem(request);                     // Blocks.
//   std::future<absl::StatusOr<WriteResult>> later = client.PutItemAsync(request);  // Does not block.
//   client.PutItemAsync(request, [](absl::StatusOr<WriteResult> result) { ... });   // Does not block.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <concepts>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/administration.h"
#include "itemdb/backups.h"
#include "itemdb/bulk_puts.h"
#include "itemdb/errors.h"
#include "itemdb/export.h"
#include "itemdb/imports.h"
#include "itemdb/item_range.h"
#include "itemdb/options.h"
#include "itemdb/requests.h"
#include "itemdb/statements.h"
#include "itemdb/table.h"
#include "itemdb/table_exports.h"
#include "itemdb/value.h"

namespace itemdb {

// Receives the result of an asynchronous operation, exactly once.
//
// The callback runs on a thread of this library, never inside the call that received the callback. Several
// callbacks may run at once. All clients of the process share these few threads, so a callback must not
// block: it hands longer work to a thread of the program's own, and a blocking operation of a Client that is
// called inside a callback returns FAILED_PRECONDITION. A callback may start further asynchronous operations
// and may destroy the last Client.
template <typename Result>
using Callback = absl::AnyInvocable<void(absl::StatusOr<Result>) &&>;

// F converts to Callback<Result>. The operations take F as a template parameter, so that CallOptions written
// as plain braces are never taken for a callback.
template <typename F, typename Result>
concept CallbackFor = std::convertible_to<F, Callback<Result>>;

class ClientCore;

// A connection to one daemon. Copies are cheap and share the connection. Thread-safe: any number of threads
// may use one Client or its copies at once; one shared Client is faster than a Client for each thread.
//
// A blocking operation ends with the reply or the deadline. An asynchronous operation returns at once,
// occupies no thread while it waits for the reply, and copies what it needs of the request before it returns.
// When the last Client is destroyed, calls under way go on and their callbacks run.
//
// Every operation can return, in addition to the errors named at the operation: INVALID_ARGUMENT,
// RESOURCE_EXHAUSTED, UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, DATA_LOSS; from a daemon with access keys
// UNAUTHENTICATED and PERMISSION_DENIED; a write also UNKNOWN. errors.h explains each.
class ITEMDB_EXPORT Client {
 public:
  // Makes a client. Does not connect: the first call connects, and each call reconnects when needed. Blocks
  // only to read the TLS files.
  //
  // INVALID_ARGUMENT: an endpoint is neither "HOST:PORT" nor "unix:/PATH"; the timeout or a pause is not
  // positive; max_attempts is less than 1; a TLS file cannot be read or does not hold what it should hold; a
  // metadata key or value is not allowed; only one of access_key_id and secret_access_key is set; or an
  // access key would be sent without TLS to another host than loopback.
  static absl::StatusOr<Client> Open(ClientOptions options = {});

  // The endpoint given to Open, or the default that Open chose. Valid as long as any copy of this client.
  const std::string& endpoint() const;

  // Waits until the daemon serves calls of this client: it may be starting, recovering, or not be there yet.
  // Blocking. UNAVAILABLE, DEADLINE_EXCEEDED: not within `timeout`. UNAUTHENTICATED, PERMISSION_DENIED: it is
  // there and does not take the access key.
  absl::Status WaitForReady(absl::Duration timeout = absl::Seconds(30)) const;

  // ---- writes ----
  // FAILED_PRECONDITION with reason CONDITIONAL_CHECK_FAILED: the condition was false, nothing was written;
  // see ConditionFailedItem(). NOT_FOUND: no such table; the reads below return it too.

  // Creates an item or replaces it whole.
  absl::StatusOr<WriteResult> PutItem(const PutItemRequest& request, CallOptions options = {}) const;
  std::future<absl::StatusOr<WriteResult>> PutItemAsync(const PutItemRequest& request,
                                                        CallOptions options = {}) const;
  template <CallbackFor<WriteResult> F>
  void PutItemAsync(const PutItemRequest& request, F&& callback, CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // Changes attributes of an item, creating it when it is missing.
  absl::StatusOr<WriteResult> UpdateItem(const UpdateItemRequest& request, CallOptions options = {}) const;
  std::future<absl::StatusOr<WriteResult>> UpdateItemAsync(const UpdateItemRequest& request,
                                                           CallOptions options = {}) const;
  template <CallbackFor<WriteResult> F>
  void UpdateItemAsync(const UpdateItemRequest& request, F&& callback, CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // Removes an item; removing a missing item succeeds.
  absl::StatusOr<WriteResult> DeleteItem(const DeleteItemRequest& request, CallOptions options = {}) const;
  std::future<absl::StatusOr<WriteResult>> DeleteItemAsync(const DeleteItemRequest& request,
                                                           CallOptions options = {}) const;
  template <CallbackFor<WriteResult> F>
  void DeleteItemAsync(const DeleteItemRequest& request, F&& callback, CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // Applies any number of independent puts and deletes, in batches sent one after the other. Writes that an
  // overloaded daemon returns as unprocessed are sent again, after a pause, until the deadline of the whole
  // call. OK means that all writes were applied. The call stops at the first batch that fails;
  // BatchWriteOutcomes() of the error then says of each write whether it was applied, was not applied, or has
  // an unknown outcome.
  //
  // INVALID_ARGUMENT also: `client_request_token` is set and the writes need more than one batch.
  absl::StatusOr<BatchWriteItemResult> BatchWriteItem(const BatchWriteItemRequest& request,
                                                      CallOptions options = {}) const;
  std::future<absl::StatusOr<BatchWriteItemResult>> BatchWriteItemAsync(const BatchWriteItemRequest& request,
                                                                        CallOptions options = {}) const;
  template <CallbackFor<BatchWriteItemResult> F>
  void BatchWriteItemAsync(const BatchWriteItemRequest& request, F&& callback,
                           CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // Applies all actions or none. The request carries a request token: the daemon applies it once even if the
  // client sends it several times. FAILED_PRECONDITION with reason TRANSACTION_CANCELLED: nothing was
  // written; see CancellationReasons().
  absl::StatusOr<TransactWriteItemsResult> TransactWriteItems(const TransactWriteItemsRequest& request,
                                                              CallOptions options = {}) const;
  std::future<absl::StatusOr<TransactWriteItemsResult>> TransactWriteItemsAsync(
      const TransactWriteItemsRequest& request, CallOptions options = {}) const;
  template <CallbackFor<TransactWriteItemsResult> F>
  void TransactWriteItemsAsync(const TransactWriteItemsRequest& request, F&& callback,
                               CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // ---- reads ----

  // One item by its key. A missing item is an empty optional, not an error.
  absl::StatusOr<GetItemResult> GetItem(const GetItemRequest& request, CallOptions options = {}) const;
  std::future<absl::StatusOr<GetItemResult>> GetItemAsync(const GetItemRequest& request,
                                                          CallOptions options = {}) const;
  template <CallbackFor<GetItemResult> F>
  void GetItemAsync(const GetItemRequest& request, F&& callback, CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // Any number of items of any tables by their keys, in batches sent one after the other. Items that did not
  // fit into a reply are requested again, until the deadline of the whole call. The result holds all items in
  // memory, so the caller must bound the number of keys.
  absl::StatusOr<BatchGetItemResult> BatchGetItem(const BatchGetItemRequest& request,
                                                  CallOptions options = {}) const;
  std::future<absl::StatusOr<BatchGetItemResult>> BatchGetItemAsync(const BatchGetItemRequest& request,
                                                                    CallOptions options = {}) const;
  template <CallbackFor<BatchGetItemResult> F>
  void BatchGetItemAsync(const BatchGetItemRequest& request, F&& callback, CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // Items of any tables by their keys, all read from one state. FAILED_PRECONDITION, reason
  // TRANSACTION_CANCELLED: a key does not fit its table; CancellationReasons() says which.
  absl::StatusOr<TransactGetItemsResult> TransactGetItems(const TransactGetItemsRequest& request,
                                                          CallOptions options = {}) const;
  std::future<absl::StatusOr<TransactGetItemsResult>> TransactGetItemsAsync(
      const TransactGetItemsRequest& request, CallOptions options = {}) const;
  template <CallbackFor<TransactGetItemsResult> F>
  void TransactGetItemsAsync(const TransactGetItemsRequest& request, F&& callback,
                             CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // One page of an item collection, of a table or an index, in sort-key order.
  absl::StatusOr<ItemPage> Query(const QueryRequest& request, CallOptions options = {}) const;
  std::future<absl::StatusOr<ItemPage>> QueryAsync(const QueryRequest& request,
                                                   CallOptions options = {}) const;
  template <CallbackFor<ItemPage> F>
  void QueryAsync(const QueryRequest& request, F&& callback, CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // One page of all items of a table or all entries of an index, in key order.
  absl::StatusOr<ItemPage> Scan(const ScanRequest& request, CallOptions options = {}) const;
  std::future<absl::StatusOr<ItemPage>> ScanAsync(const ScanRequest& request, CallOptions options = {}) const;
  template <CallbackFor<ItemPage> F>
  void ScanAsync(const ScanRequest& request, F&& callback, CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // One PartiQL statement. FAILED_PRECONDITION, reason CONDITIONAL_CHECK_FAILED: the condition of a write was
  // false. ALREADY_EXISTS, reason DUPLICATE_ITEM: the item of an INSERT exists. A write has no request token,
  // so its outcome can be unknown (WRITE_OUTCOME_UNKNOWN).
  absl::StatusOr<ExecuteStatementResult> ExecuteStatement(const ExecuteStatementRequest& request,
                                                          CallOptions options = {}) const;
  std::future<absl::StatusOr<ExecuteStatementResult>> ExecuteStatementAsync(
      const ExecuteStatementRequest& request, CallOptions options = {}) const;
  template <CallbackFor<ExecuteStatementResult> F>
  void ExecuteStatementAsync(const ExecuteStatementRequest& request, F&& callback,
                             CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // Independent PartiQL statements, all reads or all writes. OK says that the batch was executed: each
  // response has the status of its statement. A batch of writes has no request token, so its outcome can be
  // unknown (WRITE_OUTCOME_UNKNOWN).
  absl::StatusOr<BatchExecuteStatementResult> BatchExecuteStatement(
      const BatchExecuteStatementRequest& request, CallOptions options = {}) const;
  std::future<absl::StatusOr<BatchExecuteStatementResult>> BatchExecuteStatementAsync(
      const BatchExecuteStatementRequest& request, CallOptions options = {}) const;
  template <CallbackFor<BatchExecuteStatementResult> F>
  void BatchExecuteStatementAsync(const BatchExecuteStatementRequest& request, F&& callback,
                                  CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // Executes all statements or none. The request carries a request token. FAILED_PRECONDITION with reason
  // TRANSACTION_CANCELLED: nothing was read or written; see CancellationReasons().
  absl::StatusOr<ExecuteTransactionResult> ExecuteTransaction(const ExecuteTransactionRequest& request,
                                                              CallOptions options = {}) const;
  std::future<absl::StatusOr<ExecuteTransactionResult>> ExecuteTransactionAsync(
      const ExecuteTransactionRequest& request, CallOptions options = {}) const;
  template <CallbackFor<ExecuteTransactionResult> F>
  void ExecuteTransactionAsync(const ExecuteTransactionRequest& request, F&& callback,
                               CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // The items of a vector index that are nearest to a vector, of one state that has every write which was
  // answered before. INVALID_ARGUMENT: the request does not fit the index, or a number is not finite.
  absl::StatusOr<SearchVectorsResult> SearchVectors(const SearchVectorsRequest& request,
                                                    CallOptions options = {}) const;
  std::future<absl::StatusOr<SearchVectorsResult>> SearchVectorsAsync(const SearchVectorsRequest& request,
                                                                      CallOptions options = {}) const;
  template <CallbackFor<SearchVectorsResult> F>
  void SearchVectorsAsync(const SearchVectorsRequest& request, F&& callback, CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // All items from `exclusive_start_key` on; the range fetches each page when it is needed (blocking).
  // `limit` bounds each page, not the range. Each page is read from the state at its own moment.
  ItemRange QueryAll(QueryRequest request, CallOptions options = {}) const;
  ItemRange ScanAll(ScanRequest request, CallOptions options = {}) const;

  // The same for long ranges. The daemon sends page after page without being asked, at most one page ahead of
  // the page in use, and waits when the program uses the range slowly. When the connection breaks, the range
  // opens it again after the last received page, within RetryOptions. The timeout is per page.
  ItemRange QueryStream(QueryRequest request, StreamOptions stream = {}, CallOptions options = {}) const;
  ItemRange ScanStream(ScanRequest request, StreamOptions stream = {}, CallOptions options = {}) const;

  // ---- tables ----

  // Creates a table with its indexes; the table is usable when the call ends. ALREADY_EXISTS: a table of that
  // name exists.
  absl::StatusOr<TableResult> CreateTable(const TableDefinition& definition, CallOptions options = {}) const;
  std::future<absl::StatusOr<TableResult>> CreateTableAsync(const TableDefinition& definition,
                                                            CallOptions options = {}) const;
  template <CallbackFor<TableResult> F>
  void CreateTableAsync(const TableDefinition& definition, F&& callback, CallOptions options = {}) const {
    Start(definition, std::forward<F>(callback), std::move(options));
  }
  absl::StatusOr<TableResult> DescribeTable(const std::string& table_name, CallOptions options = {}) const;
  std::future<absl::StatusOr<TableResult>> DescribeTableAsync(const std::string& table_name,
                                                              CallOptions options = {}) const;
  template <CallbackFor<TableResult> F>
  void DescribeTableAsync(const std::string& table_name, F&& callback, CallOptions options = {}) const {
    Start(DescribeTableCall{table_name}, std::forward<F>(callback), std::move(options));
  }
  absl::StatusOr<ListTablesResult> ListTables(const ListTablesRequest& request = {},
                                              CallOptions options = {}) const;
  std::future<absl::StatusOr<ListTablesResult>> ListTablesAsync(const ListTablesRequest& request = {},
                                                                CallOptions options = {}) const;
  template <CallbackFor<ListTablesResult> F>
  void ListTablesAsync(const ListTablesRequest& request, F&& callback, CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }
  // Deletes a table, its items and its indexes; returns the description from before the deletion.
  // INVALID_ARGUMENT also: the table's deletion protection is on.
  absl::StatusOr<TableResult> DeleteTable(const std::string& table_name, CallOptions options = {}) const;
  std::future<absl::StatusOr<TableResult>> DeleteTableAsync(const std::string& table_name,
                                                            CallOptions options = {}) const;
  template <CallbackFor<TableResult> F>
  void DeleteTableAsync(const std::string& table_name, F&& callback, CallOptions options = {}) const {
    Start(DeleteTableCall{table_name}, std::forward<F>(callback), std::move(options));
  }
  // Changes one setting, or billing mode and throughput together, or creates or deletes one global index
  // (SEM-095 in docs/rules.md); returns the description after the change. RESOURCE_EXHAUSTED
  // (LIMIT_EXCEEDED): another index of the table is being created.
  absl::StatusOr<TableResult> UpdateTable(const UpdateTableRequest& request, CallOptions options = {}) const;
  std::future<absl::StatusOr<TableResult>> UpdateTableAsync(const UpdateTableRequest& request,
                                                            CallOptions options = {}) const;
  template <CallbackFor<TableResult> F>
  void UpdateTableAsync(const UpdateTableRequest& request, F&& callback, CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }
  // Tags are part of TableResult.
  absl::StatusOr<TagTableResult> TagTable(const TagTableRequest& request, CallOptions options = {}) const;
  std::future<absl::StatusOr<TagTableResult>> TagTableAsync(const TagTableRequest& request,
                                                            CallOptions options = {}) const;
  template <CallbackFor<TagTableResult> F>
  void TagTableAsync(const TagTableRequest& request, F&& callback, CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }
  absl::StatusOr<TagTableResult> UntagTable(const UntagTableRequest& request, CallOptions options = {}) const;
  std::future<absl::StatusOr<TagTableResult>> UntagTableAsync(const UntagTableRequest& request,
                                                              CallOptions options = {}) const;
  template <CallbackFor<TagTableResult> F>
  void UntagTableAsync(const UntagTableRequest& request, F&& callback, CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }
  // Turns time to live on or off. While it is on, the daemon deletes an item within seconds after the time in
  // the chosen attribute. INVALID_ARGUMENT also: already as requested, or on for another attribute.
  absl::StatusOr<UpdateTimeToLiveResult> UpdateTimeToLive(const UpdateTimeToLiveRequest& request,
                                                          CallOptions options = {}) const;
  std::future<absl::StatusOr<UpdateTimeToLiveResult>> UpdateTimeToLiveAsync(
      const UpdateTimeToLiveRequest& request, CallOptions options = {}) const;
  template <CallbackFor<UpdateTimeToLiveResult> F>
  void UpdateTimeToLiveAsync(const UpdateTimeToLiveRequest& request, F&& callback,
                             CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }
  absl::StatusOr<TimeToLiveResult> DescribeTimeToLive(const std::string& table_name,
                                                      CallOptions options = {}) const;
  std::future<absl::StatusOr<TimeToLiveResult>> DescribeTimeToLiveAsync(const std::string& table_name,
                                                                        CallOptions options = {}) const;
  template <CallbackFor<TimeToLiveResult> F>
  void DescribeTimeToLiveAsync(const std::string& table_name, F&& callback, CallOptions options = {}) const {
    Start(DescribeTimeToLiveCall{table_name}, std::forward<F>(callback), std::move(options));
  }
  // Turns contributor insights of a table or global index on or off: while they are on, the daemon counts its
  // most used keys, which GetTopKeys returns. What is as asked for goes on counting. NOT_FOUND: no such table
  // or global index. These three and DescribeLimits are blocking only.
  absl::StatusOr<ContributorInsights> UpdateContributorInsights(
      const UpdateContributorInsightsRequest& request, CallOptions options = {}) const;
  // Without `index_name` those of the table itself.
  absl::StatusOr<ContributorInsights> DescribeContributorInsights(const std::string& table_name,
                                                                  const std::string& index_name = "",
                                                                  CallOptions options = {}) const;
  // The tables and global indexes whose contributor insights are on, by name: of one table, or of all tables
  // when the name is empty. Page after page, each with the timeout of `options`.
  absl::StatusOr<std::vector<ContributorInsights>> ListContributorInsights(const std::string& table_name = "",
                                                                           CallOptions options = {}) const;
  absl::StatusOr<TableLimits> DescribeLimits(CallOptions options = {}) const;

  // ---- backups of tables ---- (blocking)

  // Makes a backup of one table from one state of it, while writes go on. `backup_name` has 3 to 255
  // characters of [a-zA-Z0-9_.-] and need not be unique. The result is kCreating; DescribeBackup shows
  // kAvailable when the backup is done, and NOT_FOUND when it has failed. NOT_FOUND (TABLE_NOT_FOUND): no
  // such table.
  absl::StatusOr<TableBackup> CreateBackup(const std::string& table_name, const std::string& backup_name,
                                           CallOptions options = {}) const;
  // NOT_FOUND (BACKUP_NOT_FOUND), of the next two also: there is no such backup.
  absl::StatusOr<TableBackup> DescribeBackup(const std::string& backup_arn, CallOptions options = {}) const;
  absl::StatusOr<ListBackupsResult> ListBackups(const ListBackupsRequest& request = {},
                                                CallOptions options = {}) const;
  // FAILED_PRECONDITION (BACKUP_IN_USE): a table is being restored from it, or it is being made.
  absl::StatusOr<TableBackup> DeleteBackup(const std::string& backup_arn, CallOptions options = {}) const;
  // Makes a new table of a backup. The result is kCreating; DescribeTable shows kActive when the table has
  // all items and index entries, and NOT_FOUND when restoring it has failed.
  //
  // ALREADY_EXISTS (TABLE_ALREADY_EXISTS): the target exists. FAILED_PRECONDITION (TABLE_IN_USE,
  // BACKUP_IN_USE): the target, or another table from the same backup, is being restored.
  absl::StatusOr<TableDescription> RestoreTableFromBackup(const RestoreTableFromBackupRequest& request,
                                                          CallOptions options = {}) const;
  // Makes a new table of another as it was after an earlier commit; otherwise as RestoreTableFromBackup.
  // NOT_FOUND (TABLE_NOT_FOUND): no such source table. FAILED_PRECONDITION
  // (POINT_IN_TIME_RECOVERY_UNAVAILABLE): its point-in-time recovery is off. OUT_OF_RANGE
  // (INVALID_RESTORE_TIME): the time is outside of what can be restored.
  absl::StatusOr<TableDescription> RestoreTableToPointInTime(const RestoreTableToPointInTimeRequest& request,
                                                             CallOptions options = {}) const;
  // Whether point-in-time recovery of a table is on. NOT_FOUND (TABLE_NOT_FOUND): no such table.
  absl::StatusOr<ContinuousBackupsResult> DescribeContinuousBackups(const std::string& table_name,
                                                                    CallOptions options = {}) const;
  absl::StatusOr<ContinuousBackupsResult> UpdateContinuousBackups(
      const UpdateContinuousBackupsRequest& request, CallOptions options = {}) const;

  // ---- exports of tables ---- (blocking)

  // Begins to export a table with point-in-time recovery into objects of a bucket. The result is kInProgress;
  // DescribeExport shows kCompleted or kFailed when the export has ended.
  //
  // NOT_FOUND (TABLE_NOT_FOUND): no such table. FAILED_PRECONDITION (POINT_IN_TIME_RECOVERY_UNAVAILABLE): its
  // point-in-time recovery is off. OUT_OF_RANGE (INVALID_EXPORT_TIME): a time that cannot be exported.
  // ALREADY_EXISTS (EXPORT_CONFLICT): the client token was used for another request.
  absl::StatusOr<ExportDescription> ExportTableToPointInTime(const ExportTableToPointInTimeRequest& request,
                                                             CallOptions options = {}) const;
  // NOT_FOUND (EXPORT_NOT_FOUND): there is no such export of the last 90 days.
  absl::StatusOr<ExportDescription> DescribeExport(const std::string& export_arn,
                                                   CallOptions options = {}) const;
  absl::StatusOr<ListExportsResult> ListExports(const ListExportsRequest& request = {},
                                                CallOptions options = {}) const;

  // ---- imports ---- (blocking)

  // Makes a new table of files in DynamoDB's JSON, Ion or CSV, which are in a folder of the daemon's export
  // directory. The result is kInProgress; DescribeImport shows when the import has ended. The table is
  // kCreating until then. ALREADY_EXISTS (RESOURCE_IN_USE): there is a table of this name, or it is being
  // made. FAILED_PRECONDITION (IMPORT_CONFLICT): an import with this client token runs and has other
  // parameters.
  absl::StatusOr<ImportDescription> ImportTable(const ImportTableRequest& request,
                                                CallOptions options = {}) const;
  // NOT_FOUND (IMPORT_NOT_FOUND): there is no such import, or it ended more than 90 days ago.
  absl::StatusOr<ImportDescription> DescribeImport(const std::string& import_arn,
                                                   CallOptions options = {}) const;
  absl::StatusOr<ListImportsResult> ListImports(const ListImportsRequest& request = {},
                                                CallOptions options = {}) const;

  // ---- bulk puts ---- (blocking)

  // Begins to put the items of files in DynamoDB's JSON or Ion, which are in a folder of the daemon's export
  // directory, into a table that serves. The result is kInProgress; DescribeBulkOperation shows when the
  // operation has ended. NOT_FOUND (RESOURCE_NOT_FOUND): no such table. ALREADY_EXISTS (RESOURCE_IN_USE): the
  // table is being restored or imported, or one of its indexes is being created. INVALID_ARGUMENT
  // (IDEMPOTENT_PARAMETER_MISMATCH): the client token was used for other parameters.
  absl::StatusOr<BulkOperationDescription> StartBulkPutItems(const StartBulkPutItemsRequest& request,
                                                             CallOptions options = {}) const;
  // NOT_FOUND (RESOURCE_NOT_FOUND): there is no such operation, or it ended more than 90 days ago.
  absl::StatusOr<BulkOperationDescription> DescribeBulkOperation(const std::string& bulk_operation_arn,
                                                                 CallOptions options = {}) const;
  absl::StatusOr<ListBulkOperationsResult> ListBulkOperations(const ListBulkOperationsRequest& request = {},
                                                              CallOptions options = {}) const;
  // Ends an operation before its last item: kCancelling; the status of one that has ended. Items that it has
  // put stay. Errors as DescribeBulkOperation.
  absl::StatusOr<BulkOperationStatus> CancelBulkOperation(const std::string& bulk_operation_arn,
                                                          CallOptions options = {}) const;

  // ---- changes and administration ---- (blocking)

  // One page of the change log. OUT_OF_RANGE: the records after `after_sequence` are no longer kept.
  absl::StatusOr<ReadChangesResult> ReadChanges(const ReadChangesRequest& request,
                                                CallOptions options = {}) const;
  // Keeps changes that a reader still needs, beyond the daemon's retention, also across its restarts, until
  // they are released or the hold is not renewed in time. Call it again with a later position now and then.
  // OUT_OF_RANGE (CHANGES_TRIMMED): they are no longer kept. FAILED_PRECONDITION (HOLD_ENDED): there is no
  // such hold to renew; the message says why, for example that the disk was too full. RESOURCE_EXHAUSTED:
  // there are 100 holds, the disk is too full, or holds are made, moved back or lengthened more than 10 times
  // in a second, which the client tries again. UNIMPLEMENTED: the daemon is of version 0.2.0 or older.
  absl::StatusOr<ChangeHold> HoldChanges(const HoldChangesRequest& request, CallOptions options = {}) const;
  // Ends a hold, one's own or, as an operator, one that keeps too much. Returns it as it was.
  // FAILED_PRECONDITION (HOLD_ENDED): there is no such hold.
  absl::StatusOr<ChangeHold> ReleaseChanges(const std::string& name, CallOptions options = {}) const;
  // All holds by name, also those that ended within a day.
  absl::StatusOr<std::vector<ChangeHold>> ListChangeHolds(CallOptions options = {}) const;
  // Takes back the changes that a table's items had in a stretch: one page of items, each written by itself.
  // An item that was changed since is left as it is. A call that is repeated changes nothing more.
  // Without old images in the table's stream itemd restores the items from its archive, which may take longer
  // than the deadline; then repeat the call. FAILED_PRECONDITION (IMAGE_MISSING): there are neither old
  // images nor an archive of that time. OUT_OF_RANGE: the stretch is no longer kept.
  absl::StatusOr<UndoChangesResult> UndoChanges(const UndoChangesRequest& request,
                                                CallOptions options = {}) const;
  // Changes one by one as they are committed (blocking), each exactly once and in order:
  //
  //   ChangeRange changes = client.Watch({.table_name = "Order"});
  //   for (const ChangeRecord& change : changes) { ... }
  //   // changes.status() says why it ended.
  //
  // The range ends when it is cancelled, and after the last change of a table that was deleted. When the
  // connection is lost, the range opens the stream again where it broke. After the first reply it retries
  // without limit, unless `options.retry` sets one. The timeout is the longest silence of the daemon that the
  // range accepts; the daemon sends something several times within that time. OUT_OF_RANGE: the next change
  // is no longer kept; the message names the oldest change that is kept.
  ChangeRange Watch(const WatchRequest& request = {}, CallOptions options = {}) const;
  absl::StatusOr<DaemonStatus> GetStatus(const GetStatusRequest& request = {},
                                         CallOptions options = {}) const;
  // Verifies that items, index entries, size statistics and change log agree: of one table, or of all tables
  // when the name is empty. Reads all data, so the default timeout is one hour here instead of the client's.
  absl::StatusOr<CheckDatabaseResult> CheckDatabase(const std::string& table_name = "",
                                                    CallOptions options = {}) const;
  // The same; can also check one index only, and repair.
  absl::StatusOr<CheckDatabaseResult> CheckAndRepair(const CheckDatabaseRequest& request,
                                                     CallOptions options = {}) const;
  // Makes a backup of the whole database in the daemon's backup directory, while reads and writes go on. The
  // default timeout is one hour. Cancelling ends it without a backup. RESOURCE_EXHAUSTED: another call about
  // backups is running. FAILED_PRECONDITION: the directory has the backups of another database.
  absl::StatusOr<DatabaseBackup> CreateDatabaseBackup(CallOptions options = {}) const;
  absl::StatusOr<DatabaseBackups> ListDatabaseBackups(CallOptions options = {}) const;
  // One backup. NOT_FOUND: there is no such backup. DATA_LOSS: its description is damaged. UNIMPLEMENTED: the
  // daemon is of version 0.2.0 or older.
  absl::StatusOr<DatabaseBackupDetails> DescribeDatabaseBackup(uint32_t backup_id,
                                                               CallOptions options = {}) const;
  // Where the daemon has backups and archive. UNIMPLEMENTED: the daemon is of version 0.2.0 or older.
  absl::StatusOr<BackupPlaces> GetBackupPlaces(CallOptions options = {}) const;
  // Reads all files of a backup, by default of the newest, and compares their checksums. The default timeout
  // is one hour. DATA_LOSS: the backup is damaged. NOT_FOUND: there is no such backup.
  absl::StatusOr<DatabaseBackup> VerifyDatabaseBackup(uint32_t backup_id = 0, CallOptions options = {}) const;
  // Restores the backup in the daemon's data directory, which needs its space, checks that database, and
  // deletes it. The default timeout is one hour. DATA_LOSS: the backup is damaged, or the check has findings.
  // RESOURCE_EXHAUSTED: there is too little space.
  absl::StatusOr<DatabaseBackup> ProveDatabaseBackup(uint32_t backup_id = 0, CallOptions options = {}) const;
  // Deletes one backup; all but the newest `keep_newest` (at least 1); or all that were begun before `time`,
  // but not the newest. Of the backups that were made for the archive only the first deletes one. Returns the
  // numbers of the deleted ones. NOT_FOUND: there is no such backup.
  absl::StatusOr<std::vector<uint32_t>> DeleteDatabaseBackup(uint32_t backup_id,
                                                             CallOptions options = {}) const;
  absl::StatusOr<std::vector<uint32_t>> DeleteOldDatabaseBackups(uint32_t keep_newest,
                                                                 CallOptions options = {}) const;
  absl::StatusOr<std::vector<uint32_t>> DeleteDatabaseBackupsBefore(absl::Time time,
                                                                    CallOptions options = {}) const;
  // The damaged table files that were met since the daemon was started, with the keys that may be lost. Reads
  // these files.
  absl::StatusOr<DamageList> ListDamage(CallOptions options = {}) const;
  // Deletes an item whose record cannot be read, with its index entries. Reads the indexes of the table, so
  // the default timeout is one hour. INVALID_ARGUMENT: the item can be read, or there is none.
  absl::StatusOr<DiscardDamagedItemResult> DiscardDamagedItem(const std::string& table_name, const Item& key,
                                                              CallOptions options = {}) const;
  // Makes a standby the primary; see itemdb.v1.Admin.Promote. The default timeout is one minute. Returns the
  // last change that was followed. FAILED_PRECONDITION: it is no standby, or `force` is needed.
  absl::StatusOr<uint64_t> Promote(bool force = false, CallOptions options = {}) const;
  // How clients have read and written tables since the daemon was started: one table, or all tables when the
  // name is empty.
  absl::StatusOr<AccessPatternsResult> GetAccessPatterns(const std::string& table_name = "",
                                                         CallOptions options = {}) const;
  // What calls did since the daemon was started, and how far watches are: the difference of two answers is
  // what happened between them. UNIMPLEMENTED: the daemon is of version 0.2.0 or older.
  absl::StatusOr<DaemonActivity> GetActivity(CallOptions options = {}) const;
  // The most used keys of a table or global index; nothing while its contributor insights are off.
  absl::StatusOr<TopKeysResult> GetTopKeys(const TopKeysRequest& request, CallOptions options = {}) const;

 private:
  friend class ClientAccess;
  explicit Client(std::shared_ptr<ClientCore> core);

  // The requests of operations that take the name of a table only.
  struct DescribeTableCall {
    const std::string& table_name;
  };
  struct DeleteTableCall {
    const std::string& table_name;
  };
  struct DescribeTimeToLiveCall {
    const std::string& table_name;
  };

  // Each operation with a callback.
  void Start(const PutItemRequest& request, Callback<WriteResult> callback, CallOptions options) const;
  void Start(const UpdateItemRequest& request, Callback<WriteResult> callback, CallOptions options) const;
  void Start(const DeleteItemRequest& request, Callback<WriteResult> callback, CallOptions options) const;
  void Start(const BatchWriteItemRequest& request, Callback<BatchWriteItemResult> callback,
             CallOptions options) const;
  void Start(const TransactWriteItemsRequest& request, Callback<TransactWriteItemsResult> callback,
             CallOptions options) const;
  void Start(const GetItemRequest& request, Callback<GetItemResult> callback, CallOptions options) const;
  void Start(const QueryRequest& request, Callback<ItemPage> callback, CallOptions options) const;
  void Start(const ScanRequest& request, Callback<ItemPage> callback, CallOptions options) const;
  void Start(const SearchVectorsRequest& request, Callback<SearchVectorsResult> callback,
             CallOptions options) const;
  void Start(const BatchGetItemRequest& request, Callback<BatchGetItemResult> callback,
             CallOptions options) const;
  void Start(const TransactGetItemsRequest& request, Callback<TransactGetItemsResult> callback,
             CallOptions options) const;
  void Start(const ExecuteStatementRequest& request, Callback<ExecuteStatementResult> callback,
             CallOptions options) const;
  void Start(const BatchExecuteStatementRequest& request, Callback<BatchExecuteStatementResult> callback,
             CallOptions options) const;
  void Start(const ExecuteTransactionRequest& request, Callback<ExecuteTransactionResult> callback,
             CallOptions options) const;

  void Start(const TableDefinition& request, Callback<TableResult> callback, CallOptions options) const;
  void Start(const DescribeTableCall& request, Callback<TableResult> callback, CallOptions options) const;
  void Start(const ListTablesRequest& request, Callback<ListTablesResult> callback,
             CallOptions options) const;
  void Start(const DeleteTableCall& request, Callback<TableResult> callback, CallOptions options) const;
  void Start(const UpdateTableRequest& request, Callback<TableResult> callback, CallOptions options) const;
  void Start(const TagTableRequest& request, Callback<TagTableResult> callback, CallOptions options) const;
  void Start(const UntagTableRequest& request, Callback<TagTableResult> callback, CallOptions options) const;
  void Start(const UpdateTimeToLiveRequest& request, Callback<UpdateTimeToLiveResult> callback,
             CallOptions options) const;
  void Start(const DescribeTimeToLiveCall& request, Callback<TimeToLiveResult> callback,
             CallOptions options) const;

  // The other two forms of every operation that has a Start (client/wait.h).
  template <typename Result, typename Request>
  std::future<absl::StatusOr<Result>> StartAsync(const Request& request, CallOptions options) const;
  template <typename Result, typename Request>
  absl::StatusOr<Result> StartAndWait(const Request& request, CallOptions options) const;

  std::shared_ptr<ClientCore> core_;
};

inline absl::Status Client::WaitForReady(absl::Duration timeout) const {
  // The cheapest call that all protocols have. A short pause: daemons start in some tenths of a second.
  CallOptions options;
  options.timeout = timeout;
  options.retry = RetryOptions{.max_attempts = 1'000'000'000, .max_backoff = absl::Milliseconds(200)};
  return ListTables({.limit = 1}, std::move(options)).status();
}

}  // namespace itemdb
