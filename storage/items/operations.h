// The item operations behind Database's methods of the same names.
#pragma once

#include "storage/engine/engine.h"
#include "storage/items/write_action.h"

namespace itemdb {

// PutItem, UpdateItem, DeleteItem.
void WriteItem(Engine& engine, ActionKind kind, const wire::WriteItemRequest& request,
               Done<wire::WriteItemReply> done, CancellationPtr cancellation);
void BatchWriteItem(Engine& engine, const wire::BatchWriteItemRequest& request,
                    Done<wire::BatchWriteItemReply> done, CancellationPtr cancellation);
void TransactWriteItems(Engine& engine, const wire::TransactWriteItemsRequest& request,
                        Done<wire::TransactWriteItemsReply> done, CancellationPtr cancellation);
void BatchGetItem(Engine& engine, wire::BatchGetItemRequest request, Done<wire::BatchGetItemReply> done,
                  CancellationPtr cancellation);
void TransactGetItems(Engine& engine, const wire::TransactGetItemsRequest& request,
                      Done<wire::TransactGetItemsReply> done, CancellationPtr cancellation);
void GetItem(Engine& engine, const wire::GetItemRequest& request, Done<wire::GetItemReply> done,
             CancellationPtr cancellation);

}  // namespace itemdb
