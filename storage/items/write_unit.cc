#include "storage/items/write_unit.h"

#include <algorithm>

#include "storage/base/limits.h"

namespace itemdb::storage {
namespace {

// Counted for an action in the queue besides its items and texts: descriptors, expressions, callback.
constexpr size_t kActionOverheadBytes = 512;

// Counted for a change record besides key and images: sequences, times, kind, lengths.
constexpr size_t kRecordOverheadBytes = 64;

absl::Status LimitExceeded(const std::string& message) {
  return MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                   "nothing was written: " + message);
}

absl::Status CheckItemBytes(size_t bytes, size_t max_bytes) {
  if (bytes <= max_bytes) return absl::OkStatus();
  return LimitExceeded("the items that it replaces and makes, with their index entries, have more than " +
                       std::to_string(max_bytes) + " bytes");
}

// The bytes that a decision holds in memory and writes.
size_t ItemBytes(const Decision& decision) {
  size_t bytes = decision.old_item.value_or(std::string_view()).size();
  if (decision.new_item.has_value()) bytes += decision.new_item->size();
  for (const Decision::EntryChange& entry : decision.entry_changes) {
    if (entry.old_entry.has_value()) bytes += entry.old_entry->item.size();
    if (entry.new_entry.has_value()) bytes += entry.new_entry->item.size();
  }
  return bytes;
}

void Submit(Engine& engine, std::unique_ptr<WriteUnit> unit) {
  std::unique_ptr<CommitUnit> commit_unit = std::move(unit);
  if (absl::Status refused = engine.Submit(commit_unit); !refused.ok()) commit_unit->Complete(refused, 0);
}

}  // namespace

size_t SizeBytesOf(const std::vector<PreparedAction>& actions) {
  size_t bytes = 0;
  for (const PreparedAction& action : actions) {
    bytes += action.key.encoded.size() + action.key_or_item.size() + action.expression_bytes +
             kActionOverheadBytes;
    if (action.prefetched.item.has_value()) bytes += action.prefetched.item->size();
  }
  return bytes;
}

absl::StatusOr<bool> PrefetchItems(const ReadView& view, ReadTier tier, size_t max_bytes, size_t keep_bytes,
                                   std::vector<PreparedAction>* actions) {
  size_t bytes = 0;
  for (PreparedAction& action : *actions) {
    ITEMDB_ASSIGN_OR_RETURN(Lookup lookup, LookupItem(view, *action.table, action.key.encoded, tier));
    if (lookup.would_block) return false;
    if (action.table->has_local_indexes) {
      ITEMDB_ASSIGN_OR_RETURN(bool in_memory,
                              PrefetchCollection(view, action.table->storage_id, action.key.encoded, tier));
      if (!in_memory) return false;
    }
    if (lookup.item.has_value()) bytes += lookup.item->size();
    ITEMDB_RETURN_IF_ERROR(CheckItemBytes(bytes, max_bytes));
    if (bytes > keep_bytes) continue;
    action.prefetched.item = std::move(lookup.item);
    action.prefetched.group = view.group();
  }
  return true;
}

bool WriteUnit::Outcome::Applied() const {
  return status.ok() && std::all_of(results.begin(), results.end(), [](const Result& result) {
           return result.outcome == Decision::Outcome::kApply;
         });
}

WriteUnit::WriteUnit(Mode mode, std::vector<PreparedAction> actions, Finish finish,
                     CancellationPtr cancellation)
    : mode_(mode),
      actions_(std::move(actions)),
      finish_(std::move(finish)),
      cancellation_(std::move(cancellation)) {}

size_t WriteUnit::SizeBytes() const { return SizeBytesOf(actions_); }

void WriteUnit::Apply(CommitGroup& group) {
  outcome_.status = CheckNotCancelled(cancellation_);
  if (!outcome_.status.ok() || (token_.has_value() && RepeatEarlierResult(group))) return;
  decisions_.reserve(actions_.size());
  outcome_.results.resize(actions_.size());
  bool transaction = mode_ == Mode::kTransaction;
  bool apply = true;
  bool all_applied = true;
  uint64_t changes = 0;
  size_t item_bytes = 0;
  // No two actions are on the same item, so all can be decided before the first is appended.
  for (PreparedAction& action : actions_) {
    item_bytes += ItemBytes(decisions_.emplace_back(Decide(action, group)));
    outcome_.status = CheckItemBytes(item_bytes, max_item_bytes_);
    if (!outcome_.status.ok()) return;
  }
  CheckCollections(actions_, group, decisions_);
  for (size_t i = 0; i < actions_.size(); ++i) {
    const Decision& decision = decisions_[i];
    outcome_.results[i].outcome = decision.outcome;
    if (decision.outcome == Decision::Outcome::kError) outcome_.results[i].error = decision.error;
    if (decision.outcome == Decision::Outcome::kConditionFailed &&
        actions_[i].return_item_on_condition_failure && decision.old_item.has_value()) {
      outcome_.results[i].item.emplace(*decision.old_item);
    }
    if (decision.outcome != Decision::Outcome::kApply) all_applied = false;
    if (outcome_.capacity.wanted())
      AddConsumedCapacity(actions_[i], decision, transaction, &outcome_.capacity);
    bool refused = transaction ? decision.outcome != Decision::Outcome::kApply
                               : decision.outcome == Decision::Outcome::kError;
    if (refused) apply = false;
    if (decision.changed) ++changes;
  }
  if (!apply) return;
  if (transaction) outcome_.status = CheckRecordsFit();
  if (!outcome_.status.ok()) return;
  // Checked before anything is appended: if the token cannot be stored, the write must not be applied.
  const bool remember = token_.has_value() && all_applied;
  if (remember) outcome_.status = group.tokens().CheckRoom();
  if (!outcome_.status.ok()) return;

  uint64_t first = group.next_sequence();
  uint64_t last = first + changes - 1;
  for (size_t i = 0; i < actions_.size(); ++i) {
    if (decisions_[i].outcome != Decision::Outcome::kApply) continue;
    outcome_.results[i].item = ReturnedAttributes(actions_[i], decisions_[i]);
    if (!decisions_[i].changed) continue;
    uint64_t own = group.next_sequence();
    Append(actions_[i], decisions_[i], transaction ? first : own, transaction ? last : own, group);
  }
  MeasureCollections(group);
  if (remember) group.tokens().Save(token_->text, token_->fingerprint, outcome_.results[0].item);
}

bool WriteUnit::RepeatEarlierResult(CommitGroup& group) {
  absl::StatusOr<std::optional<AppliedRequest>> applied = group.tokens().Find(token_->text);
  if (!applied.ok()) {
    outcome_.status = applied.status();
  } else if (!applied->has_value()) {
    return false;
  } else if ((*applied)->fingerprint != token_->fingerprint) {
    outcome_.status = TokenMismatchError(token_->text);
  } else {
    outcome_.results.resize(actions_.size());
    // The first request was charged for its writes; a repeated request is charged for a read.
    if (outcome_.capacity.wanted()) {
      for (const PreparedAction& action : actions_)
        outcome_.capacity.AddTable(*action.table, ReadUnits(0, true));
    }
    MeasureCollections(group);
    // Only single writes return attributes.
    outcome_.results[0].item = std::move((*applied)->attributes);
  }
  return true;
}

void WriteUnit::MeasureCollections(CommitGroup& group) {
  for (size_t i = 0; i < actions_.size() && outcome_.status.ok(); ++i) {
    if (outcome_.results[i].outcome == Decision::Outcome::kApply)
      outcome_.status = outcome_.collections.Add(actions_[i], group);
  }
}

absl::Status WriteUnit::CheckRecordsFit() const {
  size_t image_bytes = 0;
  size_t key_bytes = 0;
  for (size_t i = 0; i < actions_.size(); ++i) {
    const Decision& decision = decisions_[i];
    if (!decision.changed) continue;
    const Table& table = *actions_[i].table;
    ItemView item(decision.new_item.has_value() ? *decision.new_item : *decision.old_item);
    key_bytes += ExtractPrimaryKey(table, item).size() + kRecordOverheadBytes;
    if (table.definition.stream_view_type() == v1::STREAM_VIEW_TYPE_KEYS_ONLY) continue;
    image_bytes += decision.old_item.value_or(std::string_view()).size();
    if (decision.new_item.has_value()) image_bytes += decision.new_item->size();
  }
  if (image_bytes > kMaxCommitImageBytes) {
    return LimitExceeded("the items of this transaction before and after it have " +
                         std::to_string(image_bytes) + " bytes; where change records carry images at most " +
                         std::to_string(kMaxCommitImageBytes) + " are allowed");
  }
  if (key_bytes > kMaxCommitKeyBytes) {
    return LimitExceeded("the keys in the change records of this transaction have " +
                         std::to_string(key_bytes) + " bytes with " + std::to_string(kRecordOverheadBytes) +
                         " for each record; at most " + std::to_string(kMaxCommitKeyBytes) + " are allowed");
  }
  return absl::OkStatus();
}

void WriteUnit::Complete(const absl::Status& status, uint64_t change_sequence) {
  if (!status.ok()) outcome_.status = status;
  outcome_.change_sequence = change_sequence;
  std::move(finish_)(std::move(outcome_));
}

void ReadAndSubmit(Engine& engine, std::shared_ptr<const ReadView> view, std::unique_ptr<WriteUnit> unit) {
  if (unit->actions().size() <= kMaxItemsOnRequestThread) {
    absl::StatusOr<bool> read =
        PrefetchItems(*view, ReadTier::kCacheOnly, unit->max_item_bytes(), SIZE_MAX, &unit->actions());
    if (!read.ok()) return unit->Complete(read.status(), 0);
    if (*read) return Submit(engine, std::move(unit));
  }

  WriteUnit* borrowed = unit.get();
  IoPool::Task task = [&engine, view = std::move(view), unit = std::move(unit)]() mutable {
    absl::Status read = CheckNotCancelled(unit->cancellation());
    if (read.ok())
      read =
          PrefetchItems(*view, ReadTier::kDisk, unit->max_item_bytes(), SIZE_MAX, &unit->actions()).status();
    view.reset();
    if (!read.ok()) return unit->Complete(read, 0);
    Submit(engine, std::move(unit));
  };
  // A refused task was not moved from, so it still owns the unit.
  if (!engine.io().Submit(task, IoPriority::kPoint)) borrowed->Complete(IoPoolFullError(), 0);
}

}  // namespace itemdb::storage
