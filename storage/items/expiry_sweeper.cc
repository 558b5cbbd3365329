#include "storage/items/expiry_sweeper.h"

#include <algorithm>
#include <set>
#include <utility>

#include "spdlog/spdlog.h"
#include "storage/base/limits.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/indexes/index_entry.h"
#include "storage/items/expiry.h"
#include "storage/items/item_collections.h"
#include "storage/items/write_unit.h"

namespace itemdb::storage {
namespace {

// How often due entries are looked for. An item may stay this much longer than its time to live.
constexpr auto kInterval = std::chrono::milliseconds(100);
// The same while no table has a time to live, or nothing can be deleted.
constexpr auto kIdleInterval = std::chrono::seconds(1);

// Entries read for one page at most, in case many of them belong to no item.
constexpr size_t kEntriesAtOnce = 16 * kExpiredAtOnce;

// The result of deleting one item.
struct Expiry {
  Decision::Outcome outcome;
  absl::Status error;
};

// Deletes the items that have expired by now. Each deletion is a commit of its own in the change log.
std::vector<Expiry> Expire(std::vector<PreparedAction>& actions, CommitGroup& group) {
  std::vector<Expiry> expiries;
  for (PreparedAction& action : actions) {
    Decision decision = Decide(action, group);
    CheckCollections({&action, 1}, group, {&decision, 1});
    expiries.push_back({decision.outcome, decision.error});
    if (decision.changed) {
      const uint64_t own = group.next_sequence();
      Append(action, decision, own, own, group);
    }
    action.prefetched = {};
    group.ReleaseReads();
  }
  return expiries;
}

}  // namespace

ExpirySweeper::ExpirySweeper(Engine& engine) : engine_(engine) {
  thread_.Start([this] { Loop(); });
}

ExpirySweeper::~ExpirySweeper() { thread_.Stop(); }

int64_t ExpirySweeper::Expired(uint64_t table_storage_id) const {
  MutexLock lock(mutex_);
  auto found = expired_.find(table_storage_id);
  return found == expired_.end() ? 0 : found->second;
}

void ExpirySweeper::Loop() {
  std::chrono::milliseconds wait{0};
  while (thread_.WaitFor(wait)) {
    absl::StatusOr<bool> more = SweepAll();
    // While the store is being reopened, nothing is logged.
    const bool pauses = !more.ok() && !absl::IsUnavailable(more.status()) && !absl::IsUnknown(more.status());
    if (pauses && paused_reason_.empty()) {
      paused_reason_ = MessageOf(more.status());
      engine_.options().log->warn("expired items cannot be deleted for now error={}", paused_reason_);
    } else if (more.ok() && !paused_reason_.empty()) {
      paused_reason_.clear();
      engine_.options().log->info("expired items are deleted again");
    }
    wait = tables_.empty() || pauses ? kIdleInterval : kInterval;
    if (more.ok() && *more) wait = wait.zero();
  }
}

void ExpirySweeper::RefreshTables(const ReadView& view) {
  if (store_.lock() != view.store()) {
    // The store was reopened: writes from before may or may not exist, so the cursors are not valid.
    engine_.ttl_cursors().Reset();
    store_ = view.store();
  }
  if (catalog_.lock() == view.shared_catalog()) return;
  catalog_ = view.shared_catalog();
  const std::vector<SweepState> before = std::exchange(tables_, {});
  std::set<uint64_t> storage_ids;
  for (const auto& table : view.catalog()) {
    const Index* index = table->FindTimeToLiveIndex();
    if (index == nullptr || index->state != IndexState::kActive) continue;
    // A moved table expires where it is now.
    if (table->definition.has_write_fence()) continue;
    const auto known = std::find_if(before.begin(), before.end(), [index](const SweepState& state) {
      return state.index_storage_id == index->storage_id;
    });
    if (known != before.end()) {
      tables_.push_back(*known);
    } else {
      tables_.push_back({.table_name = table->name,
                         .table_storage_id = table->storage_id,
                         .index_storage_id = index->storage_id});
    }
    storage_ids.insert(index->storage_id);
  }
  engine_.ttl_cursors().KeepOnly(storage_ids);
}

absl::StatusOr<bool> ExpirySweeper::SweepAll() {
  {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine_.View());
    RefreshTables(*view);
  }
  if (tables_.empty()) return false;
  if (engine_.time_of_day().Jump().count() != 0) return false;
  const KeyRange due = ExpiredEntries(engine_.time_of_day().NowMicros());
  engine_.ttl_cursors().SetOldest(due.lower);
  bool more = false;
  for (SweepState& state : tables_) {
    const Clock::time_point now = Clock::now();
    if (state.damaged && now >= state.retry_at) {
      // The damage may have been repaired, so the whole index is read again.
      state.damaged = false;
      engine_.ttl_cursors().Requeue(state.index_storage_id, "");
    }
    if (now < state.not_before) continue;
    absl::StatusOr<bool> full = SweepPage(state, due);
    if (full.ok()) {
      more = more || *full;
      continue;
    }
    // The error does not concern this table alone: no write, or not even a read, succeeds.
    if (absl::IsResourceExhausted(full.status()) || absl::IsUnknown(full.status()) || engine_.IsFailed() ||
        !engine_.View().ok()) {
      return full.status();
    }
    // A table that cannot be read must not stop the sweep of the others.
    ReportDamageOnce(state, MessageOf(full.status()));
    state.not_before = now + kIdleInterval;
  }
  return more;
}

absl::StatusOr<bool> ExpirySweeper::SweepPage(SweepState& state, const KeyRange& due) {
  TtlCursors& cursors = engine_.ttl_cursors();
  // The cursor is taken before the view. Earlier entries are in the view; later ones move the cursor back.
  std::optional<std::string> from = cursors.Pop(state.index_storage_id, due.upper);
  if (!from.has_value()) return false;
  absl::StatusOr<Page> page = ReadPage(state, *from, due);
  if (!page.ok()) cursors.Requeue(state.index_storage_id, *from);
  ITEMDB_RETURN_IF_ERROR(page.status());
  if (page->actions.empty()) {
    if (!page->next.empty()) cursors.Requeue(state.index_storage_id, page->next);
    ITEMDB_RETURN_IF_ERROR(page->failed);
    return page->full;
  }
  std::vector<Expiry> expiries;
  const auto expire = [&](CommitGroup& group) {
    expiries = Expire(page->actions, group);
    return absl::OkStatus();
  };
  absl::Status status = CommitAndWait(engine_, expire,
                                      {.size_bytes = SizeBytesOf(page->actions),
                                       .when_full = WhenFull::kWait,
                                       .space = WriteSpace::kFrees})
                            .status();
  if (!status.ok()) {
    cursors.Requeue(state.index_storage_id, *from);
    return status;
  }
  if (!page->next.empty()) cursors.Requeue(state.index_storage_id, page->next);
  int64_t expired = 0;
  for (size_t i = 0; i < expiries.size(); ++i) {
    const auto& [decided, error] = expiries[i];
    if (decided == Decision::Outcome::kApply) ++expired;
    // An item that is damaged or whose table is gone is not tried again. After any other error, or if the
    // clock was set back, the item is; those of a fenced table when the fence is lifted.
    const bool is_fenced = ReasonOf(error) == kReasonTableMoving || ReasonOf(error) == kReasonTableMoved;
    const bool stays = absl::IsNotFound(error) || absl::IsDataLoss(error);
    if (absl::IsDataLoss(error)) ReportDamageOnce(state, MessageOf(error));
    if (decided != Decision::Outcome::kApply && !stays)
      cursors.Requeue(state.index_storage_id, page->entry_keys[i]);
    if (!stays && !is_fenced) status.Update(error);
  }
  {
    MutexLock lock(mutex_);
    expired_[state.table_storage_id] += expired;
  }
  status.Update(page->failed);
  ITEMDB_RETURN_IF_ERROR(status);
  return page->full;
}

absl::StatusOr<ExpirySweeper::Page> ExpirySweeper::ReadPage(SweepState& state, const std::string& from,
                                                            const KeyRange& due) {
  Page page;
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine_.View());
  const auto table = view->catalog().FindByName(state.table_name);
  if (table == nullptr) return page;
  const Index* index = table->FindIndexByStorageId(state.index_storage_id);
  if (index == nullptr || index->state != IndexState::kActive) return page;

  rocksdb::ReadOptions options;
  options.snapshot = view->snapshot();
  options.total_order_seek = true;
  KeyspaceIterator it(*view->store(), EntriesOf(*view->store(), *index), options);
  size_t bytes = 0;
  size_t entries = 0;
  std::string last = std::max(from, due.lower);
  it.Seek(last);
  bool goes_on = true;
  while (goes_on) {
    for (; it.Valid(); it.Next()) {
      const std::string_view entry_key = it.key();
      page.full = page.actions.size() >= kExpiredAtOnce || bytes >= kExpiredBytesAtOnce ||
                  entries++ >= kEntriesAtOnce;
      if (page.full || entry_key >= due.upper) break;
      absl::StatusOr<std::optional<PreparedAction>> action = ReadItem(*view, table, *index, entry_key);
      if (!action.ok() && !absl::IsDataLoss(action.status())) {
        page.failed = action.status();
        break;
      }
      if (!action.ok()) {
        ReportDamageOnce(state, MessageOf(action.status()));
      } else if (!action->has_value()) {
        ReportDamageOnce(state, "an entry of its index belongs to no item");
      } else {
        bytes += (*action)->prefetched.item->size();
        page.actions.push_back(**std::move(action));
        page.entry_keys.emplace_back(entry_key);
      }
      last.assign(entry_key);
    }
    if (it.Valid() || !it.status().IsCorruption()) break;
    // Entries that cannot be read expire once they can be. Those behind them expire now.
    ReportDamageOnce(state, MessageOf(view->store()->ReadError(
                                "cannot read the time to live of table " + state.table_name, it.status())));
    goes_on = it.StepPastDamage(last);
  }
  if (it.Valid()) {
    page.next = std::string(it.key());
  } else if (!it.status().ok() && !it.status().IsCorruption()) {
    page.failed =
        view->store()->ReadError("cannot read the time to live of table " + state.table_name, it.status());
    page.next = page.entry_keys.empty() ? from : page.entry_keys.back() + '\0';
  }
  return page;
}

absl::StatusOr<std::optional<PreparedAction>> ExpirySweeper::ReadItem(
    const ReadView& view, const std::shared_ptr<const Table>& table, const Index& index,
    std::string_view entry_key) {
  std::optional<std::string_view> base_key = BaseKeyOf(*table, index, entry_key);
  if (!base_key.has_value()) return std::nullopt;
  ITEMDB_ASSIGN_OR_RETURN(Lookup found, LookupItem(view, *table, *base_key, ReadTier::kDisk));
  if (!found.item.has_value()) return std::nullopt;
  ITEMDB_ASSIGN_OR_RETURN(std::optional<IndexEntry> entry,
                          MakeIndexEntry(index, ItemView(*found.item), *base_key));
  if (!entry.has_value() || entry->key != entry_key) return std::nullopt;
  if (table->has_local_indexes) {
    ITEMDB_RETURN_IF_ERROR(PrefetchCollection(view, table->storage_id, *base_key, ReadTier::kDisk).status());
  }
  PreparedAction action;
  action.kind = ActionKind::kExpire;
  action.table = table;
  action.key = ItemKey(table->storage_id, std::string(*base_key));
  action.prefetched.item = std::move(found.item);
  action.prefetched.group_number = view.group_number();
  return action;
}

void ExpirySweeper::ReportDamageOnce(SweepState& state, const std::string& what) {
  if (state.damaged) return;
  state.damaged = true;
  state.retry_at = Clock::now() + engine_.options().damaged_expiry_interval;
  if (state.reported == what) return;
  state.reported = what;
  engine_.options().log->error(
      "expired items may be left undeleted until the table is checked and repaired table={} error={}",
      state.table_name, what);
}

}  // namespace itemdb::storage
