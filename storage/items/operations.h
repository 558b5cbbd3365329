// The item operations. Database's methods of the same names call these functions.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "storage/engine/engine.h"
#include "storage/items/point_reads.h"
#include "storage/items/request_token.h"
#include "storage/items/write_action.h"
#include "storage/patterns/access_call.h"

namespace itemdb::storage {

// PutItem, UpdateItem, DeleteItem.
void WriteItem(Engine& engine, ActionKind kind, const wire::WriteItemRequest& request,
               Done<wire::WriteItemReply> done, CancellationPtr cancellation);
// The same for an action that is already prepared. From `request` only the options for the reply are read:
// consumed capacity, item collection metrics. `call`, like `access_call` below, measures the time since its
// making.
void WritePreparedItem(Engine& engine, AccessCall call, std::shared_ptr<const ReadView> view,
                       PreparedAction action, const wire::WriteItemRequest& request,
                       std::optional<RequestToken> token, Done<wire::WriteItemReply> done,
                       CancellationPtr cancellation);
void BatchWriteItem(Engine& engine, const wire::BatchWriteItemRequest& request,
                    Done<wire::BatchWriteItemReply> done, CancellationPtr cancellation);
void TransactWriteItems(Engine& engine, const wire::TransactWriteItemsRequest& request,
                        Done<wire::TransactWriteItemsReply> done, CancellationPtr cancellation);
// The same for actions that are already prepared; no two may be on the same item. From `request` only `large`
// and the options for the reply are read.
void WritePreparedTransaction(Engine& engine, MultiTableAccessCall access_call,
                              std::shared_ptr<const ReadView> view, std::vector<PreparedAction> actions,
                              const wire::TransactWriteItemsRequest& request,
                              std::optional<RequestToken> token, Done<wire::TransactWriteItemsReply> done,
                              CancellationPtr cancellation);
void BatchGetItem(Engine& engine, wire::BatchGetItemRequest request, Done<wire::BatchGetItemReply> done,
                  CancellationPtr cancellation);
void TransactGetItems(Engine& engine, const wire::TransactGetItemsRequest& request,
                      Done<wire::TransactGetItemsReply> done, CancellationPtr cancellation);
// The same for reads that are already prepared, of different items. From `request` only `large` and the
// option for consumed capacity are read. Cancelled if a read has a `key_error`.
void ReadPreparedTransaction(Engine& engine, MultiTableAccessCall access_call,
                             std::shared_ptr<const ReadView> view, std::vector<PointRead> reads,
                             const wire::TransactGetItemsRequest& request,
                             Done<wire::TransactGetItemsReply> done, CancellationPtr cancellation);
void GetItem(Engine& engine, const wire::GetItemRequest& request, Done<wire::GetItemReply> done,
             CancellationPtr cancellation);

}  // namespace itemdb::storage
