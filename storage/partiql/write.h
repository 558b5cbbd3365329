// INSERT, UPDATE, DELETE and EXISTS: translates a statement into an action on one item.
#pragma once

#include "itemdb/wire/data.pb.h"
#include "storage/engine/engine.h"
#include "storage/items/write_action.h"
#include "storage/partiql/statement.h"
#include "storage/patterns/access_call.h"

namespace itemdb::storage::partiql {

// Prepares `statement`, which must not be a SELECT, as an action. From `options` ReturnConsumedCapacity and
// ReturnValuesOnConditionCheckFailure are used; table, key or item and ReturnValues are filled in. "rest" is
// the part of WHERE that is not an equality on the key.
//
//   statement  action          condition
//   INSERT     PutItem         the item does not exist (PQL-02)
//   UPDATE     UpdateItem      the item exists, and the rest is true (PQL-03)
//   DELETE     DeleteItem      the item does not exist, or the rest is true (PQL-05)
//   EXISTS     ConditionCheck  the item exists, and the rest is true (PQL-06)
//
// NOT_FOUND: no such table. INVALID_ARGUMENT: WHERE does not name one item (PQL-16), wrong operand types,
// overlapping paths, or any other mistake that PrepareTransactAction refuses. A key that is too long or has
// another type is no error here; it sets the action's `key_error`.
absl::StatusOr<PreparedAction> PrepareWrite(const Statement& statement, const Catalog& catalog,
                                            wire::WriteItemRequest* options);

// A statement that is one write by itself.
struct SingleWrite {
  AccessCall call;
  std::shared_ptr<const ReadView> view;
  PreparedAction action;
  wire::WriteItemRequest options;
  bool inserts = false;
};
// INVALID_ARGUMENT: as above, the key does not fit, or the statement is EXISTS, which is allowed in
// transactions only.
absl::StatusOr<SingleWrite> PrepareSingleWrite(const Statement& statement,
                                               std::shared_ptr<const ReadView> view,
                                               wire::WriteItemRequest options);
// ALREADY_EXISTS (DUPLICATE_ITEM): an INSERT of an item that exists.
void ExecuteSingleWrite(Engine& engine, SingleWrite write, Done<wire::WriteItemReply> done,
                        CancellationPtr cancellation);

// The messages for an INSERT of an item that exists (ERR-13), and for a condition that was false.
inline constexpr std::string_view kDuplicateItemMessage = "Duplicate primary key exists in table";
inline constexpr std::string_view kConditionFailedMessage = "The conditional request failed";

}  // namespace itemdb::storage::partiql
