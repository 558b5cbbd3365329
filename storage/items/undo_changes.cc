#include "storage/items/undo_changes.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/limits.h"
#include "storage/catalog/table.h"
#include "storage/changes/log_reader.h"
#include "storage/items/write_unit.h"
#include "storage/values/canonical.h"

namespace itemdb::storage {
namespace {

constexpr size_t kMaxUndoneItems = 1'000;
// Of the items as they were before, in a page.
constexpr size_t kMaxUndoneBytes = 4 << 20;
constexpr int kMaxUndoKeys = 100;
constexpr int64_t kChangesBetweenUndoChecks = 1'000;

// An item that was changed in the stretch.
struct ChangedItem {
  // Canonical; nothing if the item did not exist.
  std::optional<std::string> before;
  // The change log does not have it.
  bool is_before_missing = false;
  // 0: not changed after the stretch.
  uint64_t changed_since = 0;
};

// The first items of a page, by the canonical bytes of their keys.
struct ChangedItems {
  std::map<std::string, ChangedItem, std::less<>> items;
  bool has_more = false;
  // The last change before the first commit that has a change of the table in the stretch.
  uint64_t change_before = 0;
  bool is_any_before_missing = false;
};

struct PreparedUndo {
  v1::UndoChangesRequest request;
  DurablePrefix log;
  std::shared_ptr<const Table> table;
  // Canonical keys; empty: all.
  std::set<std::string, std::less<>> keys;
  std::string start_key;
};

absl::StatusOr<std::string> CanonicalKey(const Table& table, const v1::Item& key) {
  ITEMDB_ASSIGN_OR_RETURN(std::string canonical, CanonicalizeItem(key.SerializeAsString()));
  ITEMDB_RETURN_IF_ERROR(CheckKeyIsExact(table, ItemView(canonical)));
  return canonical;
}

absl::StatusOr<PreparedUndo> PrepareUndo(const Engine& engine, v1::UndoChangesRequest request) {
  if (request.from_sequence() == 0 || request.to_sequence() < request.from_sequence()) {
    return ValidationError("from_sequence must be at least 1, and to_sequence not less; they are " +
                           std::to_string(request.from_sequence()) + " and " +
                           std::to_string(request.to_sequence()));
  }
  if (request.keys_size() > kMaxUndoKeys) {
    return ValidationError("at most " + std::to_string(kMaxUndoKeys) + " keys may be given; there are " +
                           std::to_string(request.keys_size()));
  }
  PreparedUndo undo;
  ITEMDB_ASSIGN_OR_RETURN(undo.log, ReadDurablePrefix(engine));
  if (request.to_sequence() > undo.log.last_sequence) {
    return ValidationError("change " + std::to_string(request.to_sequence()) +
                           " does not exist; the last change is " + std::to_string(undo.log.last_sequence));
  }
  ITEMDB_ASSIGN_OR_RETURN(undo.table, undo.log.view->catalog().Find(request.table_name()));
  for (const v1::Item& key : request.keys()) {
    ITEMDB_ASSIGN_OR_RETURN(std::string canonical, CanonicalKey(*undo.table, key));
    undo.keys.insert(std::move(canonical));
  }
  if (request.has_exclusive_start_key()) {
    ITEMDB_ASSIGN_OR_RETURN(undo.start_key, CanonicalKey(*undo.table, request.exclusive_start_key()));
  }
  undo.request = std::move(request);
  return undo;
}

absl::Status InsideError(const char* field, uint64_t sequence, const ChangeView& change) {
  return ValidationError(std::string(field) + " " + std::to_string(sequence) +
                         " is inside of the transaction with the changes " +
                         std::to_string(change.commit_first_sequence) + " to " +
                         std::to_string(change.commit_last_sequence) + "; take back all of it or nothing");
}

// Collects the changed items of a page from the change log.
class ChangeCollector {
 public:
  ChangeCollector(const PreparedUndo& undo, const CancellationPtr& cancellation)
      : undo_(undo), cancellation_(cancellation) {}

  absl::StatusOr<ChangedItems> Collect(const Engine& engine) {
    ITEMDB_RETURN_IF_ERROR(
        WalkTableChanges(engine, *undo_.log.view, undo_.table->storage_id, undo_.request.from_sequence() - 1,
                         undo_.log.last_sequence,
                         [this](const ChangeView& change, std::string_view) { return Visit(change); }));
    ITEMDB_RETURN_IF_ERROR(error_);
    return std::move(changed_);
  }

 private:
  bool Visit(const ChangeView& change) {
    if (visited_++ % kChangesBetweenUndoChecks == 0) error_ = CheckNotCancelled(cancellation_);
    if (error_.ok() && !change.key.empty()) {
      error_ = change.change_sequence <= undo_.request.to_sequence() ? VisitInside(change) : absl::OkStatus();
      if (change.change_sequence > undo_.request.to_sequence()) {
        const auto found = changed_.items.find(change.key);
        if (found != changed_.items.end()) found->second.changed_since = change.change_sequence;
      }
    }
    return error_.ok();
  }

  absl::Status VisitInside(const ChangeView& change) {
    const uint64_t from = undo_.request.from_sequence(), to = undo_.request.to_sequence();
    if (change.commit_first_sequence < from) return InsideError("from_sequence", from, change);
    if (change.commit_last_sequence > to) return InsideError("to_sequence", to, change);
    if (!std::exchange(has_begun_, true)) changed_.change_before = change.commit_first_sequence - 1;
    if (!undo_.keys.empty() && !undo_.keys.contains(change.key)) return absl::OkStatus();
    if (!undo_.start_key.empty() && change.key <= undo_.start_key) return absl::OkStatus();
    if (!end_key_.empty() && change.key >= end_key_) return absl::OkStatus();
    const auto [item, is_first] = changed_.items.try_emplace(std::string(change.key));
    if (!is_first) return absl::OkStatus();
    if (change.old_image.has_value()) {
      item->second.before.emplace(*change.old_image);
    } else if (change.kind != v1::CHANGE_KIND_INSERT) {
      item->second.is_before_missing = true;
      changed_.is_any_before_missing = true;
    }
    bytes_ += SizeOf(*item);
    while (changed_.items.size() > kMaxUndoneItems ||
           (bytes_ > kMaxUndoneBytes && changed_.items.size() > 1)) {
      const auto last = std::prev(changed_.items.end());
      bytes_ -= SizeOf(*last);
      end_key_ = last->first;
      changed_.has_more = true;
      changed_.items.erase(last);
    }
    return absl::OkStatus();
  }

  static size_t SizeOf(const std::pair<const std::string, ChangedItem>& item) {
    return item.first.size() + item.second.before.value_or("").size();
  }

  const PreparedUndo& undo_;
  const CancellationPtr& cancellation_;
  ChangedItems changed_;
  // Keys from here on belong to later pages.
  std::string end_key_;
  bool has_begun_ = false;
  size_t bytes_ = 0;
  int64_t visited_ = 0;
  absl::Status error_;
};

// Reads the items that the change log does not have. A page that becomes too large ends earlier.
absl::Status FindMissing(const PreparedUndo& undo, const ItemsBefore& before,
                         const CancellationPtr& cancellation, ChangedItems* changed) {
  size_t bytes = 0;
  for (auto item = changed->items.begin(); item != changed->items.end(); ++item) {
    ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(cancellation));
    if (item->second.is_before_missing) {
      ITEMDB_ASSIGN_OR_RETURN(const std::string encoded,
                              EncodePrimaryKey(*undo.table, ItemView(item->first)));
      ITEMDB_ASSIGN_OR_RETURN(item->second.before, before.Find(undo.table->storage_id, encoded));
      if (!item->second.before.has_value())
        return DataLossError("an item that was changed is not in the restored database");
    }
    bytes += item->first.size() + item->second.before.value_or("").size();
    if (bytes <= kMaxUndoneBytes || item == changed->items.begin()) continue;
    changed->items.erase(item, changed->items.end());
    changed->has_more = true;
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

// What is to be written, and the reply as it is if every write is applied.
struct UndoPlan {
  v1::UndoChangesReply reply;
  std::vector<PreparedAction> actions;
  // The item of the reply that each action writes.
  std::vector<int> items;
};

absl::Status PlanItem(const PreparedUndo& undo, std::string_view key, const ChangedItem& changed,
                      UndoPlan* plan) {
  v1::UndoneItem* const undone = plan->reply.add_items();
  if (!undone->mutable_key()->ParseFromArray(key.data(), static_cast<int>(key.size())))
    return DataLossError("a key in the change log does not decode");
  ITEMDB_ASSIGN_OR_RETURN(const std::string encoded, EncodePrimaryKey(*undo.table, ItemView(key)));
  ITEMDB_ASSIGN_OR_RETURN(const Lookup current,
                          LookupItem(*undo.log.view, *undo.table, encoded, ReadTier::kDisk));
  std::string now = current.item.value_or("");
  if (now == changed.before.value_or("")) {
    undone->set_outcome(v1::UNDO_OUTCOME_UNCHANGED);
    return absl::OkStatus();
  }
  if (changed.changed_since != 0) {
    undone->set_outcome(v1::UNDO_OUTCOME_CHANGED_SINCE);
    undone->set_changed_sequence(changed.changed_since);
    return absl::OkStatus();
  }
  wire::WriteItemRequest write;
  write.set_table_name(undo.table->name);
  write.set_key_or_item(changed.before.has_value() ? *changed.before : std::string(key));
  undone->set_outcome(changed.before.has_value() ? v1::UNDO_OUTCOME_PUT : v1::UNDO_OUTCOME_DELETED);
  ITEMDB_ASSIGN_OR_RETURN(PreparedAction action,
                          PrepareAction(changed.before.has_value() ? ActionKind::kPut : ActionKind::kDelete,
                                        write, undo.log.view->catalog()));
  action.expected_item = std::move(now);
  plan->actions.push_back(std::move(action));
  plan->items.push_back(plan->reply.items_size() - 1);
  return absl::OkStatus();
}

absl::StatusOr<UndoPlan> PlanUndo(const PreparedUndo& undo, const ChangedItems& changed,
                                  const CancellationPtr& cancellation) {
  UndoPlan plan;
  plan.reply.set_change_sequence(undo.log.view->change_sequence());
  for (const auto& [key, item] : changed.items) {
    ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(cancellation));
    ITEMDB_RETURN_IF_ERROR(PlanItem(undo, key, item, &plan));
  }
  if (changed.has_more) *plan.reply.mutable_last_evaluated_key() = plan.reply.items().rbegin()->key();
  return plan;
}

void WriteUndo(Engine& engine, std::shared_ptr<const ReadView> view, UndoPlan plan,
               Done<v1::UndoChangesReply> done, CancellationPtr cancellation) {
  auto finish = [reply = std::move(plan.reply), items = std::move(plan.items),
                 done = std::move(done)](WriteUnit::UnitResult unit) mutable {
    if (!unit.status.ok()) return std::move(done)(unit.status);
    for (size_t i = 0; i < items.size(); ++i) {
      const WriteUnit::ActionResult& result = unit.results[i];
      if (!result.error.ok()) return std::move(done)(result.error);
      if (result.outcome != Decision::Outcome::kConditionFailed) continue;
      reply.mutable_items(items[i])->set_outcome(v1::UNDO_OUTCOME_CHANGED_SINCE);
    }
    reply.set_change_sequence(unit.change_sequence);
    std::move(done)(std::move(reply));
  };
  auto unit = std::make_unique<WriteUnit>(WriteUnit::Mode::kIndependent, std::move(plan.actions),
                                          std::move(finish), std::move(cancellation));
  unit->SetMaxItemBytes(engine.options().max_unit_bytes);
  ReadAndSubmit(engine, std::move(view), std::move(unit));
}

// An UndoChanges in progress. Each step ends in the next one, on another thread.
class Undo : public std::enable_shared_from_this<Undo> {
 public:
  Undo(Engine& engine, WithItemsBefore with_items_before, PreparedUndo prepared,
       Done<v1::UndoChangesReply> done, CancellationPtr cancellation)
      : engine_(engine),
        with_items_before_(std::move(with_items_before)),
        prepared_(std::move(prepared)),
        done_(std::move(done)),
        cancellation_(std::move(cancellation)) {}

  void Collect() {
    RunOnIoThread<ChangedItems>(
        engine_, IoPriority::kLong,
        [undo = shared_from_this()] {
          return ChangeCollector(undo->prepared_, undo->cancellation_).Collect(undo->engine_);
        },
        [undo = shared_from_this()](absl::StatusOr<ChangedItems> changed) {
          if (!changed.ok()) return std::move(undo->done_)(changed.status());
          undo->changed_ = *std::move(changed);
          if (!undo->changed_.is_any_before_missing) return undo->PlanAndWrite();
          undo->ReadItemsBefore();
        });
  }

 private:
  // A restore takes long, and a view that is held for long keeps the store from being opened again. So the
  // changes are read again afterwards.
  void ReadItemsBefore() {
    prepared_.log = DurablePrefix();
    with_items_before_(changed_.change_before, cancellation_,
                       [undo = shared_from_this()](absl::StatusOr<const ItemsBefore*> before) {
                         const absl::Status found =
                             before.ok() ? undo->CollectAgain(**before) : undo->MissingError(before.status());
                         if (!found.ok()) return std::move(undo->done_)(found);
                         undo->PlanAndWrite();
                       });
  }

  absl::Status CollectAgain(const ItemsBefore& before) {
    ITEMDB_ASSIGN_OR_RETURN(prepared_, PrepareUndo(engine_, std::move(prepared_.request)));
    ITEMDB_ASSIGN_OR_RETURN(changed_, ChangeCollector(prepared_, cancellation_).Collect(engine_));
    return FindMissing(prepared_, before, cancellation_, &changed_);
  }

  absl::Status MissingError(const absl::Status& cause) const {
    if (ReasonOf(cause) != kReasonRestorePointUnknown) return cause;
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonImageMissing,
                     "the change log does not have all items as they were before. This needs a stream with "
                     "OLD_IMAGE or NEW_AND_OLD_IMAGES when the changes are made, or an archive that has the "
                     "database after change " +
                         std::to_string(changed_.change_before) + "; this archive does not");
  }

  void PlanAndWrite() {
    absl::StatusOr<UndoPlan> plan = PlanUndo(prepared_, changed_, cancellation_);
    if (!plan.ok()) return std::move(done_)(plan.status());
    if (prepared_.request.dry_run() || plan->actions.empty()) return std::move(done_)(std::move(plan->reply));
    WriteUndo(engine_, prepared_.log.view, *std::move(plan), std::move(done_), cancellation_);
  }

  Engine& engine_;
  const WithItemsBefore with_items_before_;
  PreparedUndo prepared_;
  Done<v1::UndoChangesReply> done_;
  const CancellationPtr cancellation_;
  ChangedItems changed_;
};

}  // namespace

void UndoChanges(Engine& engine, const WithItemsBefore& with_items_before, v1::UndoChangesRequest request,
                 Done<v1::UndoChangesReply> done, CancellationPtr cancellation) {
  absl::StatusOr<PreparedUndo> prepared = PrepareUndo(engine, std::move(request));
  if (!prepared.ok()) return std::move(done)(prepared.status());
  std::make_shared<Undo>(engine, with_items_before, *std::move(prepared), std::move(done),
                         std::move(cancellation))
      ->Collect();
}

}  // namespace itemdb::storage
