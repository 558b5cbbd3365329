#include "storage/vectors/vector_copies.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "storage/engine/io_pool.h"
#include "storage/store/size_statistics.h"
#include "storage/vectors/copy_updates.h"
#include "storage/vectors/entry_reads.h"

namespace itemdb::storage {
namespace {

// Changed items that a search takes into the copy at most before it leaves that to the thread; that, and this
// part of the copy, is the most before a copy is made anew.
constexpr size_t kCaughtUpAtOnce = 10'000;
constexpr size_t kCaughtUpPart = 8;
constexpr int kCatchUpsAfterLoad = 3;
// The capacity of the block cache is changed by this part of a copy at least.
constexpr size_t kReservedParts = 16;
// Searches that may wait for copies.
constexpr size_t kMaxWaitingForCopies = 1'000;
constexpr std::chrono::milliseconds kWaitInterval(10);
// How long a copy waits until searches have left the copies that made room for it.
constexpr std::chrono::seconds kMaxWaitForRoom(5);

absl::Status ClosingError() {
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the database is shutting down");
}

}  // namespace

struct VectorCopies::Copy : SharedCopy {
  Copy(VectorCopies& copies, const Known* of, const Table& table, const Index& index,
       const std::shared_ptr<Store>& in)
      : SharedCopy(table, index, in, copies.engine_.options().vector_graph_min), known(of), owner(copies) {}
  ~Copy() {
    MutexLock lock(owner.mutex_);
    owner.used_bytes_ -= counted;
    owner.changed_.NotifyAll();
  }

  // Only compared.
  const Known* const known;
  VectorCopies& owner;
  // Touched by the thread that changes the copy.
  size_t reserved = 0;
  std::unique_ptr<CacheReservation> reservation;
  // Guarded by owner.mutex_.
  size_t counted = 0;
};

// Its members are guarded by VectorCopies::mutex_.
struct VectorCopies::Known {
  Known(uint64_t id, std::string name) : storage_id(id), table(std::move(name)) {}

  const uint64_t storage_id;
  const std::string table;
  enum class State {
    kIdle,
    // A search or the thread that makes graphs changes `copy`.
    kRefreshing,
    // The thread that makes copies makes one, or will.
    kLoading,
  };
  State state = State::kIdle;
  // Null: there is none.
  std::shared_ptr<Copy> copy;
  // With so many entries the index did not fit.
  std::optional<int64_t> too_large;
  uint64_t last_use = 0;
  // Not in known_ any more.
  std::atomic<bool> is_dropped = false;
};

class VectorCopies::Reading {
 public:
  Reading(std::shared_ptr<Copy> copy, uint64_t version) : copy_(std::move(copy)), version_(version) {
    MutexLock lock(copy_->readers_mutex);
    copy_->readers.insert(version_);
  }
  ~Reading() {
    MutexLock lock(copy_->readers_mutex);
    copy_->readers.erase(copy_->readers.find(version_));
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  absl::Status Search(const PreparedSearch& search, const VectorScorer& scorer,
                      const std::vector<std::string>& excluded, Check check, TopHits* hits) const {
    std::vector<VectorFilter> filters;
    for (const PreparedSearch::Filter& filter : search.filters)
      filters.push_back({filter.number, HashOfFilter(filter.value.encoded())});
    std::shared_lock lock(copy_->searching);
    return copy_->vectors.Search(search.partition, filters, scorer, version_, excluded, check, hits);
  }

 private:
  const std::shared_ptr<Copy> copy_;
  const uint64_t version_;
};

absl::Status VectorCopies::CheckForInterrupts(const CancellationPtr& cancellation) const {
  // The store cannot be reopened while a view holds it.
  if (engine_.IsFailed()) {
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                     "the search was stopped: a write failed and the database is reopening", 1'000);
  }
  return CheckNotCancelled(cancellation);
}

absl::StatusOr<std::optional<std::vector<VectorHit>>> VectorCopies::Search(
    PreparedSearch* search, const std::vector<std::string>& excluded, const CancellationPtr& cancellation,
    const Resume& resume) {
  ITEMDB_ASSIGN_OR_RETURN(const Begun begun, Begin(search, cancellation, resume));
  if (begun.waits) return std::nullopt;
  const VectorScorer scorer(search->index->vector->distance, search->query.data(), search->query.size());
  TopHits hits(search->top_k);
  if (begun.reading != nullptr) {
    const auto check = [&] { return CheckForInterrupts(cancellation); };
    ITEMDB_RETURN_IF_ERROR(begun.reading->Search(*search, scorer, excluded, check, &hits));
  } else {
    ++searches_of_store_;
    const auto check = [&] { return CheckForInterrupts(cancellation); };
    ITEMDB_RETURN_IF_ERROR(SearchEntries(*search, scorer, excluded, check, &hits));
  }
  return hits.Take();
}

absl::Status VectorCopies::MoveToLatestView(PreparedSearch* search) const {
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const ReadView> latest, engine_.View());
  return MoveToView(std::move(latest), search);
}

absl::StatusOr<VectorCopies::Begun> VectorCopies::Wait(const std::shared_ptr<Known>& known,
                                                       PreparedSearch* search,
                                                       const CancellationPtr& cancellation,
                                                       const Resume& resume) {
  if (waiting_.size() >= kMaxWaitingForCopies) return IoPoolFullError();
  // A search that has waited holds no view: the store could not be reopened.
  search->view.reset();
  search->has_waited = true;
  waiting_.push_back({known, cancellation, resume});
  if (known->state != Known::State::kLoading) {
    known->state = Known::State::kLoading;
    to_load_.push_back(known);
    changed_.NotifyAll();
    if (!std::exchange(loader_started_, true)) loader_.Start([this] { LoadCopies(); });
    loader_.Wake();
  }
  return Begun{.waits = true, .reading = nullptr};
}

absl::StatusOr<VectorCopies::Begun> VectorCopies::Begin(PreparedSearch* search,
                                                        const CancellationPtr& cancellation,
                                                        const Resume& resume) {
  if (search->view == nullptr) ITEMDB_RETURN_IF_ERROR(MoveToLatestView(search));
  const uint64_t storage_id = search->index->storage_id;
  const int64_t entries = engine_.size_statistics().Of(storage_id).items;
  std::shared_ptr<Known> known;
  std::shared_ptr<Copy> copy;
  {
    MutexLock lock(mutex_);
    for (;;) {
      if (has_stopped_) return ClosingError();
      std::shared_ptr<Known>& found = known_[storage_id];
      if (found == nullptr) found = std::make_shared<Known>(storage_id, search->table->name);
      known = found;
      known->last_use = ++uses_;
      if (known->state == Known::State::kIdle) break;
      // It has waited once, and shall not do so again and again.
      if (known->state == Known::State::kLoading && search->has_waited) return Begun();
      if (known->state == Known::State::kLoading) return Wait(known, search, cancellation, resume);
      changed_.WaitFor(mutex_, kWaitInterval);
      ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(cancellation));
    }
    if (known->copy == nullptr) {
      const bool is_too_large = known->too_large.has_value() && entries >= *known->too_large;
      if (is_too_large || search->has_waited) return Begun();
      return Wait(known, search, cancellation, resume);
    }
    known->state = Known::State::kRefreshing;
    copy = known->copy;
  }

  const auto check = [&] { return CheckForInterrupts(cancellation); };
  // Searches that have waited do all themselves.
  const size_t most_keys = search->has_waited ? std::numeric_limits<size_t>::max() : kCaughtUpAtOnce;
  const absl::StatusOr<Fit> fit = Refresh(*copy, search, most_keys, check);
  Begun begun;
  if (fit.ok() && *fit == Fit::kFits) {
    begun.reading = std::make_unique<Reading>(copy, search->view->change_sequence());
    if (copy->vectors.NeedsGraphs()) graphs_.Wake();
  }
  if (fit.ok() && *fit != Fit::kFits) Install(*known, nullptr, *fit, entries);
  MutexLock lock(mutex_);
  known->state = Known::State::kIdle;
  changed_.NotifyAll();
  if (fit.ok()) return begun;
  const bool must_be_made = absl::IsOutOfRange(fit.status()) || absl::IsDataLoss(fit.status());
  if (!must_be_made) return fit.status();
  if (search->has_waited) return Begun();
  if (has_stopped_) return ClosingError();
  return Wait(known, search, cancellation, resume);
}

void VectorCopies::Install(Known& known, std::shared_ptr<Copy> copy, Fit fit, int64_t entries) {
  MutexLock lock(mutex_);
  // What it had goes with `copy`, after the lock.
  if (!known.is_dropped) known.copy.swap(copy);
  known.too_large = fit == Fit::kTooLarge ? std::optional(entries) : std::nullopt;
}

absl::StatusOr<VectorCopies::Fit> VectorCopies::Refresh(Copy& copy, PreparedSearch* search, size_t most_keys,
                                                        Check check) {
  // Another search may have brought the copy to a later view than this one's.
  if (search->view->change_sequence() < copy.applied) ITEMDB_RETURN_IF_ERROR(MoveToLatestView(search));
  const ReadView& view = *search->view;
  // Another store may have other changes under the same numbers.
  if (copy.store.lock() != view.store() || view.change_sequence() < copy.applied)
    return absl::OutOfRangeError("the copy is of another store");
  const auto count = [&](size_t bytes) { return Count(copy, bytes, check); };
  return CatchUp({engine_, view, *search->table, *search->index, count, check}, most_keys, &copy);
}

absl::StatusOr<VectorCopies::Fit> VectorCopies::Count(Copy& copy, size_t bytes, Check check) {
  const size_t limit = engine_.options().vector_memory_bytes;
  if (bytes > limit) return Fit::kTooLarge;
  const auto until = BackgroundThread::Clock::now() + kMaxWaitForRoom;
  for (;;) {
    // Is released after the lock.
    std::shared_ptr<Copy> evicted;
    {
      MutexLock lock(mutex_);
      if (used_bytes_ - copy.counted + bytes <= limit) {
        used_bytes_ = used_bytes_ - copy.counted + bytes;
        copy.counted = bytes;
        break;
      }
      if (copy.is_dropped) return Fit::kNoRoom;
      auto oldest = known_.end();
      for (auto it = known_.begin(); it != known_.end(); ++it) {
        const bool has_memory = it->second->copy != nullptr || it->second == loading_;
        if (!has_memory || it->second.get() == copy.known) continue;
        if (oldest == known_.end() || it->second->last_use < oldest->second->last_use) oldest = it;
      }
      if (oldest != known_.end()) {
        oldest->second->is_dropped = true;
        evicted.swap(oldest->second->copy);
        if (evicted != nullptr) evicted->is_dropped = true;
        known_.erase(oldest);
      } else if (BackgroundThread::Clock::now() >= until) {
        return Fit::kNoRoom;
      } else {
        changed_.WaitFor(mutex_, kWaitInterval);
      }
    }
    evicted.reset();
    ITEMDB_RETURN_IF_ERROR(check());
  }
  const size_t change = bytes > copy.reserved ? bytes - copy.reserved : copy.reserved - bytes;
  if (change <= copy.reserved / kReservedParts) return Fit::kFits;
  copy.reservation.reset();
  copy.reserved = bytes;
  if (const std::shared_ptr<Store> store = copy.store.lock(); store != nullptr)
    copy.reservation = std::make_unique<CacheReservation>(store, bytes);
  return Fit::kFits;
}

absl::Status VectorCopies::CheckLoad(const Known& known) {
  AnswerExpired();
  if (loader_.stopping()) return ClosingError();
  if (known.is_dropped) return absl::AbortedError("the copy had to make room, or the index is gone");
  return CheckForInterrupts(nullptr);
}

void VectorCopies::AnswerExpired() {
  const auto now = BackgroundThread::Clock::now();
  if (now < next_look_at_waiting_) return;
  next_look_at_waiting_ = now + kWaitInterval;
  std::vector<std::pair<Waiting, absl::Status>> expired;
  {
    MutexLock lock(mutex_);
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      absl::Status status = CheckNotCancelled(it->cancellation);
      if (status.ok()) {
        ++it;
        continue;
      }
      expired.emplace_back(std::move(*it), std::move(status));
      it = waiting_.erase(it);
    }
  }
  for (auto& [waiting, status] : expired) waiting.resume(std::move(status));
}

std::vector<VectorCopies::Waiting> VectorCopies::TakeWaiting(const Known* known) {
  std::vector<Waiting> taken;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (known != nullptr && it->known.get() != known) {
      ++it;
      continue;
    }
    taken.push_back(std::move(*it));
    it = waiting_.erase(it);
  }
  return taken;
}

void VectorCopies::Stop() {
  {
    MutexLock lock(mutex_);
    has_stopped_ = true;
  }
  loader_.Stop();
  graphs_.Stop();
  std::vector<Waiting> waiting;
  {
    MutexLock lock(mutex_);
    waiting = TakeWaiting(nullptr);
  }
  for (const Waiting& search : waiting) search.resume(ClosingError());
}

void VectorCopies::LoadCopies() {
  do {
    while (!loader_.stopping()) {
      std::shared_ptr<Known> known;
      {
        MutexLock lock(mutex_);
        if (to_load_.empty()) break;
        known = std::move(to_load_.front());
        to_load_.pop_front();
        loading_ = known;
      }
      absl::Status loaded = LoadCopy(known);
      // The searches begin anew.
      if (absl::IsAborted(loaded)) loaded = absl::OkStatus();
      std::vector<Waiting> waiting;
      {
        MutexLock lock(mutex_);
        loading_ = nullptr;
        known->state = Known::State::kIdle;
        changed_.NotifyAll();
        waiting = TakeWaiting(known.get());
      }
      for (const Waiting& search : waiting) search.resume(loaded);
    }
  } while (loader_.WaitUntil(BackgroundThread::Clock::time_point::max()));
}

absl::Status VectorCopies::LoadCopy(const std::shared_ptr<Known>& known) {
  const auto check = [&] { return CheckLoad(*known); };
  ITEMDB_RETURN_IF_ERROR(check());
  // The latest view: since the searches took theirs, a repair may have changed entries without changes of
  // items.
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const ReadView> view, engine_.View());
  const std::shared_ptr<const Table> table = view->catalog().FindByName(known->table);
  const Index* const index = table == nullptr ? nullptr : table->FindIndexByStorageId(known->storage_id);
  // The searches will find that out.
  if (index == nullptr || index->state != IndexState::kActive) return absl::OkStatus();
  const int64_t entries = engine_.size_statistics().Of(known->storage_id).items;

  std::shared_ptr<Copy> copy;
  {
    MutexLock lock(mutex_);
    copy = known->copy;
  }
  if (copy != nullptr) {
    absl::StatusOr<Fit> fit = absl::OutOfRangeError("the copy is of another store");
    if (copy->store.lock() == view->store() && view->change_sequence() >= copy->applied) {
      const size_t most_keys = std::max(kCaughtUpAtOnce, copy->vectors.size() / kCaughtUpPart);
      const auto count = [&](size_t bytes) { return Count(*copy, bytes, check); };
      fit = CatchUp({engine_, *view, *table, *index, count, check}, most_keys, copy.get());
    }
    if (fit.ok() && *fit == Fit::kFits) {
      if (copy->vectors.NeedsGraphs()) graphs_.Wake();
      return absl::OkStatus();
    }
    if (!fit.ok() && !absl::IsOutOfRange(fit.status()) && !absl::IsDataLoss(fit.status()))
      return fit.status();
    Install(*known, nullptr, fit.ok() ? *fit : Fit::kFits, entries);
    copy.reset();
    if (fit.ok()) return absl::OkStatus();
  }

  copy = std::make_shared<Copy>(*this, known.get(), *table, *index, view->store());
  ITEMDB_ASSIGN_OR_RETURN(Fit fit, Load(*copy, *view, *table, *index, entries, check));
  if (fit != Fit::kFits) {
    copy.reset();
    Install(*known, nullptr, fit, entries);
    return absl::OkStatus();
  }
  ++made_;
  ITEMDB_RETURN_IF_ERROR(graphs_.Restore(*copy, check));
  ITEMDB_ASSIGN_OR_RETURN(fit, Count(*copy, copy->vectors.bytes(), check));
  // What was written meanwhile, unless that is little. Searches take in the rest.
  for (int i = 0; i < kCatchUpsAfterLoad && fit == Fit::kFits; ++i) {
    view.reset();
    ITEMDB_ASSIGN_OR_RETURN(view, engine_.View());
    if (view->store() != copy->store.lock() || view->change_sequence() <= copy->sequence + kCaughtUpAtOnce)
      break;
    const auto count = [&](size_t bytes) { return Count(*copy, bytes, check); };
    const absl::StatusOr<Fit> caught_up = CatchUp({engine_, *view, *table, *index, count, check},
                                                  std::numeric_limits<size_t>::max(), copy.get());
    if (!caught_up.ok()) break;
    fit = *caught_up;
  }
  const bool needs_graphs = copy->vectors.NeedsGraphs();
  Install(*known, fit == Fit::kFits ? std::move(copy) : nullptr, fit, entries);
  if (needs_graphs) graphs_.Wake();
  return absl::OkStatus();
}

absl::StatusOr<VectorCopies::Fit> VectorCopies::Load(Copy& copy, const ReadView& view, const Table& table,
                                                     const Index& index, int64_t entries, Check check) {
  if (static_cast<size_t>(std::max<int64_t>(entries, 0)) >
      engine_.options().vector_memory_bytes / LeastEntryBytes(index))
    return Fit::kTooLarge;
  loaded_entries_ = 0;
  entries_to_load_ = std::max<int64_t>(entries, 1);
  const absl::Cleanup ends = [this] { entries_to_load_ = 0; };
  const auto count = [&](size_t bytes) { return Count(copy, bytes, check); };
  const auto progress = [&](int64_t seen) { loaded_entries_.store(seen, std::memory_order_relaxed); };
  return FillCopy({engine_, view, table, index, count, check}, progress, &copy);
}

std::vector<uint64_t> VectorCopies::StorageIds() const {
  std::vector<uint64_t> ids;
  MutexLock lock(mutex_);
  for (const auto& [storage_id, known] : known_) ids.push_back(storage_id);
  return ids;
}

std::shared_ptr<SharedCopy> VectorCopies::FindCopy(uint64_t storage_id) const {
  MutexLock lock(mutex_);
  const auto found = known_.find(storage_id);
  return found == known_.end() ? nullptr : found->second->copy;
}

std::shared_ptr<void> VectorCopies::BeginGraphChange(const std::shared_ptr<SharedCopy>& copy) {
  // Searches that begin wait while the copy is refreshed, so those that run release `searching` soon.
  MutexLock lock(mutex_);
  for (;;) {
    const auto found = known_.find(copy->storage_id);
    if (has_stopped_ || found == known_.end() || found->second->copy != copy) return nullptr;
    const std::shared_ptr<Known> known = found->second;
    if (known->state == Known::State::kIdle) {
      known->state = Known::State::kRefreshing;
      return std::shared_ptr<void>(known.get(), [this, known](void*) {
        MutexLock ends(mutex_);
        known->state = Known::State::kIdle;
        changed_.NotifyAll();
      });
    }
    // Also while the thread that makes copies has it: most often that catches the copy up, and the graph goes
    // on.
    changed_.WaitFor(mutex_, kWaitInterval);
  }
}

void VectorCopies::Drop(absl::FunctionRef<bool(uint64_t)> is_dropped) {
  // Are released after the lock.
  std::vector<std::shared_ptr<Copy>> copies;
  MutexLock lock(mutex_);
  std::erase_if(known_, [&](const auto& entry) {
    if (!is_dropped(entry.first)) return false;
    Known& known = *entry.second;
    known.is_dropped = true;
    if (known.copy != nullptr) known.copy->is_dropped = true;
    copies.push_back(std::move(known.copy));
    return true;
  });
}

void VectorCopies::ForgetDeleted() {
  const auto view = engine_.View();
  if (!view.ok()) return;
  std::set<uint64_t> there;
  for (const auto& table : (*view)->catalog()) {
    for (const Index& index : table->indexes) there.insert(index.storage_id);
  }
  Drop([&](uint64_t storage_id) { return !there.contains(storage_id); });
  graphs_.DeleteAllBut(there);
}

void VectorCopies::Forget(const std::vector<uint64_t>& storage_ids) {
  Drop([&](uint64_t storage_id) {
    return std::find(storage_ids.begin(), storage_ids.end(), storage_id) != storage_ids.end();
  });
}

void VectorCopies::ForgetAll() {
  Drop([](uint64_t) { return true; });
}

VectorFigures VectorCopies::figures() const {
  VectorFigures figures;
  figures.copies_made = made_;
  figures.searches_of_store = searches_of_store_;
  figures.restored_graph_entries = graphs_.restored_entries();
  MutexLock lock(mutex_);
  figures.bytes = static_cast<int64_t>(used_bytes_);
  figures.entries_to_load = entries_to_load_;
  figures.loaded_entries = std::min<int64_t>(loaded_entries_, figures.entries_to_load);
  for (const auto& [storage_id, known] : known_) {
    if (known->state == Known::State::kLoading) ++figures.loading;
    if (known->copy == nullptr) continue;
    ++figures.copies;
    figures.graph_entries += static_cast<int64_t>(known->copy->graph_entries);
    figures.entries += static_cast<int64_t>(known->copy->entries);
  }
  return figures;
}

}  // namespace itemdb::storage
