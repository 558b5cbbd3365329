// INSERT, UPDATE, DELETE and EXISTS: from a statement to the action on one item that it is.
#pragma once

#include "itemdb/wire/data.pb.h"
#include "storage/engine/engine.h"
#include "storage/items/write_action.h"
#include "storage/partiql/statement.h"

namespace itemdb::partiql {

// `statement`, which is no SELECT, as an action. `options` is a request of which ReturnConsumedCapacity and
// ReturnValuesOnConditionCheckFailure count; what the statement says is filled in.
//
//   INSERT  PutItem, if there is no such item (PQL-02)
//   UPDATE  UpdateItem, if there is such an item and what WHERE says beside the key holds (PQL-03)
//   DELETE  DeleteItem, if there is no such item or what WHERE says beside the key holds (PQL-05)
//   EXISTS  ConditionCheck that there is such an item, and that what WHERE says beside the key holds (PQL-06)
//
// NOT_FOUND: no such table. INVALID_ARGUMENT: WHERE does not name one item (PQL-16), operand types,
// overlapping paths, anything else that PrepareTransactAction refuses; a key that is too long is left to the
// action's refusal.
absl::StatusOr<PreparedAction> PrepareWrite(const Statement& statement, const Catalog& catalog,
                                            wire::WriteItemRequest* options);

// Applies `statement` by itself. ALREADY_EXISTS (DUPLICATE_ITEM): an INSERT of an item that exists.
// INVALID_ARGUMENT: also EXISTS, which only a transaction takes.
void ExecuteWrite(Engine& engine, const Statement& statement, wire::WriteItemRequest options,
                  Done<wire::WriteItemReply> done, CancellationPtr cancellation);

// The words for an INSERT of an item that exists (ERR-13), and for a condition that was false.
inline constexpr std::string_view kDuplicateItemMessage = "Duplicate primary key exists in table";
inline constexpr std::string_view kConditionFailedMessage = "The conditional request failed";

}  // namespace itemdb::partiql
