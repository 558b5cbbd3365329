// The item operations behind Database's methods of the same names.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "storage/engine/engine.h"
#include "storage/items/point_reads.h"
#include "storage/items/request_token.h"
#include "storage/items/write_action.h"
#include "storage/patterns/access_call.h"

namespace itemdb {

// PutItem, UpdateItem, DeleteItem.
void WriteItem(Engine& engine, ActionKind kind, const wire::WriteItemRequest& request,
               Done<wire::WriteItemReply> done, CancellationPtr cancellation);
// The same of an action that is prepared from `request`, of which only the options are looked at. `call`
// began with the request.
void WritePreparedItem(Engine& engine, AccessCall call, std::shared_ptr<const ReadView> view,
                       PreparedAction action, const wire::WriteItemRequest& request,
                       std::optional<RequestToken> token, Done<wire::WriteItemReply> done,
                       CancellationPtr cancellation);
void BatchWriteItem(Engine& engine, const wire::BatchWriteItemRequest& request,
                    Done<wire::BatchWriteItemReply> done, CancellationPtr cancellation);
void TransactWriteItems(Engine& engine, const wire::TransactWriteItemsRequest& request,
                        Done<wire::TransactWriteItemsReply> done, CancellationPtr cancellation);
// The same of actions that are prepared, on different items, from `request`, of which only the options are
// looked at. `calls` began with it.
void WritePreparedTransaction(Engine& engine, SeveralAccessCalls calls, std::shared_ptr<const ReadView> view,
                              std::vector<PreparedAction> actions,
                              const wire::TransactWriteItemsRequest& request,
                              std::optional<RequestToken> token, Done<wire::TransactWriteItemsReply> done,
                              CancellationPtr cancellation);
void BatchGetItem(Engine& engine, wire::BatchGetItemRequest request, Done<wire::BatchGetItemReply> done,
                  CancellationPtr cancellation);
void TransactGetItems(Engine& engine, const wire::TransactGetItemsRequest& request,
                      Done<wire::TransactGetItemsReply> done, CancellationPtr cancellation);
// The same of reads that are prepared, of different items, for `request`, of which only the options are
// looked at. `calls` began with it.
void ReadPreparedTransaction(Engine& engine, SeveralAccessCalls calls, std::shared_ptr<const ReadView> view,
                             std::vector<PointRead> reads, const wire::TransactGetItemsRequest& request,
                             Done<wire::TransactGetItemsReply> done, CancellationPtr cancellation);
void GetItem(Engine& engine, const wire::GetItemRequest& request, Done<wire::GetItemReply> done,
             CancellationPtr cancellation);

}  // namespace itemdb
