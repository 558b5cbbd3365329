#include "storage/vectors/vector_copies.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "storage/changes/log_reader.h"
#include "storage/engine/io_pool.h"
#include "storage/indexes/index_entry.h"
#include "storage/keys/key_codec.h"
#include "storage/store/keyspace.h"
#include "storage/store/size_statistics.h"
#include "storage/values/float_vector.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

constexpr int64_t kRecordsBetweenVectorChecks = 128;
// A copy that is being made is counted after so many entries or bytes.
constexpr int64_t kRecordsBetweenCounts = 512;
constexpr size_t kBytesBetweenCounts = 1 << 20;
// Changed items that a search takes into the copy at most before it leaves that to the thread; that, and this
// part of the copy, is the most before a copy is made anew.
constexpr size_t kCaughtUpAtOnce = 10'000;
constexpr size_t kCaughtUpPart = 8;
constexpr int kCatchUpsAfterLoad = 3;
// Changed items, or bytes of their entries, that are in memory beside the copy.
constexpr size_t kChangedAtOnce = 1'024;
constexpr size_t kChangedBytesAtOnce = 1 << 20;
constexpr size_t kEntryReadAheadBytes = 1 << 20;
// What an entry takes in a copy at least, besides its vector and filters.
constexpr size_t kMinEntryBytes = 136;
// The capacity of the block cache is changed by this part of a copy at least.
constexpr size_t kReservedParts = 16;
// Searches that may wait for copies.
constexpr size_t kMaxWaitingForCopies = 1'000;
constexpr std::chrono::milliseconds kWaitInterval(10);
// How long a copy waits until searches have left the copies that made room for it.
constexpr std::chrono::seconds kMaxWaitForRoom(5);

// Reads the entry at `key` of `search`'s index as it is in a copy. nullopt: it is malformed.
std::optional<VectorEntry> ReadEntry(const Table& table, const Index& index, std::string_view key,
                                     ItemView entry, std::string_view* base_key) {
  const std::optional<std::string_view> base = BaseKeyOf(table, index, key);
  const std::optional<std::string_view> packed = PackedVectorOf(index, entry);
  if (!base.has_value() || !packed.has_value()) return std::nullopt;
  VectorEntry read{.partition = std::string(key.substr(0, key.size() - base->size())),
                   .packed = std::string(*packed),
                   .filters = {}};
  for (const KeyAttribute& filter : index.vector->filters) {
    const std::optional<ValueView> value = entry.Find(filter.name);
    read.filters.push_back(value.has_value() ? HashOfFilter(value->encoded()) : kNoFilterValue);
  }
  *base_key = *base;
  return read;
}

rocksdb::ReadOptions WholeIndex(const ReadView& view) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  options.total_order_seek = true;
  options.fill_cache = false;
  options.readahead_size = kEntryReadAheadBytes;
  return options;
}

std::string OwnerOf(const Table& table, const Index& index) {
  return "index " + index.name + " of table " + table.name;
}

absl::Status ClosingError() {
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the database is shutting down");
}

}  // namespace

struct VectorCopies::Copy {
  Copy(VectorCopies& copies, const Known* of, const Index& index, const std::shared_ptr<Store>& in)
      : vectors(index.vector->distance, index.vector->dimensions, index.vector->filters.size(),
                copies.engine_.options().vector_graph_min),
        store(in),
        known(of),
        owner(copies) {}
  ~Copy() {
    MutexLock lock(owner.mutex_);
    owner.used_bytes_ -= counted;
    owner.changed_.NotifyAll();
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  VectorCopy vectors;
  // Searches hold it shared, a change of `vectors` exclusively.
  std::shared_mutex searching;

  // Touched by the thread that refreshes the copy. The state that it has is `sequence`; entries of changes up
  // to `applied` may be in it too, if a refreshing was not finished.
  const std::weak_ptr<Store> store;
  uint64_t sequence = 0;
  uint64_t applied = 0;
  size_t reserved = 0;
  std::unique_ptr<CacheReservation> reservation;

  Mutex readers_mutex;
  // The versions that are being searched.
  std::multiset<uint64_t> readers ABSL_GUARDED_BY(readers_mutex);

  // It had to make room, or its index is gone.
  std::atomic<bool> is_dropped = false;
  std::atomic<size_t> entries = 0;
  std::atomic<size_t> graph_entries = 0;

  // Only compared.
  const Known* const known;
  VectorCopies& owner;
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
    ITEMDB_RETURN_IF_ERROR(SearchStore(*search, scorer, excluded, cancellation, &hits));
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
    if (copy->vectors.NeedsGraphs()) WakeBuilder();
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
  return CatchUp(copy, view, *search->table, *search->index, most_keys, check);
}

absl::StatusOr<VectorCopies::Fit> VectorCopies::CatchUp(Copy& copy, const ReadView& view, const Table& table,
                                                        const Index& index, size_t most_keys, Check check) {
  uint64_t done = copy.sequence;
  if (done == view.change_sequence()) return Fit::kFits;
  size_t changed = 0;
  while (done < view.change_sequence()) {
    std::set<std::string> keys;
    uint64_t next = view.change_sequence();
    int64_t seen = 0;
    absl::Status interrupted;
    const auto take = [&](const ChangeView& change, std::string_view) {
      if (++seen % kRecordsBetweenVectorChecks == 0) interrupted = check();
      if (!interrupted.ok() || change.key.empty()) return interrupted.ok();
      absl::StatusOr<std::string> key = EncodePrimaryKey(table, ItemView(change.key));
      interrupted = key.status();
      if (key.ok()) keys.insert(*std::move(key));
      if (keys.size() < kChangedAtOnce) return interrupted.ok();
      next = change.change_sequence;
      return false;
    };
    ITEMDB_RETURN_IF_ERROR(
        WalkTableChanges(engine_, view, table.storage_id, done, view.change_sequence(), take));
    ITEMDB_RETURN_IF_ERROR(interrupted);
    done = next;
    if (keys.empty()) break;
    changed += keys.size();
    if (changed > most_keys) return absl::OutOfRangeError("too many items have changed");
    ITEMDB_RETURN_IF_ERROR(TakeChanged(copy, view, table, index, {keys.begin(), keys.end()}, check));
    ITEMDB_ASSIGN_OR_RETURN(const Fit fit, Count(copy, copy.vectors.bytes(), check));
    if (fit != Fit::kFits) return fit;
  }
  copy.sequence = view.change_sequence();
  copy.applied = std::max(copy.applied, copy.sequence);
  copy.entries = copy.vectors.size();
  return Compact(copy, check);
}

absl::Status VectorCopies::TakeChanged(Copy& copy, const ReadView& view, const Table& table,
                                       const Index& index, const std::vector<std::string>& keys,
                                       Check check) {
  const uint64_t version = view.change_sequence();
  for (size_t begin = 0; begin < keys.size();) {
    ITEMDB_RETURN_IF_ERROR(check());
    // The entries that changed, before searches have to wait.
    std::vector<std::pair<std::string_view, std::optional<VectorEntry>>> changed;
    size_t bytes = 0;
    for (; begin < keys.size() && bytes < kChangedBytesAtOnce; ++begin) {
      const std::string& key = keys[begin];
      ITEMDB_ASSIGN_OR_RETURN(const Lookup found, LookupItem(view, table, key, ReadTier::kDisk));
      std::optional<VectorEntry>& entry = changed.emplace_back(key, std::nullopt).second;
      if (!found.item.has_value()) continue;
      // An item that the index skipped when it was created has no entry (SEM-097).
      const auto made = MakeIndexEntry(index, ItemView(*found.item), key);
      if (!made.ok() || !made->has_value()) continue;
      std::string_view base_key;
      entry = ReadEntry(table, index, (*made)->key, ItemView((*made)->item), &base_key);
      if (entry.has_value()) bytes += entry->packed.size();
    }
    std::unique_lock lock(copy.searching);
    copy.applied = version;
    for (const auto& [key, entry] : changed) {
      if (entry.has_value()) {
        copy.vectors.Put(key, *entry, version);
      } else {
        copy.vectors.Remove(key, version);
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<VectorCopies::Fit> VectorCopies::Compact(Copy& copy, Check check) {
  // Searches that begin wait until the copy is refreshed, so none will be of an older version.
  uint64_t oldest = copy.sequence;
  {
    MutexLock lock(copy.readers_mutex);
    if (!copy.readers.empty()) oldest = std::min(oldest, *copy.readers.begin());
  }
  if (!copy.vectors.NeedsCompaction(oldest)) return Fit::kFits;
  ITEMDB_ASSIGN_OR_RETURN(const Fit fit,
                          Count(copy, copy.vectors.bytes() + copy.vectors.CompactionBytes(), check));
  if (fit != Fit::kFits) return fit;
  {
    std::unique_lock lock(copy.searching);
    copy.vectors.Compact(oldest);
  }
  copy.graph_entries = copy.vectors.graph_size();
  return Count(copy, copy.vectors.bytes(), check);
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
  builder_.Stop();
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
      fit = CatchUp(*copy, *view, *table, *index, most_keys, check);
    }
    if (fit.ok() && *fit == Fit::kFits) {
      if (copy->vectors.NeedsGraphs()) WakeBuilder();
      return absl::OkStatus();
    }
    if (!fit.ok() && !absl::IsOutOfRange(fit.status()) && !absl::IsDataLoss(fit.status()))
      return fit.status();
    Install(*known, nullptr, fit.ok() ? *fit : Fit::kFits, entries);
    copy.reset();
    if (fit.ok()) return absl::OkStatus();
  }

  copy = std::make_shared<Copy>(*this, known.get(), *index, view->store());
  ITEMDB_ASSIGN_OR_RETURN(Fit fit, Load(*copy, *view, *table, *index, entries, check));
  if (fit != Fit::kFits) {
    copy.reset();
    Install(*known, nullptr, fit, entries);
    return absl::OkStatus();
  }
  ++made_;
  // What was written meanwhile, unless that is little. Searches take in the rest.
  for (int i = 0; i < kCatchUpsAfterLoad && fit == Fit::kFits; ++i) {
    view.reset();
    ITEMDB_ASSIGN_OR_RETURN(view, engine_.View());
    if (view->store() != copy->store.lock() || view->change_sequence() <= copy->sequence + kCaughtUpAtOnce)
      break;
    const absl::StatusOr<Fit> caught_up =
        CatchUp(*copy, *view, *table, *index, std::numeric_limits<size_t>::max(), check);
    if (!caught_up.ok()) break;
    fit = *caught_up;
  }
  const bool needs_graphs = copy->vectors.NeedsGraphs();
  Install(*known, fit == Fit::kFits ? std::move(copy) : nullptr, fit, entries);
  if (needs_graphs) WakeBuilder();
  return absl::OkStatus();
}

absl::StatusOr<VectorCopies::Fit> VectorCopies::Load(Copy& copy, const ReadView& view, const Table& table,
                                                     const Index& index, int64_t entries, Check check) {
  const size_t entry_bytes = index.vector->dimensions * sizeof(float) +
                             index.vector->filters.size() * sizeof(uint64_t) + kMinEntryBytes;
  if (static_cast<size_t>(std::max<int64_t>(entries, 0)) >
      engine_.options().vector_memory_bytes / entry_bytes)
    return Fit::kTooLarge;
  loaded_entries_ = 0;
  entries_to_load_ = std::max<int64_t>(entries, 1);
  const absl::Cleanup ends = [this] { entries_to_load_ = 0; };
  KeyspaceIterator it(*view.store(), EntriesOf(*view.store(), index), WholeIndex(view));
  int64_t seen = 0;
  size_t bytes_since_count = 0;
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    if (++seen % kRecordsBetweenVectorChecks == 0) ITEMDB_RETURN_IF_ERROR(check());
    const std::optional<StoredRecord> stored = DecodeRecord(index.storage_id, it.key(), it.value());
    std::string_view base_key;
    std::optional<VectorEntry> entry;
    if (stored.has_value()) entry = ReadEntry(table, index, it.key(), ItemView(stored->payload), &base_key);
    if (!entry.has_value()) return DamagedRecordError(OwnerOf(table, index), it.key());
    copy.vectors.Put(base_key, *entry, 0);
    loaded_entries_.store(seen, std::memory_order_relaxed);
    bytes_since_count += entry_bytes;
    if (seen % kRecordsBetweenCounts != 0 && bytes_since_count < kBytesBetweenCounts) continue;
    bytes_since_count = 0;
    ITEMDB_ASSIGN_OR_RETURN(const Fit fit, Count(copy, copy.vectors.bytes(), check));
    if (fit != Fit::kFits) return fit;
  }
  if (!it.status().ok()) return view.store()->ReadError("cannot read " + OwnerOf(table, index), it.status());
  copy.sequence = view.change_sequence();
  copy.applied = copy.sequence;
  copy.entries = copy.vectors.size();
  return Count(copy, copy.vectors.bytes(), check);
}

void VectorCopies::WakeBuilder() {
  {
    MutexLock lock(mutex_);
    if (has_stopped_) return;
    if (!std::exchange(builder_started_, true)) builder_.Start([this] { BuildGraphs(); });
  }
  builder_.Wake();
}

void VectorCopies::BuildGraphs() {
  do {
    std::vector<std::shared_ptr<Known>> all;
    {
      MutexLock lock(mutex_);
      for (const auto& [storage_id, known] : known_) all.push_back(known);
    }
    for (const auto& known : all) BuildGraphsOf(known);
  } while (builder_.WaitUntil(BackgroundThread::Clock::time_point::max()));
}

void VectorCopies::BuildGraphsOf(const std::shared_ptr<Known>& known) {
  std::optional<VectorCopy::GraphStep> unfinished;
  for (;;) {
    // Not kept from step to step: it may have to make room.
    std::shared_ptr<Copy> copy;
    {
      MutexLock lock(mutex_);
      copy = known->copy;
    }
    const auto may_go_on = [&] { return !builder_.stopping() && !copy->is_dropped; };
    if (copy == nullptr || !may_go_on()) return;
    std::optional<VectorCopy::GraphStep> step;
    {
      std::shared_lock lock(copy->searching);
      step = copy->vectors.NextGraphStep(unfinished.has_value() ? &*unfinished : nullptr);
    }
    if (!step.has_value()) return;
    step->Run(may_go_on);
    if (!may_go_on() || step->has_failed() || !BeginGraphChange(*known, copy)) return;
    bool is_valid = false;
    {
      std::unique_lock lock(copy->searching);
      is_valid = copy->vectors.FinishGraphStep(*step);
      copy->graph_entries = copy->vectors.graph_size();
    }
    {
      MutexLock lock(mutex_);
      known->state = Known::State::kIdle;
      changed_.NotifyAll();
    }
    unfinished.reset();
    if (is_valid) unfinished = std::move(step);
  }
}

bool VectorCopies::BeginGraphChange(Known& known, const std::shared_ptr<Copy>& copy) {
  // Searches that begin wait while the copy is refreshed, so those that run release `searching` soon.
  MutexLock lock(mutex_);
  while (known.state == Known::State::kRefreshing) {
    if (has_stopped_) return false;
    changed_.WaitFor(mutex_, kWaitInterval);
  }
  if (known.state != Known::State::kIdle || known.copy != copy) return false;
  known.state = Known::State::kRefreshing;
  return true;
}

absl::Status VectorCopies::SearchStore(const PreparedSearch& search, const VectorScorer& scorer,
                                       const std::vector<std::string>& excluded,
                                       const CancellationPtr& cancellation, TopHits* hits) {
  const ReadView& view = *search.view;
  const Index& index = *search.index;
  KeyRange range;
  if (!search.partition.empty()) range = {search.partition, PrefixSuccessor(search.partition)};
  KeyspaceIterator it(*view.store(), EntriesOf(*view.store(), index), WholeIndex(view), range);
  std::vector<float> vector(index.vector->dimensions);
  int64_t seen = 0;
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    if (++seen % kRecordsBetweenVectorChecks == 0) ITEMDB_RETURN_IF_ERROR(CheckForInterrupts(cancellation));
    const std::optional<StoredRecord> stored = DecodeRecord(index.storage_id, it.key(), it.value());
    const std::optional<std::string_view> base_key = BaseKeyOf(*search.table, index, it.key());
    std::optional<std::string_view> packed;
    if (stored.has_value()) packed = PackedVectorOf(index, ItemView(stored->payload));
    if (!base_key.has_value() || !packed.has_value()) return DamagedRecordError(search.Owner(), it.key());
    if (!FitsFilters(search, ItemView(stored->payload))) continue;
    if (std::find(excluded.begin(), excluded.end(), *base_key) != excluded.end()) continue;
    UnpackVector(*packed, vector);
    const float inverse = scorer.needs_length() ? InverseLength(vector.data(), vector.size()) : 0;
    hits->Add(scorer.Rank(vector.data(), inverse), *base_key);
  }
  if (!it.status().ok()) return view.store()->ReadError("cannot read " + search.Owner(), it.status());
  return absl::OkStatus();
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
