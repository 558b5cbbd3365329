#include "storage/items/write_action.h"

#include "absl/strings/match.h"
#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/catalog/key_counting.h"
#include "storage/catalog/key_paths.h"
#include "storage/changes/change_record.h"
#include "storage/expressions/from_request.h"
#include "storage/expressions/placeholders.h"
#include "storage/items/expiry.h"
#include "storage/items/item_collections.h"
#include "storage/values/canonical.h"
#include "storage/values/item_size.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

absl::Status CheckReturnValues(ActionKind kind, v1::ReturnValues return_values) {
  if (!v1::ReturnValues_IsValid(return_values)) {
    return ValidationError("SEM-058", "ReturnValues " + std::to_string(return_values) + " is unknown");
  }
  bool all_or_nothing = return_values == v1::RETURN_VALUES_UNSPECIFIED ||
                        return_values == v1::RETURN_VALUES_NONE || return_values == v1::RETURN_VALUES_ALL_OLD;
  if (kind != ActionKind::kUpdate && !all_or_nothing) {
    return WithServiceText(
        "ReturnValues can only be ALL_OLD or NONE",
        ValidationError("SEM-058",
                        "Return values set to invalid value: only NONE and ALL_OLD are allowed here"));
  }
  return absl::OkStatus();
}

// Refuses updates of the table's key attributes (EXP-32) and paths into those of indexes (SEM-071).
absl::Status CheckUpdatedAttributes(const Table& table, const UpdateExpression& update) {
  for (const std::string& name : update.TopLevelAttributes()) {
    if (table.IsKeyAttribute(name)) {
      return ValidationError("EXP-32", "One or more parameter values were invalid: Cannot update attribute " +
                                           name + ". This attribute is part of the key");
    }
  }
  return CheckNoPathIntoKeys(table, update.NestedAttributes());
}

// The condition and the update of `request`, as expressions or as legacy parameters.
absl::StatusOr<ActionExpressions> CompileExpressions(ActionKind kind, const wire::WriteItemRequest& request) {
  const bool is_update = kind == ActionKind::kUpdate;
  const bool has_update = is_update && request.has_update_expression();
  const bool has_condition = !request.condition_expression().empty();
  const bool has_legacy_update = is_update && !request.attribute_updates().empty();
  const bool has_expected = !request.expected().empty();
  ITEMDB_RETURN_IF_ERROR(CheckNotMixed(
      {{"AttributeUpdates", has_legacy_update},
       {"Expected", has_expected},
       {"ConditionalOperator", request.conditional_operator() != v1::CONDITIONAL_OPERATOR_UNSPECIFIED}},
      {{"UpdateExpression", has_update}, {"ConditionExpression", has_condition}}));
  ITEMDB_RETURN_IF_ERROR(CheckConditionalOperator(request.conditional_operator(), has_expected));
  ITEMDB_ASSIGN_OR_RETURN(Placeholders placeholders, MakePlaceholders(request, has_update || has_condition));
  ActionExpressions expressions;
  expressions.bytes = request.ByteSizeLong() - request.key_or_item().size();
  if (has_update) {
    ITEMDB_ASSIGN_OR_RETURN(expressions.update,
                            UpdateExpression::Compile(request.update_expression(), placeholders));
  } else if (has_legacy_update) {
    ITEMDB_ASSIGN_OR_RETURN(ValuedTree legacy, UpdatesTree(request.attribute_updates()));
    ITEMDB_ASSIGN_OR_RETURN(expressions.update, UpdateExpression::FromLegacy(std::move(legacy)));
  }
  if (has_condition) {
    ITEMDB_ASSIGN_OR_RETURN(
        expressions.condition,
        Condition::Compile("ConditionExpression", request.condition_expression(), placeholders));
  } else if (has_expected) {
    ITEMDB_ASSIGN_OR_RETURN(ValuedTree legacy,
                            ExpectedTree(request.expected(), request.conditional_operator()));
    expressions.condition = Condition::FromLegacy(std::move(legacy));
  }
  ITEMDB_RETURN_IF_ERROR(placeholders.CheckAllUsed());
  return expressions;
}

absl::Status CheckOptions(ActionKind kind, const wire::WriteItemRequest& request) {
  ITEMDB_RETURN_IF_ERROR(CheckReturnValues(kind, request.return_values()));
  if (!v1::ReturnValuesOnConditionCheckFailure_IsValid(request.return_values_on_condition_check_failure())) {
    return ValidationError("SEM-060", "ReturnValuesOnConditionCheckFailure " +
                                          std::to_string(request.return_values_on_condition_check_failure()) +
                                          " is unknown");
  }
  ITEMDB_RETURN_IF_ERROR(CheckReturnConsumedCapacity(request.return_consumed_capacity()));
  return CheckReturnItemCollectionMetrics(request.return_item_collection_metrics());
}

// Finds the index entries that differ between the old and the new item. An entry that cannot be made is an
// error, also in an index that is being backfilled; there the backfill writes the entries.
absl::Status CompareEntries(const PreparedAction& action, Decision* decision) {
  const std::string_view base_key = action.key.encoded;
  // Of the new item, if it has a vector; mostly the old item has the same.
  ReadVectorValue vector;
  for (const Index& index : action.table->indexes) {
    // The items differ, so entries of all attributes differ too, and need no copies to be compared.
    const bool needs_key_only = index.state == IndexState::kBackfilling || index.HoldsWholeItems();
    const auto make_entry = [&](std::string_view item) -> absl::StatusOr<std::optional<IndexEntry>> {
      if (!needs_key_only) return MakeIndexEntry(index, ItemView(item), base_key, &vector);
      ITEMDB_ASSIGN_OR_RETURN(std::optional<std::string> key, MakeEntryKey(index, ItemView(item), base_key));
      if (!key.has_value()) return std::nullopt;
      return IndexEntry{.key = *std::move(key), .item = {}, .item_size = ItemSizeBytes(ItemView(item))};
    };
    std::optional<IndexEntry> new_entry;
    std::optional<IndexEntry> old_entry;
    if (decision->new_item.has_value()) {
      ITEMDB_ASSIGN_OR_RETURN(new_entry, make_entry(*decision->new_item));
    }
    if (index.state == IndexState::kBackfilling) continue;
    if (decision->old_item.has_value()) {
      auto entry = make_entry(*decision->old_item);
      // An item written before the index was created may have no valid entry: the index skips it (SEM-097).
      if (entry.ok()) old_entry = *std::move(entry);
    }
    if (!old_entry.has_value() && !new_entry.has_value()) continue;
    if (!needs_key_only && old_entry == new_entry) continue;
    Decision::EntryChange change{&index, std::nullopt, std::nullopt, {}};
    if (old_entry.has_value()) {
      const uint64_t checksum =
          RecordChecksum(index.storage_id, old_entry->key, old_entry->item_size,
                         index.HoldsWholeItems() ? *decision->old_item : std::string_view(old_entry->item));
      change.old_entry = {std::move(old_entry->key), old_entry->item_size, checksum};
    }
    if (new_entry.has_value()) {
      change.new_entry = {std::move(new_entry->key), new_entry->item_size, 0};
      change.projected = std::move(new_entry->item);
    }
    decision->entry_changes.push_back(std::move(change));
  }
  return absl::OkStatus();
}

// Whether every index can have an entry of the item that is put.
absl::Status CheckFitsIndexes(const PreparedAction& action) {
  ReadVectorValue vector;
  for (const Index& index : action.table->indexes) {
    const ItemView item(action.key_or_item);
    ITEMDB_RETURN_IF_ERROR(index.vector.has_value()
                               ? MakeIndexEntry(index, item, action.key.encoded, &vector).status()
                               : MakeEntryKey(index, item, action.key.encoded).status());
  }
  return absl::OkStatus();
}

// What the new entry of `change` holds.
std::string_view NewEntryItem(const Decision& decision, const Decision::EntryChange& change) {
  return change.index->HoldsWholeItems() ? *decision.new_item : change.projected;
}

// The item after `action`, given the one before.
absl::StatusOr<std::optional<std::string>> NewItem(const PreparedAction& action,
                                                   std::optional<std::string_view> old_item) {
  switch (action.kind) {
    case ActionKind::kPut:
      return action.key_or_item;
    case ActionKind::kDelete:
    case ActionKind::kExpire:
      return std::nullopt;
    case ActionKind::kConditionCheck:
      break;
    case ActionKind::kUpdate: {
      if (!action.update.has_value())
        return old_item.has_value() ? std::string(*old_item) : action.key_or_item;
      if (!old_item.has_value() && !action.update->CreatesItem()) return std::nullopt;
      ItemView before(old_item.value_or(action.key_or_item));
      ITEMDB_ASSIGN_OR_RETURN(std::string item, action.update->Apply(before, old_item.has_value()));
      if (ItemSizeBytes(ItemView(item)) > kMaxItemBytes) {
        return DetailedError("SEM-001", "Item size to update has exceeded the maximum allowed size",
                             " of " + std::to_string(kMaxItemBytes) + " bytes");
      }
      if (item.size() > kMaxEncodedItemBytes) {
        return WithServiceText(
            "Item size to update has exceeded the maximum allowed size",
            ValidationError("SEM-001",
                            "the item would be " + std::to_string(item.size()) +
                                " bytes long as encoded, with all its numbers written out; at most " +
                                std::to_string(kMaxEncodedItemBytes) + " are allowed"));
      }
      return item;
    }
  }
  if (!old_item.has_value()) return std::nullopt;
  return std::string(*old_item);
}

// An update gets another text than a put for an index key that is empty.
absl::Status WithTextOfUpdate(absl::Status error) {
  if (!IsEmptyIndexKeyError(error)) return error;
  constexpr std::string_view kOfPut = "A value specified for a secondary index key is not supported. ";
  constexpr std::string_view kAfter = " value.";
  const std::string text = ServiceTextOf(error);
  const size_t end = text.find(kAfter);
  const size_t begin = text.find(kOfPut);
  if (begin == std::string::npos || end == std::string::npos) return error;
  return WithServiceText(
      text.substr(0, begin) +
          "The update expression attempted to update a secondary index key to a value that "
          "is not supported. " +
          text.substr(begin + kOfPut.size(), end + kAfter.size() - begin - kOfPut.size()),
      std::move(error));
}

Decision Failed(absl::Status error) {
  Decision decision;
  decision.outcome = Decision::Outcome::kError;
  decision.error = std::move(error);
  return decision;
}

}  // namespace

bool IsEmptyIndexKeyError(const absl::Status& status) {
  return RuleOf(status) == "SEM-070" && absl::StrContains(status.message(), "cannot contain an empty");
}

absl::StatusOr<PreparedAction> PrepareAction(ActionKind kind, const wire::WriteItemRequest& request,
                                             const Catalog& catalog) {
  ITEMDB_ASSIGN_OR_RETURN(PreparedAction action, PrepareTransactAction(kind, request, catalog));
  ITEMDB_RETURN_IF_ERROR(action.key_error);
  return action;
}

absl::StatusOr<PreparedAction> PrepareTransactAction(ActionKind kind, const wire::WriteItemRequest& request,
                                                     const Catalog& catalog) {
  // The order of the checks is: expressions, table, key schema, data (SEM-115).
  ITEMDB_RETURN_IF_ERROR(CheckOptions(kind, request));
  ITEMDB_ASSIGN_OR_RETURN(ActionExpressions expressions, CompileExpressions(kind, request));
  return PrepareTransactAction(kind, request, std::move(expressions), catalog);
}

absl::StatusOr<PreparedAction> PrepareTransactAction(ActionKind kind, const wire::WriteItemRequest& request,
                                                     ActionExpressions expressions, const Catalog& catalog) {
  ITEMDB_RETURN_IF_ERROR(CheckOptions(kind, request));
  PreparedAction action;
  action.kind = kind;
  action.return_values = request.return_values();
  action.return_item_on_condition_failure = request.return_values_on_condition_check_failure() ==
                                            v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD;
  action.condition = std::move(expressions.condition);
  action.update = std::move(expressions.update);
  action.expression_bytes = expressions.bytes;

  ITEMDB_ASSIGN_OR_RETURN(action.key_or_item, CanonicalizeItem(request.key_or_item()));
  ItemView key_or_item(action.key_or_item);
  if (kind == ActionKind::kPut && ItemSizeBytes(key_or_item) > kMaxItemBytes) {
    return DetailedError("SEM-001", "Item size has exceeded the maximum allowed size",
                         " of " + std::to_string(kMaxItemBytes) + " bytes");
  }
  ITEMDB_ASSIGN_OR_RETURN(action.table, catalog.Find(request.table_name()));

  const Table& table = *action.table;
  std::string key;
  action.key_error =
      kind == ActionKind::kPut ? CheckHasKey(table, key_or_item) : CheckKeyIsExact(table, key_or_item);
  if (action.key_error.ok()) {
    ITEMDB_ASSIGN_OR_RETURN(key, EncodeKeyOfAnySize(table, key_or_item));
    action.key_error = CheckKeySize(table, key_or_item);
  }
  action.key = ItemKey(table.storage_id, std::move(key));
  if (!action.key_error.ok()) return action;
  if (action.update.has_value()) ITEMDB_RETURN_IF_ERROR(CheckUpdatedAttributes(table, *action.update));
  if (action.condition.has_value())
    ITEMDB_RETURN_IF_ERROR(CheckNoPathIntoKeys(table, action.condition->NestedAttributes()));
  return action;
}

size_t HeldBytes(const Decision& decision) {
  size_t bytes = decision.old_item.value_or(std::string_view()).size();
  if (decision.new_item.has_value()) bytes += decision.new_item->size();
  for (const Decision::EntryChange& change : decision.entry_changes) {
    if (change.new_entry.has_value()) bytes += NewEntryItem(decision, change).size();
  }
  return bytes;
}

absl::Status CheckTablesNotFenced(const std::vector<PreparedAction>& actions, const CommitGroup& group) {
  const Table* checked = nullptr;
  for (const PreparedAction& action : actions) {
    if (action.table.get() == checked) continue;
    checked = action.table.get();
    const auto current_table = group.catalog()->FindByName(checked->name);
    if (current_table != nullptr) ITEMDB_RETURN_IF_ERROR(CheckNotFenced(*current_table, action.pass_sha256));
  }
  return absl::OkStatus();
}

Decision Decide(PreparedAction& action, CommitGroup& group) {
  // The table may have been deleted or changed since the action was prepared.
  auto current_table = group.catalog()->Find(action.table->name);
  if (!current_table.ok()) return Failed(current_table.status());
  if ((*current_table)->storage_id != action.table->storage_id) {
    return Failed(NotFoundError("Requested resource not found: Table: " + action.table->name +
                                " was deleted while the request was on its way"));
  }
  if (absl::Status fence = CheckNotFenced(**current_table, action.pass_sha256); !fence.ok())
    return Failed(fence);

  if (!action.key_error.ok()) return Failed(action.key_error);
  if (*current_table != action.table) {
    // The checks of the key schema stay valid, as it cannot change. If an index was created since, an update
    // inside its key attribute was not refused; but it leaves a list or map there, which the index refuses.
    action.table = *std::move(current_table);
  }
  auto old_item = group.CurrentItem(*action.table, action.key, action.prefetched);
  if (!old_item.ok()) return Failed(old_item.status());
  Decision decision;
  decision.old_item = *old_item;
  if (decision.old_item.has_value()) decision.old_size = ItemSizeBytes(ItemView(*decision.old_item));
  if (action.condition.has_value() &&
      !action.condition->Evaluate(ItemView(decision.old_item.value_or(std::string_view())))) {
    // What is wrong with the item comes first.
    if (action.kind == ActionKind::kPut) {
      if (absl::Status fits = CheckFitsIndexes(action); !fits.ok()) return Failed(std::move(fits));
    }
    decision.outcome = Decision::Outcome::kConditionFailed;
    return decision;
  }
  if (action.expected_item.has_value() &&
      decision.old_item.value_or(std::string_view()) != *action.expected_item) {
    decision.outcome = Decision::Outcome::kConditionFailed;
    return decision;
  }
  if (action.kind == ActionKind::kExpire &&
      !(decision.old_item.has_value() &&
        HasExpired(*action.table, ItemView(*decision.old_item), group.wall_time_us()))) {
    decision.outcome = Decision::Outcome::kConditionFailed;
    return decision;
  }
  if (action.kind == ActionKind::kConditionCheck) return decision;

  auto new_item = NewItem(action, decision.old_item);
  if (!new_item.ok()) return Failed(new_item.status());
  decision.new_item = *std::move(new_item);
  if (decision.new_item.has_value()) decision.new_size = ItemSizeBytes(ItemView(*decision.new_item));
  // Canonical items that are equal have equal bytes. A write that changes nothing has no record (SEM-102).
  decision.changed = decision.old_item != decision.new_item;
  if (decision.changed) {
    if (absl::Status compared = CompareEntries(action, &decision); !compared.ok())
      return Failed(action.kind == ActionKind::kUpdate ? WithTextOfUpdate(std::move(compared))
                                                       : std::move(compared));
  }
  return decision;
}

void Append(const PreparedAction& action, const Decision& decision, uint64_t commit_first,
            uint64_t commit_last, CommitGroup& group) {
  const Table& table = *action.table;
  ItemChange change;
  change.change_sequence = group.next_sequence();
  change.commit_time_us = group.commit_time_us();
  change.commit_first_sequence = commit_first;
  change.commit_last_sequence = commit_last;
  change.expired = action.kind == ActionKind::kExpire;
  change.old_item = decision.old_item;
  if (decision.new_item.has_value()) change.new_item = *decision.new_item;

  SizeStatistics counted;
  if (decision.old_item.has_value()) {
    counted.RemoveRecord(decision.old_size, RecordChecksum(table.storage_id, action.key.encoded,
                                                           decision.old_size, *decision.old_item));
  }
  if (decision.new_item.has_value()) {
    counted.AddRecord(decision.new_size,
                      group.PutItem(table, action.key, *decision.new_item, decision.new_size));
  } else {
    group.DeleteItem(table, action.key);
  }
  group.size_statistics().Add(table.storage_id, counted);
  if (table.has_local_indexes)
    group.size_statistics().AddToCollection(table.storage_id, action.key, CollectionChange(action, decision));

  for (const Decision::EntryChange& entry : decision.entry_changes) {
    const Index& index = *entry.index;
    SizeStatistics counted_entries;
    if (entry.old_entry.has_value()) {
      counted_entries.RemoveRecord(entry.old_entry->item_size, entry.old_entry->checksum);
      bool replaced = entry.new_entry.has_value() && entry.new_entry->key == entry.old_entry->key;
      if (!replaced) group.DeleteEntry(index, entry.old_entry->key);
    }
    if (entry.new_entry.has_value()) {
      counted_entries.AddRecord(entry.new_entry->item_size,
                                group.PutEntry(index, entry.new_entry->key, NewEntryItem(decision, entry),
                                               entry.new_entry->item_size));
    }
    group.size_statistics().Add(index.storage_id, counted_entries);
  }
  group.AppendChange(table.storage_id, EncodeItemChange(table, change));
}

void AddConsumedCapacity(const PreparedAction& action, const Decision& decision, bool transactional,
                         CapacityMeter* capacity) {
  capacity->AddWrite(*action.table, action.key.encoded,
                     WriteUnits(std::max(decision.old_size, decision.new_size)) * (transactional ? 2 : 1));
  for (const Decision::EntryChange& entry : decision.entry_changes) {
    if (entry.index->time_to_live) continue;  // Writes of this index cost no capacity (SEM-110).
    size_t old_entry = entry.old_entry.has_value() ? entry.old_entry->item_size : 0;
    size_t new_entry = entry.new_entry.has_value() ? entry.new_entry->item_size : 0;
    bool moved = entry.old_entry.has_value() && entry.new_entry.has_value() &&
                 entry.old_entry->key != entry.new_entry->key;
    if (entry.index->vector.has_value()) {
      const size_t bytes = moved ? VectorBytes(old_entry) + VectorBytes(new_entry)
                                 : VectorBytes(std::max(old_entry, new_entry));
      capacity->AddVectorIndex(*action.table, *entry.index, bytes);
      continue;
    }
    double units =
        moved ? WriteUnits(old_entry) + WriteUnits(new_entry) : WriteUnits(std::max(old_entry, new_entry));
    capacity->AddIndexWrite(*action.table, *entry.index, units);
    if (entry.index->counted_keys == nullptr) continue;
    if (moved) {
      CountUsedKey(*entry.index, entry.old_entry->key, WriteUnits(old_entry));
      CountUsedKey(*entry.index, entry.new_entry->key, WriteUnits(new_entry));
    } else {
      CountUsedKey(*entry.index, (entry.new_entry.has_value() ? entry.new_entry : entry.old_entry)->key,
                   units);
    }
  }
}

std::optional<std::string> ReturnedAttributes(const PreparedAction& action, const Decision& decision) {
  auto touched = [&action](std::optional<std::string_view> item) -> std::optional<std::string> {
    if (!item.has_value() || !action.update.has_value()) return std::nullopt;
    std::string part = action.update->TouchedPart(ItemView(*item));
    if (part.empty()) return std::nullopt;
    return part;
  };
  switch (action.return_values) {
    case v1::RETURN_VALUES_ALL_OLD:
      if (!decision.old_item.has_value()) return std::nullopt;
      return std::string(*decision.old_item);
    case v1::RETURN_VALUES_ALL_NEW:
      return decision.new_item;
    case v1::RETURN_VALUES_UPDATED_OLD:
      return touched(decision.old_item);
    case v1::RETURN_VALUES_UPDATED_NEW:
      return touched(decision.new_item);
    default:
      return std::nullopt;
  }
}

}  // namespace itemdb::storage
