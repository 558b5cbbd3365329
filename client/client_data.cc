// The data operations of Client: each with a callback, and from that with a future and blocking.
// BatchWriteItem and BatchGetItem, which make many calls each, start in batch_write.cc and batch_get.cc.
#include <utility>

#include "client/core.h"
#include "client/decode.h"
#include "client/encode.h"
#include "client/wait.h"
#include "common/status_macros.h"

namespace itemdb {

void Client::Start(const PutItemRequest& request, Callback<WriteResult> callback, CallOptions options) const {
  core_->Start(Encode(request, options), options, &DecodePutItem, std::move(callback));
}

void Client::Start(const UpdateItemRequest& request, Callback<WriteResult> callback,
                   CallOptions options) const {
  core_->Start(Encode(request, options), options, &DecodeUpdateItem, std::move(callback));
}

void Client::Start(const DeleteItemRequest& request, Callback<WriteResult> callback,
                   CallOptions options) const {
  core_->Start(Encode(request, options), options, &DecodeDeleteItem, std::move(callback));
}

void Client::Start(const TransactWriteItemsRequest& request, Callback<TransactWriteItemsResult> callback,
                   CallOptions options) const {
  core_->Start(Encode(request, options), options, &DecodeTransactWriteItems, std::move(callback));
}

void Client::Start(const GetItemRequest& request, Callback<GetItemResult> callback,
                   CallOptions options) const {
  core_->Start(Encode(request), options, &DecodeGetItem, std::move(callback));
}

void Client::Start(const TransactGetItemsRequest& request, Callback<TransactGetItemsResult> callback,
                   CallOptions options) const {
  core_->Start(Encode(request), options, &DecodeTransactGetItems, std::move(callback));
}

void Client::Start(const QueryRequest& request, Callback<ItemPage> callback, CallOptions options) const {
  core_->Start(Encode(request), options, &DecodeQuery, std::move(callback));
}

void Client::Start(const ScanRequest& request, Callback<ItemPage> callback, CallOptions options) const {
  core_->Start(Encode(request), options, &DecodeScan, std::move(callback));
}

void Client::Start(const ExecuteStatementRequest& request, Callback<ExecuteStatementResult> callback,
                   CallOptions options) const {
  core_->Start(Encode(request), options,
               IsSelectStatement(request.statement) ? &DecodeSelectStatement : &DecodeWriteStatement,
               std::move(callback));
}

void Client::Start(const BatchExecuteStatementRequest& request,
                   Callback<BatchExecuteStatementResult> callback, CallOptions options) const {
  core_->Start(Encode(request), options,
               IsReadBatch(request) ? &DecodeReadStatements : &DecodeWriteStatements, std::move(callback));
}

void Client::Start(const ExecuteTransactionRequest& request, Callback<ExecuteTransactionResult> callback,
                   CallOptions options) const {
  core_->Start(Encode(request, options), options, &DecodeExecuteTransaction, std::move(callback));
}

void Client::Start(const SearchVectorsRequest& request, Callback<SearchVectorsResult> callback,
                   CallOptions options) const {
  core_->Start(Encode(request), options, &DecodeSearchVectors, std::move(callback));
}

ITEMDB_DEFINE_FORMS(PutItem, PutItemRequest, WriteResult)
ITEMDB_DEFINE_FORMS(UpdateItem, UpdateItemRequest, WriteResult)
ITEMDB_DEFINE_FORMS(DeleteItem, DeleteItemRequest, WriteResult)
ITEMDB_DEFINE_FORMS(BatchWriteItem, BatchWriteItemRequest, BatchWriteItemResult)
ITEMDB_DEFINE_FORMS(TransactWriteItems, TransactWriteItemsRequest, TransactWriteItemsResult)
ITEMDB_DEFINE_FORMS(GetItem, GetItemRequest, GetItemResult)
ITEMDB_DEFINE_FORMS(BatchGetItem, BatchGetItemRequest, BatchGetItemResult)
ITEMDB_DEFINE_FORMS(TransactGetItems, TransactGetItemsRequest, TransactGetItemsResult)
ITEMDB_DEFINE_FORMS(Query, QueryRequest, ItemPage)
ITEMDB_DEFINE_FORMS(Scan, ScanRequest, ItemPage)
ITEMDB_DEFINE_FORMS(ExecuteStatement, ExecuteStatementRequest, ExecuteStatementResult)
ITEMDB_DEFINE_FORMS(BatchExecuteStatement, BatchExecuteStatementRequest, BatchExecuteStatementResult)
ITEMDB_DEFINE_FORMS(ExecuteTransaction, ExecuteTransactionRequest, ExecuteTransactionResult)
ITEMDB_DEFINE_FORMS(SearchVectors, SearchVectorsRequest, SearchVectorsResult)

// ---- ranges --------------------------------------------------------------------------------------

namespace {

// The items of one page after another. `Request` is QueryRequest or ScanRequest; `fetch` gets one page.
template <typename Request, typename Fetch>
ItemRange PagedItems(Request request, Fetch fetch) {
  struct State {
    Request request;
    Fetch fetch;
    ItemPage page;
    size_t used = 0;
    bool last_page = false;
  };
  auto state = std::make_unique<State>(State{
      .request = std::move(request), .fetch = std::move(fetch), .page = {}, .used = 0, .last_page = false});
  return ItemRange([state = std::move(state)]() -> absl::StatusOr<std::optional<Item>> {
    // An empty page need not be the last: only a missing last_evaluated_key ends a range (SEM-030).
    while (state->used == state->page.items.size()) {
      if (state->last_page) return std::nullopt;
      ITEMDB_ASSIGN_OR_RETURN(ItemPage page, state->fetch(state->request));
      state->page = std::move(page);
      state->used = 0;
      state->last_page = !state->page.last_evaluated_key.has_value();
      state->request.exclusive_start_key = std::move(state->page.last_evaluated_key);
    }
    return std::move(state->page.items[state->used++]);
  });
}

}  // namespace

ItemRange Client::QueryAll(QueryRequest request, CallOptions options) const {
  return PagedItems(std::move(request), [client = *this, options](const QueryRequest& page) {
    return client.Query(page, options);
  });
}

ItemRange Client::ScanAll(ScanRequest request, CallOptions options) const {
  return PagedItems(std::move(request), [client = *this, options](const ScanRequest& page) {
    return client.Scan(page, options);
  });
}

}  // namespace itemdb
