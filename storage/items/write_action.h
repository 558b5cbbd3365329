// One action on one item: how a put, update, delete or condition check is prepared and decided.
//
// Every write operation is made of these: a single write of one, a batch and a transaction of several.
// Preparing happens on the request's thread, deciding at the write's place in the commit order
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

namespace itemdb {

enum class ActionKind {
  kPut,
  kUpdate,
  kDelete,
  kConditionCheck,
  // Deletes the item if it has expired when its turn comes; the condition has failed when it has not, or is
  // not there.
  kExpire,
};

// An action whose request has been checked as far as the request and the table's definition allow.
struct PreparedAction {
  ActionKind kind = ActionKind::kPut;
  std::shared_ptr<const Table> table;
  ItemKey key;
  // Canonical: the new item of a put, otherwise the key attributes. Empty when it expires.
  std::string key_or_item;
  std::optional<Condition> condition;
  std::optional<UpdateExpression> update;
  v1::ReturnValues return_values = v1::RETURN_VALUES_NONE;
  bool return_item_on_condition_failure = false;
  // Why the action can never be applied, when that is an outcome of its own and no error of the request
  // (SEM-005).
  absl::Status refusal;
  // What compiled expressions and their values hold, in bytes.
  size_t expression_bytes = 0;
  // The item this action is about to replace.
  CarriedRead carried;
};

// Checks `request` and looks its table up in `catalog`. NOT_FOUND: no such table. INVALID_ARGUMENT: anything
// else; but a key that is too long is left to the action's `refusal`.
absl::StatusOr<PreparedAction> PrepareTransactAction(ActionKind kind, const wire::WriteItemRequest& request,
                                                     const Catalog& catalog);
// What a write's condition and update say, compiled.
struct ActionExpressions {
  std::optional<Condition> condition;
  std::optional<UpdateExpression> update;
  // What they and their values hold, about, in bytes.
  size_t bytes = 0;
};
// The same with `expressions` in place of the request's.
absl::StatusOr<PreparedAction> PrepareTransactAction(ActionKind kind, const wire::WriteItemRequest& request,
                                                     ActionExpressions expressions, const Catalog& catalog);

// The same outside transactions, where such a key is an error of the request too.
absl::StatusOr<PreparedAction> PrepareAction(ActionKind kind, const wire::WriteItemRequest& request,
                                             const Catalog& catalog);

// What an action does to the current item.
struct Decision {
  enum class Outcome {
    // The item is to be written, or is already as asked.
    kApply,
    kConditionFailed,
    // `error` says why the result would be no valid item, or what could not be read.
    kError,
  };

  Outcome outcome = Outcome::kApply;
  absl::Status error;
  // The item before. Borrows from the commit group: valid until the unit's Order returns.
  std::optional<std::string_view> old_item;
  // The item after, nothing when it is removed (or stays missing). Owned here: the commit group borrows it.
  std::optional<std::string> new_item;
  // Whether old and new differ.
  bool changed = false;

  // One index entry to replace.
  struct EntryChange {
    const Index* index;
    std::optional<IndexEntry> old_entry;
    std::optional<IndexEntry> new_entry;
  };
  std::vector<EntryChange> entry_changes;
};

// Decides `action` against the current item, and gives it the table's definition as it is now. Appends
// nothing.
Decision Decide(PreparedAction& action, CommitGroup& group);

// Appends item, index entries and counters of a decision that changes something, and its change record as
// part of the commit whose records have the sequences `commit_first` to `commit_last`. CheckCollections
// (item_collections.h) must have seen the decision.
void Append(const PreparedAction& action, const Decision& decision, uint64_t commit_first,
            uint64_t commit_last, CommitGroup& group);

// Adds what the service would charge for a decided action (SEM-063, SEM-064).
void AddConsumedCapacity(const PreparedAction& action, const Decision& decision, bool transactional,
                         CapacityMeter* capacity);

// What ReturnValues asks for; nothing when it asks for nothing or there is nothing to show.
std::optional<std::string> ReturnedAttributes(const PreparedAction& action, const Decision& decision);

}  // namespace itemdb
