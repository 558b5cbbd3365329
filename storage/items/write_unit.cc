#include "storage/items/write_unit.h"

#include <algorithm>

#include "storage/base/call_trace.h"
#include "storage/base/limits.h"
#include "storage/catalog/key_counting.h"

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
                       std::to_string(max_bytes) +
                       " bytes, which is the most that one write may take in memory");
}

void Submit(Engine& engine, std::unique_ptr<WriteUnit> unit) {
  const WriteSpace space = unit->space();
  std::unique_ptr<CommitUnit> commit_unit = std::move(unit);
  absl::Status refused = engine.Submit(commit_unit, WhenFull::kRefuse, space);
  if (!refused.ok()) commit_unit->Complete(refused, 0);
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
    if (!action.key_error.ok()) continue;
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
    action.prefetched.group_number = view.group_number();
  }
  return true;
}

bool WriteUnit::UnitResult::Applied() const {
  return status.ok() && std::all_of(results.begin(), results.end(), [](const ActionResult& result) {
           return result.outcome == Decision::Outcome::kApply;
         });
}

WriteUnit::WriteUnit(Mode mode, std::vector<PreparedAction> actions, Finish finish,
                     CancellationPtr cancellation)
    : mode_(mode),
      actions_(std::move(actions)),
      finish_(std::move(finish)),
      cancellation_(std::move(cancellation)) {
  trace = TraceOf(cancellation_);
}

size_t WriteUnit::SizeBytes() const { return SizeBytesOf(actions_); }

void WriteUnit::Apply(CommitGroup& group) {
  result_.status = CheckNotCancelled(cancellation_);
  if (!result_.status.ok() || (token_.has_value() && RepeatEarlierResult(group))) return;
  // All actions are decided before the first is appended, because a refused unit must append nothing. That no
  // two actions are on the same item makes this possible: no action needs to see what another one wrote.
  decisions_.reserve(actions_.size());
  size_t item_bytes = 0;
  for (PreparedAction& action : actions_) {
    item_bytes += HeldBytes(decisions_.emplace_back(Decide(action, group)));
    result_.status = CheckItemBytes(item_bytes, max_item_bytes_);
    if (!result_.status.ok()) return;
  }
  CheckCollections(actions_, group, decisions_);
  RecordResults();

  const bool is_transaction = mode_ == Mode::kTransaction;
  const auto refuses_unit = [is_transaction](const Decision& decision) {
    return is_transaction ? decision.outcome != Decision::Outcome::kApply
                          : decision.outcome == Decision::Outcome::kError;
  };
  if (std::any_of(decisions_.begin(), decisions_.end(), refuses_unit)) return;
  if (is_transaction) result_.status = CheckRecordsFit();
  if (!result_.status.ok()) return;
  // Checked before anything is appended: if the token cannot be stored, the write must not be applied.
  const bool saves_token = token_.has_value() && result_.Applied();
  if (saves_token) result_.status = group.tokens().CheckRoom();
  if (!result_.status.ok()) return;

  const auto changes = std::count_if(decisions_.begin(), decisions_.end(),
                                     [](const Decision& decision) { return decision.changed; });
  group.ReserveBytes(item_bytes);
  const uint64_t first = group.next_sequence();
  const uint64_t last = first + static_cast<uint64_t>(changes) - 1;
  for (size_t i = 0; i < actions_.size(); ++i) {
    if (decisions_[i].outcome != Decision::Outcome::kApply) continue;
    result_.results[i].item = ReturnedAttributes(actions_[i], decisions_[i]);
    if (!decisions_[i].changed) continue;
    const uint64_t own = group.next_sequence();
    Append(actions_[i], decisions_[i], is_transaction ? first : own, is_transaction ? last : own, group);
  }
  MeasureCollections(group);
  if (saves_token) group.tokens().Save(token_->text, token_->fingerprint, result_.results[0].item);
  // Freeing costs the commit leader time, and a small unit holds little.
  if (item_bytes <= kLargeCommitUnitBytes) return;
  // Keeps only the new items, which later units of the group may read: while the group is written, it is in
  // memory in its batch and in memtables.
  for (size_t i = 0; i < actions_.size(); ++i) {
    decisions_[i].old_item.reset();
    decisions_[i].entry_changes = {};
    actions_[i].prefetched = {};
  }
  group.ReleaseReads();
}

void WriteUnit::RecordResults() {
  result_.results.resize(actions_.size());
  for (size_t i = 0; i < actions_.size(); ++i) {
    const Decision& decision = decisions_[i];
    ActionResult& result = result_.results[i];
    result.outcome = decision.outcome;
    if (decision.outcome == Decision::Outcome::kError) result.error = decision.error;
    if (decision.outcome == Decision::Outcome::kConditionFailed &&
        actions_[i].return_item_on_condition_failure && decision.old_item.has_value()) {
      result.item.emplace(*decision.old_item);
    }
    AddConsumedCapacity(actions_[i], decision, mode_ == Mode::kTransaction, &result_.capacity);
  }
}

bool WriteUnit::RepeatEarlierResult(CommitGroup& group) {
  absl::StatusOr<std::optional<AppliedRequest>> applied = group.tokens().Find(token_->text);
  if (!applied.ok()) {
    result_.status = applied.status();
  } else if (!applied->has_value()) {
    return false;
  } else if ((*applied)->fingerprint != token_->fingerprint) {
    result_.status = TokenMismatchError(token_->text);
  } else {
    result_.results.resize(actions_.size());
    // The first request was charged for its writes; a repeated request is charged for a read.
    for (const PreparedAction& action : actions_)
      result_.capacity.AddRead(*action.table, action.key.encoded, ReadUnits(0, true));
    MeasureCollections(group);
    // Only single writes return attributes.
    result_.results[0].item = std::move((*applied)->attributes);
  }
  return true;
}

void WriteUnit::MeasureCollections(CommitGroup& group) {
  for (size_t i = 0; i < actions_.size() && result_.status.ok(); ++i) {
    if (result_.results[i].outcome == Decision::Outcome::kApply)
      result_.status = result_.collections.Add(actions_[i], group);
  }
}

absl::Status WriteUnit::CheckRecordsFit() const {
  size_t image_bytes = 0;
  size_t key_bytes = 0;
  for (size_t i = 0; i < actions_.size(); ++i) {
    const Decision& decision = decisions_[i];
    if (!decision.changed) continue;
    const Table& table = *actions_[i].table;
    // The keys of any usual transaction fit.
    if (actions_.size() > kMaxTransactActions) {
      ItemView item(decision.new_item.has_value() ? *decision.new_item : *decision.old_item);
      key_bytes += ExtractPrimaryKey(table, item).size() + kRecordOverheadBytes;
    }
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

WriteSpace WriteUnit::space() const {
  const bool deletes = std::all_of(actions_.begin(), actions_.end(), [](const PreparedAction& action) {
    return action.kind == ActionKind::kDelete || action.kind == ActionKind::kConditionCheck;
  });
  return deletes ? WriteSpace::kFrees : WriteSpace::kTakes;
}

void WriteUnit::Complete(const absl::Status& status, uint64_t change_sequence) {
  if (!status.ok()) {
    result_.status = status;
    for (const PreparedAction& action : actions_) CountRefusedKey(*action.table, action.key.encoded, status);
  }
  result_.change_sequence = change_sequence;
  std::move(finish_)(std::move(result_));
}

void ReadAndSubmit(Engine& engine, std::shared_ptr<const ReadView> view, std::unique_ptr<WriteUnit> unit) {
  if (unit->actions().size() <= kMaxItemsOnRequestThread) {
    absl::StatusOr<bool> read = [&] {
      const TracedStep step(unit->cancellation(), CallTrace::Step::kCacheRead);
      return PrefetchItems(*view, ReadTier::kCacheOnly, unit->max_item_bytes(), kMaxUnitPrefetchedBytes,
                           &unit->actions());
    }();
    if (!read.ok()) return unit->Complete(read.status(), 0);
    if (*read) return Submit(engine, std::move(unit));
  }

  WriteUnit* borrowed = unit.get();
  const TracedWait wait(unit->cancellation());
  IoPool::Task task = [&engine, wait, view = std::move(view), unit = std::move(unit)]() mutable {
    wait.End(unit->cancellation());
    absl::Status read = CheckNotCancelled(unit->cancellation());
    if (read.ok()) {
      const TracedStep step(unit->cancellation(), CallTrace::Step::kDiskRead);
      read = PrefetchItems(*view, ReadTier::kDisk, unit->max_item_bytes(), kMaxUnitPrefetchedBytes,
                           &unit->actions())
                 .status();
    }
    view.reset();
    if (!read.ok()) return unit->Complete(read, 0);
    Submit(engine, std::move(unit));
  };
  // A refused task was not moved from, so it still owns the unit.
  if (!engine.io().Submit(task, IoPriority::kPoint)) borrowed->Complete(IoPoolFullError(), 0);
}

}  // namespace itemdb::storage
