// The operations of a Client for coroutines: `co_await` instead of a callback.
//
//   Task Restock(itemdb::CoClient client) {
//     const itemdb::PutItemRequest nails = {.table_name = "Product", .item = {{"id", "nail"}, {"stock",
//     1000}}}; absl::StatusOr<itemdb::WriteResult> put = co_await client.PutItem(nails);
//   }
//
// A request must have a name, as `nails` here: gcc 12 destroys a temporary of a struct in the expression of a
// co_await twice. So temporaries do not compile.
//
// `Task` is the program's own: this header has no type for coroutines that begin or end, and works with those
// of any library. Nothing here needs more of the library than client.h.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <coroutine>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "itemdb/client.h"

namespace itemdb {

// Resumes a coroutine, on whichever thread it is to go on. Without one it goes on on the library's thread
// that has the result, as a callback (client.h): there it must not block, and blocking operations of a Client
// fail.
using ResumeOn = std::function<void(std::coroutine_handle<>)>;

// What an operation of CoClient returns. Sends nothing before it is awaited, which happens once.
template <typename Result>
class [[nodiscard]] AwaitedCall {
 public:
  using Start = absl::AnyInvocable<void(Callback<Result>) &&>;

  AwaitedCall(Start start, ResumeOn resume_on) : start_(std::move(start)), resume_on_(std::move(resume_on)) {}

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) {
    // The call may end, and the coroutine with this object be gone, before the function below has returned.
    Start start = std::move(start_);
    std::move(start)([this, coroutine](absl::StatusOr<Result> result) {
      result_.emplace(std::move(result));
      if (resume_on_) {
        const ResumeOn resume_on = std::move(resume_on_);
        resume_on(coroutine);
      } else {
        coroutine.resume();
      }
    });
  }
  absl::StatusOr<Result> await_resume() { return *std::move(result_); }

 private:
  Start start_;
  ResumeOn resume_on_;
  std::optional<absl::StatusOr<Result>> result_;
};

// A Client whose operations on data and on tables are awaited. Copies are cheap and share the connection.
class CoClient {
 public:
  explicit CoClient(Client client, ResumeOn resume_on = nullptr)
      : client_(std::move(client)), resume_on_(std::move(resume_on)) {}

  const Client& client() const { return client_; }

// Each as the operation of Client of this name. Request and options are copied at once.
#define ITEMDB_AWAITED(Operation, Request, Result)                                                       \
  AwaitedCall<Result> Operation(const Request& request) const { return Operation(request, kNoOptions); } \
  AwaitedCall<Result> Operation(const Request& request, const CallOptions& options) const {              \
    return {[client = client_, request, options](Callback<Result> callback) mutable {                    \
              client.Operation##Async(request, std::move(callback), std::move(options));                 \
            },                                                                                           \
            resume_on_};                                                                                 \
  }                                                                                                      \
  AwaitedCall<Result> Operation(const Request&& request) const = delete;                                 \
  AwaitedCall<Result> Operation(const Request&& request, const CallOptions& options) const = delete;     \
  AwaitedCall<Result> Operation(const Request& request, const CallOptions&& options) const = delete;
  ITEMDB_AWAITED(PutItem, PutItemRequest, WriteResult)
  ITEMDB_AWAITED(UpdateItem, UpdateItemRequest, WriteResult)
  ITEMDB_AWAITED(DeleteItem, DeleteItemRequest, WriteResult)
  ITEMDB_AWAITED(BatchWriteItem, BatchWriteItemRequest, BatchWriteItemResult)
  ITEMDB_AWAITED(TransactWriteItems, TransactWriteItemsRequest, TransactWriteItemsResult)
  ITEMDB_AWAITED(GetItem, GetItemRequest, GetItemResult)
  ITEMDB_AWAITED(BatchGetItem, BatchGetItemRequest, BatchGetItemResult)
  ITEMDB_AWAITED(TransactGetItems, TransactGetItemsRequest, TransactGetItemsResult)
  ITEMDB_AWAITED(Query, QueryRequest, ItemPage)
  ITEMDB_AWAITED(Scan, ScanRequest, ItemPage)
  ITEMDB_AWAITED(ExecuteStatement, ExecuteStatementRequest, ExecuteStatementResult)
  ITEMDB_AWAITED(BatchExecuteStatement, BatchExecuteStatementRequest, BatchExecuteStatementResult)
  ITEMDB_AWAITED(ExecuteTransaction, ExecuteTransactionRequest, ExecuteTransactionResult)
  ITEMDB_AWAITED(SearchVectors, SearchVectorsRequest, SearchVectorsResult)
  ITEMDB_AWAITED(CreateTable, TableDefinition, TableResult)
  ITEMDB_AWAITED(DescribeTable, std::string, TableResult)
  ITEMDB_AWAITED(ListTables, ListTablesRequest, ListTablesResult)
  ITEMDB_AWAITED(DeleteTable, std::string, TableResult)
  ITEMDB_AWAITED(UpdateTable, UpdateTableRequest, TableResult)
  ITEMDB_AWAITED(TagTable, TagTableRequest, TagTableResult)
  ITEMDB_AWAITED(UntagTable, UntagTableRequest, TagTableResult)
  ITEMDB_AWAITED(UpdateTimeToLive, UpdateTimeToLiveRequest, UpdateTimeToLiveResult)
  ITEMDB_AWAITED(DescribeTimeToLive, std::string, TimeToLiveResult)
#undef ITEMDB_AWAITED

 private:
  static inline const CallOptions kNoOptions = {};

  Client client_;
  ResumeOn resume_on_;
};

}  // namespace itemdb
