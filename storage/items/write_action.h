// One action on one item: how a put, update, delete or condition check is prepared, decided and appended.
//
// A single write has one action; a batch and a transaction have several. The thread of the request prepares
// them. The commit leader decides and appends them when it applies their commit unit
// (storage/commit/commit_pipeline.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/wire/data.pb.h"
#include "storage/catalog/capacity.h"
#include "storage/catalog/catalog.h"
#include "storage/commit/commit_group.h"
#include "storage/expressions/condition.h"
#include "storage/expressions/update.h"
#include "storage/indexes/index_entry.h"

namespace itemdb::storage {

enum class ActionKind {
  kPut,
  kUpdate,
  kDelete,
  kConditionCheck,
  // Deletes the item if it has expired when the action is decided. If the item is missing or has not expired,
  // the outcome is kConditionFailed.
  kExpire,
};

// An action that passed all checks that need only the request and the table's definition.
struct PreparedAction {
  ActionKind kind = ActionKind::kPut;
  std::shared_ptr<const Table> table;
  ItemKey key;
  // Canonical: the new item of a put, otherwise the key attributes. Empty for kExpire.
  std::string key_or_item;
  std::optional<Condition> condition;
  std::optional<UpdateExpression> update;
  // If set, the item must be this one, canonical, or missing if it is empty; otherwise the outcome is
  // kConditionFailed.
  std::optional<std::string> expected_item;
  v1::ReturnValues return_values = v1::RETURN_VALUES_NONE;
  bool return_item_on_condition_failure = false;
  // Not OK: the key is too long or does not fit the key schema, so the action can never be applied. In a
  // transaction this is a cancellation reason and not an error of the request (SEM-005). `key` is empty if
  // it cannot be encoded.
  absl::Status key_error;
  // The fence with this `pass_sha256` lets the action through. Empty: none does.
  std::string pass_sha256;
  // Memory of the compiled expressions and their values, in bytes, estimated.
  size_t expression_bytes = 0;
  // The item that the action is about to replace.
  PrefetchedRead prefetched;
};

// Checks `request` and looks its table up in `catalog`. NOT_FOUND: no such table. INVALID_ARGUMENT: any other
// mistake. A key that is too long or does not fit is no error here; it sets the action's `key_error`.
absl::StatusOr<PreparedAction> PrepareTransactAction(ActionKind kind, const wire::WriteItemRequest& request,
                                                     const Catalog& catalog);
// The compiled condition and update of a write.
struct ActionExpressions {
  std::optional<Condition> condition;
  std::optional<UpdateExpression> update;
  // Their memory, values included, in bytes, estimated.
  size_t bytes = 0;
};
// The same, but with `expressions` instead of those in the request.
absl::StatusOr<PreparedAction> PrepareTransactAction(ActionKind kind, const wire::WriteItemRequest& request,
                                                     ActionExpressions expressions, const Catalog& catalog);

// The same outside transactions, where such a key is an error of the request: INVALID_ARGUMENT.
absl::StatusOr<PreparedAction> PrepareAction(ActionKind kind, const wire::WriteItemRequest& request,
                                             const Catalog& catalog);

// Whether `status` says that a write would leave an index key empty (SEM-070). In a transaction this is an
// error of the request, not a reason of the cancellation (SEM-053).
bool IsEmptyIndexKeyError(const absl::Status& status);

// What an action does to the current item.
struct Decision {
  enum class Outcome {
    // The action is applied. It may change nothing (`changed` is false).
    kApply,
    kConditionFailed,
    // `error` is set: the result would not be a valid item, a read failed, or the table was deleted.
    kError,
  };

  Outcome outcome = Outcome::kApply;
  absl::Status error;
  // The item before the action. Borrows from the commit group: valid until the unit's Apply returns.
  std::optional<std::string_view> old_item;
  // The item after the action; nothing if it is removed or stays missing. The commit group borrows it.
  std::optional<std::string> new_item;
  // The sizes of these items (SEM-002); 0 if there is none.
  size_t old_size = 0;
  size_t new_size = 0;
  // Whether old and new differ.
  bool changed = false;

  // An index entry, without what it holds: with many indexes of all attributes a copy for each entry would
  // take many times the memory of the items.
  struct Entry {
    std::string key;
    // As of IndexEntry.
    size_t item_size = 0;
    // Of the record; only of an entry that is there already.
    uint64_t checksum = 0;
  };
  // One index entry to replace.
  struct EntryChange {
    const Index* index;
    std::optional<Entry> old_entry;
    std::optional<Entry> new_entry;
    // What the new entry holds; empty in an index of all attributes, whose entry holds `new_item`.
    std::string projected;
  };
  std::vector<EntryChange> entry_changes;
};

// The bytes that `decision` holds in memory and that it writes: the item before and after it, and each new
// index entry.
size_t HeldBytes(const Decision& decision);

// The refusal of the first fenced table that `actions` name, for units whose actions are decided one by one:
// such a unit is refused whole, because the rest of it may be applied later.
absl::Status CheckTablesNotFenced(const std::vector<PreparedAction>& actions, const CommitGroup& group);

// Decides `action` against the current item; appends nothing. Sets action.table to the current definition.
Decision Decide(PreparedAction& action, CommitGroup& group);

// Appends a decision that changes something: item, index entries, size statistics and change record. The
// change record belongs to the commit whose records have the sequences `commit_first` to `commit_last`.
// CheckCollections (item_collections.h) must have been called with the decision.
void Append(const PreparedAction& action, const Decision& decision, uint64_t commit_first,
            uint64_t commit_last, CommitGroup& group);

// Adds the write units that the service would charge for a decided action (SEM-063, SEM-064).
void AddConsumedCapacity(const PreparedAction& action, const Decision& decision, bool transactional,
                         CapacityMeter* capacity);

// The attributes that ReturnValues asks for; nothing if it asks for none, or none exist.
std::optional<std::string> ReturnedAttributes(const PreparedAction& action, const Decision& decision);

}  // namespace itemdb::storage
