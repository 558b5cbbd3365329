#include "storage/vectors/vector_copies.h"

#include <algorithm>
#include <mutex>

#include "absl/cleanup/cleanup.h"
#include "storage/changes/log_reader.h"
#include "storage/indexes/index_entry.h"
#include "storage/keys/key_codec.h"
#include "storage/store/keyspace.h"
#include "storage/store/size_statistics.h"
#include "storage/values/float_vector.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

constexpr int64_t kRecordsBetweenVectorChecks = 512;
// More changed items than these, and than this part of the copy, are not caught up one by one.
constexpr size_t kCaughtUpAtOnce = 10'000;
constexpr size_t kCaughtUpPart = 8;
constexpr size_t kEntryReadAheadBytes = 1 << 20;
// About what an entry takes in a copy besides its vector and filters.
constexpr size_t kEntryBytes = 200;

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

}  // namespace

struct VectorCopies::Loaded {
  // Held while the copy is made or brought up to a later view. Outermost.
  Mutex refreshing;
  std::unique_ptr<VectorCopy> copy ABSL_GUARDED_BY(refreshing);
  // The state that the copy has.
  std::weak_ptr<Store> store ABSL_GUARDED_BY(refreshing);
  uint64_t sequence ABSL_GUARDED_BY(refreshing) = 0;
  std::unique_ptr<CacheReservation> reservation ABSL_GUARDED_BY(refreshing);

  // Searches hold it shared, a change of the copy exclusively.
  std::shared_mutex searching;
  // What searches use, under `searching`: `copy`.
  VectorCopy* searched = nullptr;

  mutable Mutex readers_mutex;
  // The versions that are being searched.
  std::multiset<uint64_t> readers ABSL_GUARDED_BY(readers_mutex);

  // Not in loaded_ any more.
  std::atomic<bool> is_dropped = false;
  std::atomic<size_t> bytes = 0;
  std::atomic<size_t> entries = 0;
  std::atomic<size_t> graph_entries = 0;
  // While the copy is being made: its entries so far, and in the end; otherwise 0.
  std::atomic<int64_t> loaded_entries = 0;
  std::atomic<int64_t> entries_to_load = 0;
  std::atomic<uint64_t> last_use = 0;
};

class VectorCopies::Reading {
 public:
  Reading(std::shared_ptr<Loaded> loaded, uint64_t version) : loaded_(std::move(loaded)), version_(version) {
    MutexLock lock(loaded_->readers_mutex);
    loaded_->readers.insert(version_);
  }
  ~Reading() {
    MutexLock lock(loaded_->readers_mutex);
    loaded_->readers.erase(loaded_->readers.find(version_));
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  // False: the copy was freed meanwhile.
  absl::StatusOr<bool> Search(const PreparedSearch& search, const VectorScorer& scorer,
                              const std::vector<std::string>& excluded,
                              absl::FunctionRef<absl::Status()> check, TopHits* hits) const {
    std::vector<VectorFilter> filters;
    for (const PreparedSearch::Filter& filter : search.filters)
      filters.push_back({filter.number, HashOfFilter(filter.value.encoded())});
    std::shared_lock lock(loaded_->searching);
    if (loaded_->searched == nullptr) return false;
    ITEMDB_RETURN_IF_ERROR(
        loaded_->searched->Search(search.partition, filters, scorer, version_, excluded, check, hits));
    return true;
  }

 private:
  const std::shared_ptr<Loaded> loaded_;
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

absl::StatusOr<std::vector<VectorHit>> VectorCopies::Search(PreparedSearch* search,
                                                            const std::vector<std::string>& excluded,
                                                            const CancellationPtr& cancellation) {
  const VectorScorer scorer(search->index->vector->distance, search->query.data(), search->query.size());
  const auto check = [&] { return CheckForInterrupts(cancellation); };
  TopHits hits(search->top_k);
  ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<Reading> reading, Begin(search, cancellation));
  bool searched = false;
  if (reading != nullptr) {
    ITEMDB_ASSIGN_OR_RETURN(searched, reading->Search(*search, scorer, excluded, check, &hits));
  }
  if (!searched) {
    ++searches_of_store_;
    ITEMDB_RETURN_IF_ERROR(SearchStore(*search, scorer, excluded, cancellation, &hits));
  }
  return hits.Take();
}

absl::StatusOr<std::unique_ptr<VectorCopies::Reading>> VectorCopies::Begin(
    PreparedSearch* search, const CancellationPtr& cancellation) {
  std::shared_ptr<Loaded> loaded;
  {
    MutexLock lock(mutex_);
    std::shared_ptr<Loaded>& known = loaded_[search->index->storage_id];
    if (known == nullptr) known = std::make_shared<Loaded>();
    loaded = known;
    loaded->last_use = ++uses_;
  }
  MutexLock lock(loaded->refreshing);
  ITEMDB_RETURN_IF_ERROR(Refresh(*loaded, search, cancellation));
  if (loaded->copy == nullptr) return std::unique_ptr<Reading>();
  return std::make_unique<Reading>(loaded, search->view->change_sequence());
}

absl::Status VectorCopies::Refresh(Loaded& loaded, PreparedSearch* search,
                                   const CancellationPtr& cancellation)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(loaded.refreshing) {
  // Another search may have brought the copy to a later view than this one's.
  if (loaded.copy != nullptr && search->view->change_sequence() < loaded.sequence) {
    ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const ReadView> later, engine_.View());
    ITEMDB_RETURN_IF_ERROR(MoveToView(std::move(later), search));
  }
  const ReadView& view = *search->view;
  // Another store may have other changes under the same numbers.
  const bool is_usable = loaded.copy != nullptr && loaded.store.lock() == view.store() &&
                         view.change_sequence() >= loaded.sequence;
  if (!is_usable) return Load(loaded, *search, cancellation);
  if (view.change_sequence() == loaded.sequence) return absl::OkStatus();
  const absl::Status caught_up = CatchUp(loaded, *search, cancellation);
  // The changes were trimmed or cannot be read.
  if (absl::IsOutOfRange(caught_up) || absl::IsDataLoss(caught_up))
    return Load(loaded, *search, cancellation);
  return caught_up;
}

absl::Status VectorCopies::Load(Loaded& loaded, const PreparedSearch& search,
                                const CancellationPtr& cancellation)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(loaded.refreshing) {
  const ReadView& view = *search.view;
  const Index& index = *search.index;
  const size_t dimensions = index.vector->dimensions;
  const size_t filters = index.vector->filters.size();
  {
    std::unique_lock lock(loaded.searching);
    loaded.searched = nullptr;
  }
  loaded.copy.reset();
  loaded.reservation.reset();
  loaded.bytes = 0;
  loaded.entries = 0;
  loaded.graph_entries = 0;
  ITEMDB_ASSIGN_OR_RETURN(const SizeStatistics statistics, ReadStatistics(view, index.storage_id));
  const size_t expected = static_cast<size_t>(std::max<int64_t>(statistics.items, 0)) *
                          (dimensions * sizeof(float) + filters * sizeof(uint64_t) + kEntryBytes);
  if (!MakeRoom(index.storage_id, expected)) return absl::OkStatus();
  const CacheReservation reserved(view.store(), expected);
  loaded.loaded_entries = 0;
  loaded.entries_to_load = std::max<int64_t>(statistics.items, 1);
  const absl::Cleanup ends = [&loaded] { loaded.entries_to_load = 0; };

  auto copy = std::make_unique<VectorCopy>(index.vector->distance, dimensions, filters,
                                           engine_.options().vector_graph_min);
  KeyspaceIterator it(*view.store(), EntriesOf(*view.store(), index), WholeIndex(view));
  int64_t seen = 0;
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    if (++seen % kRecordsBetweenVectorChecks == 0) ITEMDB_RETURN_IF_ERROR(CheckForInterrupts(cancellation));
    const std::optional<StoredRecord> stored = DecodeRecord(index.storage_id, it.key(), it.value());
    std::string_view base_key;
    std::optional<VectorEntry> entry;
    if (stored.has_value())
      entry = ReadEntry(*search.table, index, it.key(), ItemView(stored->payload), &base_key);
    if (!entry.has_value()) return DamagedRecordError(search.Owner(), it.key());
    copy->Put(base_key, *entry, 0);
    loaded.loaded_entries.store(seen, std::memory_order_relaxed);
  }
  if (!it.status().ok()) return view.store()->ReadError("cannot read " + search.Owner(), it.status());

  ++made_;
  loaded.copy = std::move(copy);
  loaded.store = view.store();
  loaded.sequence = view.change_sequence();
  Reserve(loaded, view.store());
  {
    std::unique_lock lock(loaded.searching);
    loaded.searched = loaded.copy.get();
  }
  if (loaded.copy->NeedsGraphs()) WakeBuilder();
  return absl::OkStatus();
}

absl::Status VectorCopies::CatchUp(Loaded& loaded, const PreparedSearch& search,
                                   const CancellationPtr& cancellation)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(loaded.refreshing) {
  const ReadView& view = *search.view;
  const Table& table = *search.table;
  std::set<std::string> keys;
  const size_t most_keys = std::max(kCaughtUpAtOnce, loaded.copy->size() / kCaughtUpPart);
  int64_t seen = 0;
  absl::Status interrupted;
  const auto take = [&](const ChangeView& change, std::string_view) {
    if (++seen % kRecordsBetweenVectorChecks == 0) interrupted = CheckForInterrupts(cancellation);
    if (!interrupted.ok() || change.key.empty()) return interrupted.ok();
    absl::StatusOr<std::string> key = EncodePrimaryKey(table, ItemView(change.key));
    interrupted = key.status();
    if (key.ok()) keys.insert(*std::move(key));
    // What follows holds the changed entries beside the copy. So many are loaded anew, piece by piece.
    if (keys.size() > most_keys) interrupted = absl::OutOfRangeError("too many items have changed");
    return interrupted.ok();
  };
  ITEMDB_RETURN_IF_ERROR(
      WalkTableChanges(engine_, view, table.storage_id, loaded.sequence, view.change_sequence(), take));
  ITEMDB_RETURN_IF_ERROR(interrupted);

  // The entries that changed, before searches have to wait.
  std::vector<std::pair<std::string_view, std::optional<VectorEntry>>> changed;
  for (const std::string& key : keys) {
    if (changed.size() % kRecordsBetweenVectorChecks == 0)
      ITEMDB_RETURN_IF_ERROR(CheckForInterrupts(cancellation));
    ITEMDB_ASSIGN_OR_RETURN(const Lookup found, LookupItem(view, table, key, ReadTier::kDisk));
    std::optional<VectorEntry>& entry = changed.emplace_back(key, std::nullopt).second;
    if (!found.item.has_value()) continue;
    // An item that the index skipped when it was created has no entry (SEM-097).
    const auto made = MakeIndexEntry(*search.index, ItemView(*found.item), key);
    if (!made.ok() || !made->has_value()) continue;
    std::string_view base_key;
    entry = ReadEntry(table, *search.index, (*made)->key, ItemView((*made)->item), &base_key);
  }

  {
    std::unique_lock lock(loaded.searching);
    for (const auto& [key, entry] : changed) {
      if (entry.has_value()) {
        loaded.copy->Put(key, *entry, view.change_sequence());
      } else {
        loaded.copy->Remove(key, view.change_sequence());
      }
    }
    bool has_readers = false;
    {
      MutexLock readers_lock(loaded.readers_mutex);
      has_readers = !loaded.readers.empty();
    }
    if (!has_readers) loaded.copy->Compact();
  }
  loaded.sequence = view.change_sequence();
  if (changed.empty()) return absl::OkStatus();
  if (!MakeRoom(search.index->storage_id, loaded.copy->bytes())) {
    std::unique_lock lock(loaded.searching);
    loaded.searched = nullptr;
    loaded.copy.reset();
    loaded.reservation.reset();
    loaded.bytes = 0;
    loaded.entries = 0;
    loaded.graph_entries = 0;
    return absl::OkStatus();
  }
  Reserve(loaded, view.store());
  if (loaded.copy->NeedsGraphs()) WakeBuilder();
  return absl::OkStatus();
}

void VectorCopies::WakeBuilder() {
  {
    MutexLock lock(mutex_);
    if (!builder_started_) builder_.Start([this] { BuildGraphs(); });
    builder_started_ = true;
  }
  builder_.Wake();
}

void VectorCopies::BuildGraphs() {
  do {
    std::vector<std::shared_ptr<Loaded>> all;
    {
      MutexLock lock(mutex_);
      for (const auto& [storage_id, loaded] : loaded_) all.push_back(loaded);
    }
    for (const auto& loaded : all) BuildGraphsOf(*loaded);
  } while (builder_.WaitUntil(BackgroundThread::Clock::time_point::max()));
}

void VectorCopies::BuildGraphsOf(Loaded& loaded) {
  const auto may_go_on = [&] { return !builder_.stopping() && !loaded.is_dropped; };
  std::optional<VectorCopy::GraphStep> unfinished;
  while (may_go_on()) {
    std::optional<VectorCopy::GraphStep> step;
    {
      std::shared_lock lock(loaded.searching);
      if (loaded.searched == nullptr) return;
      step = loaded.searched->NextGraphStep(unfinished.has_value() ? &*unfinished : nullptr);
    }
    if (!step.has_value()) return;
    step->Run(may_go_on);
    if (!may_go_on() || step->has_failed()) return;
    // Searches that begin wait for `refreshing`, so those that run release `searching` soon.
    MutexLock refreshing(loaded.refreshing);
    std::unique_lock lock(loaded.searching);
    if (loaded.searched == nullptr) return;
    if (loaded.searched->FinishGraphStep(*step)) {
      unfinished = std::move(step);
    } else {
      unfinished.reset();
    }
    loaded.graph_entries = loaded.searched->graph_size();
  }
}

void VectorCopies::Reserve(Loaded& loaded, const std::shared_ptr<Store>& store)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(loaded.refreshing) {
  const size_t bytes = loaded.copy->bytes();
  loaded.entries = loaded.copy->size();
  // The capacity of the cache is not changed for every write.
  const size_t before = loaded.bytes;
  if (loaded.reservation != nullptr && bytes < before + before / 16 && bytes > before - before / 4) return;
  loaded.bytes = bytes;
  loaded.reservation.reset();
  loaded.reservation = std::make_unique<CacheReservation>(store, bytes);
}

bool VectorCopies::MakeRoom(uint64_t storage_id, size_t bytes) {
  const size_t limit = engine_.options().vector_memory_bytes;
  if (bytes > limit) return false;
  MutexLock lock(mutex_);
  for (;;) {
    size_t used = bytes;
    auto oldest = loaded_.end();
    for (auto it = loaded_.begin(); it != loaded_.end(); ++it) {
      if (it->first == storage_id) continue;
      used += it->second->bytes;
      if (it->second->bytes > 0 &&
          (oldest == loaded_.end() || it->second->last_use < oldest->second->last_use))
        oldest = it;
    }
    if (used <= limit || oldest == loaded_.end()) return true;
    oldest->second->is_dropped = true;
    loaded_.erase(oldest);
  }
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

void VectorCopies::ForgetDeleted() {
  const auto view = engine_.View();
  if (!view.ok()) return;
  std::set<uint64_t> there;
  for (const auto& table : (*view)->catalog()) {
    for (const Index& index : table->indexes) there.insert(index.storage_id);
  }
  MutexLock lock(mutex_);
  std::erase_if(loaded_, [&](const auto& loaded) {
    if (there.contains(loaded.first)) return false;
    loaded.second->is_dropped = true;
    return true;
  });
}

void VectorCopies::ForgetAll() {
  MutexLock lock(mutex_);
  for (const auto& [storage_id, loaded] : loaded_) loaded->is_dropped = true;
  loaded_.clear();
}

VectorFigures VectorCopies::figures() const {
  VectorFigures figures;
  figures.copies_made = made_;
  figures.searches_of_store = searches_of_store_;
  MutexLock lock(mutex_);
  for (const auto& [storage_id, loaded] : loaded_) {
    if (const int64_t to_load = loaded->entries_to_load; to_load > 0) {
      ++figures.loading;
      figures.entries_to_load += to_load;
      figures.loaded_entries += std::min<int64_t>(loaded->loaded_entries, to_load);
    }
    if (loaded->bytes == 0) continue;
    ++figures.copies;
    figures.graph_entries += static_cast<int64_t>(loaded->graph_entries);
    figures.entries += static_cast<int64_t>(loaded->entries);
    figures.bytes += static_cast<int64_t>(loaded->bytes);
  }
  return figures;
}

}  // namespace itemdb::storage
