// The client of one itemdb daemon: typed requests, absl::StatusOr results, no gRPC or protobuf in sight.
//
//   absl::StatusOr<Client> client = Client::Open({.endpoint = "127.0.0.1:7420"});
//   if (!client.ok()) return client.status();
//   absl::StatusOr<GetItemResult> got = client->GetItem(
//       {.table_name = "Product", .key = {{"product_id", "prod_100"}, {"warehouse_id", "wh_sea"}}});
//   if (got.ok() && got->item) Show(*got->item);
//
// Requests and results (requests.h) follow DynamoDB's names and rules; the daemon judges them, this library
// does not. Reads are strongly consistent, on indexes too. Every result carries `change_sequence`, the number
// of the last change contained in the state it speaks of. Errors: errors.h. Deadlines, cancellation, retries:
// options.h.
//
// Every data operation has three forms:
//
//   absl::StatusOr<WriteResult> done = client.PutItem(request);                     // Blocks.
//   std::future<absl::StatusOr<WriteResult>> later = client.PutItemAsync(request);  // Does not.
//   client.PutItemAsync(request, [](absl::StatusOr<WriteResult> result) { ... });   // Does not.
#pragma once

#include <concepts>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/administration.h"
#include "itemdb/errors.h"
#include "itemdb/export.h"
#include "itemdb/item_range.h"
#include "itemdb/options.h"
#include "itemdb/requests.h"
#include "itemdb/table.h"
#include "itemdb/value.h"

namespace itemdb {
inline namespace client {

// Receives the result of an asynchronous operation, exactly once.
//
// It runs on a thread of this library, never inside the call that was given it, and several may run at once.
// All calls of the process share these few threads: a callback must not block (a blocking operation of a
// Client refuses, with FAILED_PRECONDITION), and hands longer work to a thread of the program's own. It may
// start further asynchronous operations and may drop the last Client.
template <typename Result>
using Callback = absl::AnyInvocable<void(absl::StatusOr<Result>) &&>;

// What can be such a callback. A template's parameter, so that options in plain braces are never taken for
// one.
template <typename F, typename Result>
concept CallbackFor = std::convertible_to<F, Callback<Result>>;

class ClientCore;

// A connection to one daemon. Copies are cheap and share the connection. Thread-safe: any number of threads
// may use one Client or its copies at once; that is faster than a Client each.
//
// Blocking operations end with the reply or the deadline. Asynchronous ones return at once, need no thread
// each while they wait, and take what they need of the request before they return. Calls under way go on, and
// their callbacks run, when the last Client is destroyed.
//
// Errors of every operation, beside those it names: INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNAVAILABLE,
// DEADLINE_EXCEEDED, CANCELLED, DATA_LOSS, from a daemon with access keys UNAUTHENTICATED and
// PERMISSION_DENIED, and of writes UNKNOWN, each as told in errors.h.
class ITEMDB_EXPORT Client {
 public:
  // Makes a client. Does not connect: the first call does, and each call reconnects when needed. Reads the
  // TLS files, otherwise does not block.
  //
  // INVALID_ARGUMENT: the endpoint is neither "HOST:PORT" nor "unix:/PATH", the timeout or a pause is not
  // positive, there is less than one attempt, a TLS file cannot be read or holds nothing of its kind, a
  // metadata key or value is not allowed, an access key is not whole or would be sent off loopback without
  // TLS.
  static absl::StatusOr<Client> Open(ClientOptions options = {});

  // As given or found by Open. Valid as long as any copy of this client.
  const std::string& endpoint() const;

  // ---- writes ----
  // FAILED_PRECONDITION with reason CONDITIONAL_CHECK_FAILED: the condition was false, nothing was written;
  // see ConditionFailedItem(). NOT_FOUND: no such table (also below).

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

  // Applies any number of independent puts and deletes, in batches sent one after the other; what the daemon
  // does not take on for overload is sent again, with pauses, until the deadline of the whole. OK means that
  // all were applied. It stops at the first batch that fails; BatchWriteOutcomes() of the error then says of
  // each write whether it was applied, was not, or is not known.
  //
  // INVALID_ARGUMENT also: `client_request_token` given for more writes than one batch holds.
  absl::StatusOr<BatchWriteItemResult> BatchWriteItem(const BatchWriteItemRequest& request,
                                                      CallOptions options = {}) const;
  std::future<absl::StatusOr<BatchWriteItemResult>> BatchWriteItemAsync(const BatchWriteItemRequest& request,
                                                                        CallOptions options = {}) const;
  template <CallbackFor<BatchWriteItemResult> F>
  void BatchWriteItemAsync(const BatchWriteItemRequest& request, F&& callback,
                           CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // Applies all actions or none. Carries a request token, so it is applied once however often it is sent.
  // FAILED_PRECONDITION with reason TRANSACTION_CANCELLED: nothing was written; see CancellationReasons().
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

  // Any number of items of any tables by their keys, in batches sent one after the other; what a reply has no
  // room for is asked for again, until the deadline of the whole. The result holds all of them, so their
  // number is the caller's to bound.
  absl::StatusOr<BatchGetItemResult> BatchGetItem(const BatchGetItemRequest& request,
                                                  CallOptions options = {}) const;
  std::future<absl::StatusOr<BatchGetItemResult>> BatchGetItemAsync(const BatchGetItemRequest& request,
                                                                    CallOptions options = {}) const;
  template <CallbackFor<BatchGetItemResult> F>
  void BatchGetItemAsync(const BatchGetItemRequest& request, F&& callback, CallOptions options = {}) const {
    Start(request, std::forward<F>(callback), std::move(options));
  }

  // Items of any tables by their keys, all read from one state.
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

  // All items from `exclusive_start_key` on, page by page as they are used (blocking). `limit` bounds each
  // page, not the range. Each page sees the state of its own moment.
  ItemRange QueryAll(QueryRequest request, CallOptions options = {}) const;
  ItemRange ScanAll(ScanRequest request, CallOptions options = {}) const;

  // The same for long ranges: the daemon sends page after page on its own, one ahead of the use, and waits
  // for a range that is used slowly. A broken connection is opened again at the last page's key, within
  // RetryOptions; the timeout is the longest wait for a page.
  ItemRange QueryStream(QueryRequest request, StreamOptions stream = {}, CallOptions options = {}) const;
  ItemRange ScanStream(ScanRequest request, StreamOptions stream = {}, CallOptions options = {}) const;

  // ---- tables ---- (blocking)

  // Creates a table with its indexes; it is usable when the call returns. ALREADY_EXISTS: there is one of
  // that name.
  absl::StatusOr<TableResult> CreateTable(const TableDefinition& definition, CallOptions options = {}) const;
  absl::StatusOr<TableResult> DescribeTable(const std::string& table_name, CallOptions options = {}) const;
  absl::StatusOr<ListTablesResult> ListTables(const ListTablesRequest& request = {},
                                              CallOptions options = {}) const;
  // Deletes a table, its items and its indexes; returns it as it was. INVALID_ARGUMENT also: its deletion
  // protection is on.
  absl::StatusOr<TableResult> DeleteTable(const std::string& table_name, CallOptions options = {}) const;
  // Changes billing mode, throughput, deletion protection, stream or stream view type, or creates or deletes
  // one global index; returns the table as it is then. RESOURCE_EXHAUSTED (LIMIT_EXCEEDED): another index of
  // the table is being created.
  absl::StatusOr<TableResult> UpdateTable(const UpdateTableRequest& request, CallOptions options = {}) const;
  // Tags are part of TableResult.
  absl::StatusOr<TagTableResult> TagTable(const TagTableRequest& request, CallOptions options = {}) const;
  absl::StatusOr<TagTableResult> UntagTable(const UntagTableRequest& request, CallOptions options = {}) const;
  // Has items deleted when the time in one of their attributes has come, within seconds, or no longer.
  // INVALID_ARGUMENT also: it is as asked for already, or on for another attribute.
  absl::StatusOr<UpdateTimeToLiveResult> UpdateTimeToLive(const UpdateTimeToLiveRequest& request,
                                                          CallOptions options = {}) const;
  absl::StatusOr<TimeToLiveResult> DescribeTimeToLive(const std::string& table_name,
                                                      CallOptions options = {}) const;
  absl::StatusOr<TableLimits> DescribeLimits(CallOptions options = {}) const;

  // ---- changes and administration ---- (blocking)

  // One page of the change log. OUT_OF_RANGE: the records after `after_sequence` are no longer kept.
  absl::StatusOr<ReadChangesResult> ReadChanges(const ReadChangesRequest& request,
                                                CallOptions options = {}) const;
  // Changes one by one as they are committed (blocking), each exactly once and in order:
  //
  //   ChangeRange changes = client.Watch({.table_name = "Order"});
  //   for (const ChangeRecord& change : changes) { ... }
  //   // changes.status() says why it ended.
  //
  // It ends when it is cancelled, and behind the last change of a table that was deleted. A lost connection
  // is opened again where it broke, and from the first reply on that is tried for as long as it takes, unless
  // `options.retry` bounds it; the timeout is the longest time without a word from the daemon, which says
  // something several times within it. OUT_OF_RANGE: the next change is no longer kept; the message names the
  // oldest that is.
  ChangeRange Watch(const WatchRequest& request = {}, CallOptions options = {}) const;
  absl::StatusOr<DaemonStatus> GetStatus(const GetStatusRequest& request = {},
                                         CallOptions options = {}) const;
  // Verifies that items, index entries, counters and change log agree: of one table, or of all when the name
  // is empty. Reads everything, so give it a long timeout; the client's default does not apply, its own is
  // one hour.
  absl::StatusOr<CheckDatabaseResult> CheckDatabase(const std::string& table_name = "",
                                                    CallOptions options = {}) const;
  // The same, of one index too, and with repair.
  absl::StatusOr<CheckDatabaseResult> CheckAndRepair(const CheckDatabaseRequest& request,
                                                     CallOptions options = {}) const;
  // How the daemon has seen tables being read and written since it was started: one table, or all when the
  // name is empty.
  absl::StatusOr<AccessPatternsResult> GetAccessPatterns(const std::string& table_name = "",
                                                         CallOptions options = {}) const;

 private:
  friend class ClientAccess;
  explicit Client(std::shared_ptr<ClientCore> core);

  // Each operation, in the one form that the others are made from.
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
  void Start(const BatchGetItemRequest& request, Callback<BatchGetItemResult> callback,
             CallOptions options) const;
  void Start(const TransactGetItemsRequest& request, Callback<TransactGetItemsResult> callback,
             CallOptions options) const;

  std::shared_ptr<ClientCore> core_;
};

}  // namespace client
}  // namespace itemdb
