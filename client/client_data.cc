// The data operations of Client: each with a callback, and from that with a future and blocking.
// BatchWriteItem and BatchGetItem, which make many calls each, start in batch_write.cc and batch_get.cc.
#include <utility>

#include "client/core.h"
#include "client/decode.h"
#include "client/encode.h"
#include "client/wait.h"

namespace itemdb {

template <typename Result, typename Request>
std::future<absl::StatusOr<Result>> Client::StartAsync(const Request& request, CallOptions options) const {
  return Promised<Result>([&](Callback<Result> callback) { Start(request, std::move(callback), options); });
}

template <typename Result, typename Request>
absl::StatusOr<Result> Client::StartAndWait(const Request& request, CallOptions options) const {
  return Wait<Result>([&](Callback<Result> callback) { Start(request, std::move(callback), options); });
}

void Client::Start(const PutItemRequest& request, Callback<WriteResult> callback, CallOptions options) const {
  core_->Start(Encode(request, options), options, &DecodePutItem, std::move(callback));
}

std::future<absl::StatusOr<WriteResult>> Client::PutItemAsync(const PutItemRequest& request,
                                                              CallOptions options) const {
  return StartAsync<WriteResult>(request, options);
}

absl::StatusOr<WriteResult> Client::PutItem(const PutItemRequest& request, CallOptions options) const {
  return StartAndWait<WriteResult>(request, options);
}

void Client::Start(const UpdateItemRequest& request, Callback<WriteResult> callback,
                   CallOptions options) const {
  core_->Start(Encode(request, options), options, &DecodeUpdateItem, std::move(callback));
}

std::future<absl::StatusOr<WriteResult>> Client::UpdateItemAsync(const UpdateItemRequest& request,
                                                                 CallOptions options) const {
  return StartAsync<WriteResult>(request, options);
}

absl::StatusOr<WriteResult> Client::UpdateItem(const UpdateItemRequest& request, CallOptions options) const {
  return StartAndWait<WriteResult>(request, options);
}

void Client::Start(const DeleteItemRequest& request, Callback<WriteResult> callback,
                   CallOptions options) const {
  core_->Start(Encode(request, options), options, &DecodeDeleteItem, std::move(callback));
}

std::future<absl::StatusOr<WriteResult>> Client::DeleteItemAsync(const DeleteItemRequest& request,
                                                                 CallOptions options) const {
  return StartAsync<WriteResult>(request, options);
}

absl::StatusOr<WriteResult> Client::DeleteItem(const DeleteItemRequest& request, CallOptions options) const {
  return StartAndWait<WriteResult>(request, options);
}

std::future<absl::StatusOr<BatchWriteItemResult>> Client::BatchWriteItemAsync(
    const BatchWriteItemRequest& request, CallOptions options) const {
  return StartAsync<BatchWriteItemResult>(request, options);
}

absl::StatusOr<BatchWriteItemResult> Client::BatchWriteItem(const BatchWriteItemRequest& request,
                                                            CallOptions options) const {
  return StartAndWait<BatchWriteItemResult>(request, options);
}

void Client::Start(const TransactWriteItemsRequest& request, Callback<TransactWriteItemsResult> callback,
                   CallOptions options) const {
  core_->Start(Encode(request, options), options, &DecodeTransactWriteItems, std::move(callback));
}

std::future<absl::StatusOr<TransactWriteItemsResult>> Client::TransactWriteItemsAsync(
    const TransactWriteItemsRequest& request, CallOptions options) const {
  return StartAsync<TransactWriteItemsResult>(request, options);
}

absl::StatusOr<TransactWriteItemsResult> Client::TransactWriteItems(const TransactWriteItemsRequest& request,
                                                                    CallOptions options) const {
  return StartAndWait<TransactWriteItemsResult>(request, options);
}

void Client::Start(const GetItemRequest& request, Callback<GetItemResult> callback,
                   CallOptions options) const {
  core_->Start(Encode(request), options, &DecodeGetItem, std::move(callback));
}

std::future<absl::StatusOr<GetItemResult>> Client::GetItemAsync(const GetItemRequest& request,
                                                                CallOptions options) const {
  return StartAsync<GetItemResult>(request, options);
}

absl::StatusOr<GetItemResult> Client::GetItem(const GetItemRequest& request, CallOptions options) const {
  return StartAndWait<GetItemResult>(request, options);
}

std::future<absl::StatusOr<BatchGetItemResult>> Client::BatchGetItemAsync(const BatchGetItemRequest& request,
                                                                          CallOptions options) const {
  return StartAsync<BatchGetItemResult>(request, options);
}

absl::StatusOr<BatchGetItemResult> Client::BatchGetItem(const BatchGetItemRequest& request,
                                                        CallOptions options) const {
  return StartAndWait<BatchGetItemResult>(request, options);
}

void Client::Start(const TransactGetItemsRequest& request, Callback<TransactGetItemsResult> callback,
                   CallOptions options) const {
  core_->Start(Encode(request), options, &DecodeTransactGetItems, std::move(callback));
}

std::future<absl::StatusOr<TransactGetItemsResult>> Client::TransactGetItemsAsync(
    const TransactGetItemsRequest& request, CallOptions options) const {
  return StartAsync<TransactGetItemsResult>(request, options);
}

absl::StatusOr<TransactGetItemsResult> Client::TransactGetItems(const TransactGetItemsRequest& request,
                                                                CallOptions options) const {
  return StartAndWait<TransactGetItemsResult>(request, options);
}

void Client::Start(const QueryRequest& request, Callback<ItemPage> callback, CallOptions options) const {
  core_->Start(Encode(request), options, &DecodeQuery, std::move(callback));
}

std::future<absl::StatusOr<ItemPage>> Client::QueryAsync(const QueryRequest& request,
                                                         CallOptions options) const {
  return StartAsync<ItemPage>(request, options);
}

absl::StatusOr<ItemPage> Client::Query(const QueryRequest& request, CallOptions options) const {
  return StartAndWait<ItemPage>(request, options);
}

void Client::Start(const ScanRequest& request, Callback<ItemPage> callback, CallOptions options) const {
  core_->Start(Encode(request), options, &DecodeScan, std::move(callback));
}

std::future<absl::StatusOr<ItemPage>> Client::ScanAsync(const ScanRequest& request,
                                                        CallOptions options) const {
  return StartAsync<ItemPage>(request, options);
}

absl::StatusOr<ItemPage> Client::Scan(const ScanRequest& request, CallOptions options) const {
  return StartAndWait<ItemPage>(request, options);
}

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
      absl::StatusOr<ItemPage> page = state->fetch(state->request);
      if (!page.ok()) return page.status();
      state->page = *std::move(page);
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
