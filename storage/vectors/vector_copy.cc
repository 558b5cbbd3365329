#include "storage/vectors/vector_copy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "storage/base/xxh3.h"
#include "storage/values/float_vector.h"

namespace itemdb::storage {
namespace {

// A partition's chunks begin small, because there may be many partitions, and grow by a part of what it has.
constexpr size_t kChunkParts = 4;
constexpr size_t kMaxChunkBytes = 1 << 20;
// Ended entries that are kept in any case.
constexpr size_t kMinEnded = 1'024;
// Vectors between two checks of a search.
constexpr size_t kVectorsBetweenChecks = 4'096;
// Candidates that a search of a graph looks at, at least. More find more of the nearest, and take longer.
constexpr size_t kMinCandidates = 160;
// Where fewer of the entries are wanted, comparing these is not slower than the graph, and finds all.
constexpr double kMinGraphFraction = 0.2;
constexpr size_t kSampledSlots = 1'000;
// Vectors that a graph gets at a time: while it is searched, and before. It is not made longer for fewer than
// the third, or than a part of its size: these are compared one by one.
constexpr size_t kGraphStep = 16;
constexpr size_t kNewGraphStep = 4'096;
constexpr size_t kMinGraphStep = 1'024;
constexpr size_t kTailParts = 50;
// A graph of a file is of no use when more than this part of its entries has changed.
constexpr size_t kReplacedParts = 8;
// A new graph has room for this part more.
constexpr size_t kGraphRoomParts = 8;
// About what an item takes in `places_`, and a partition in `partitions_`, besides what follows and their
// keys.
constexpr size_t kPlaceBytes = 96;
constexpr size_t kPartitionBytes = 288;
// What malloc takes for a block besides it.
constexpr size_t kBlockBytes = 16;
// Keys of at most so many bytes are in the string itself.
constexpr size_t kInlineKeyBytes = 15;

size_t KeyBytes(const std::string& key) {
  return key.size() > kInlineKeyBytes ? key.size() + kBlockBytes : 0;
}

}  // namespace

uint64_t HashOfFilter(std::string_view encoded_value) {
  static const uint64_t seed = [] {
    std::random_device random;
    return static_cast<uint64_t>(random()) << 32 | random();
  }();
  const uint64_t hash = XXH3_64bits_withSeed(encoded_value.data(), encoded_value.size(), seed);
  return hash == kNoFilterValue ? 1 : hash;
}

float* VectorCopy::AddVector(Partition* partition) {
  if (partition->room == 0) {
    const size_t most = std::max<size_t>(1, kMaxChunkBytes / (dimensions_ * sizeof(float)));
    const size_t vectors = std::clamp<size_t>(partition->slots.size() / kChunkParts, 1, most);
    partition->chunks.push_back(std::make_unique_for_overwrite<float[]>(vectors * dimensions_));
    partition->next = partition->chunks.back().get();
    partition->room = vectors;
    partition->chunk_bytes += vectors * dimensions_ * sizeof(float) + kBlockBytes;
  }
  float* vector = partition->next;
  partition->next += dimensions_;
  --partition->room;
  return vector;
}

size_t VectorCopy::BytesOf(const Partition& partition) const {
  return partition.chunk_bytes + partition.chunks.capacity() * sizeof(float*) +
         partition.slots.capacity() * sizeof(Slot) + partition.filters.capacity() * sizeof(uint64_t);
}

void VectorCopy::AddSlot(Partition* partition, const std::string* base_key, std::string_view packed,
                         std::span<const uint64_t> filters, uint64_t version) {
  const size_t before = BytesOf(*partition);
  float* vector = AddVector(partition);
  UnpackVector(packed, std::span(vector, dimensions_));
  partition->slots.push_back({.vector = vector,
                              .base_key = base_key,
                              .from = version,
                              .inverse_length = InverseLength(vector, dimensions_)});
  partition->filters.insert(partition->filters.end(), filters.begin(), filters.end());
  ++partition->live;
  ++live_;
  entry_bytes_ += BytesOf(*partition) - before;
}

void VectorCopy::End(Place* place, uint64_t version) {
  place->partition->slots[place->slot].to = version;
  --place->partition->live;
  place->live = false;
  --live_;
  if (ended_.empty() || ended_.back().first != version) ended_.emplace_back(version, 0);
  ++ended_.back().second;
}

void VectorCopy::Put(std::string_view base_key, const VectorEntry& entry, uint64_t version) {
  auto it = places_.find(base_key);
  if (it == places_.end()) {
    it = places_.emplace(base_key, Place()).first;
    key_bytes_ += kPlaceBytes + KeyBytes(it->first);
  }
  Place& place = it->second;
  if (place.live) End(&place, version);
  const auto [found, is_new] = partitions_.try_emplace(entry.partition);
  std::shared_ptr<Partition>& partition = found->second;
  if (is_new) {
    partition = std::make_shared<Partition>();
    key_bytes_ += kPartitionBytes + KeyBytes(found->first);
  }
  place = {.partition = partition.get(), .slot = partition->slots.size(), .live = true};
  AddSlot(partition.get(), &it->first, entry.packed, entry.filters, version);
  if (partition->live >= min_graph_) large_.insert(partition);
}

void VectorCopy::Remove(std::string_view base_key, uint64_t version) {
  const auto it = places_.find(base_key);
  if (it != places_.end() && it->second.live) End(&it->second, version);
}

bool VectorCopy::IsWanted(const Partition& partition, size_t slot, const Query& query) const {
  const Slot& entry = partition.slots[slot];
  if (query.version < entry.from || query.version >= entry.to) return false;
  for (const VectorFilter& filter : query.filters) {
    if (partition.filters[slot * filters_ + filter.number] != filter.hash) return false;
  }
  return query.excluded.empty() ||
         std::find(query.excluded.begin(), query.excluded.end(), *entry.base_key) == query.excluded.end();
}

double VectorCopy::WantedFraction(const Partition& partition, size_t slots, const Query& query) const {
  // Nearly all searches are of the latest version.
  if (query.filters.empty())
    return static_cast<double>(partition.live) / static_cast<double>(partition.slots.size());
  const size_t step = std::max<size_t>(1, slots / kSampledSlots);
  size_t seen = 0;
  size_t wanted = 0;
  for (size_t slot = 0; slot < slots; slot += step) {
    ++seen;
    wanted += IsWanted(partition, slot, query) ? 1 : 0;
  }
  return static_cast<double>(wanted) / static_cast<double>(seen);
}

bool VectorCopy::SearchGraph(const Partition& partition, const Query& query, TopHits* hits) const {
  const double fraction = WantedFraction(partition, partition.graph->size(), query);
  if (fraction < kMinGraphFraction) return false;
  const size_t candidates =
      static_cast<size_t>(static_cast<double>(std::max(kMinCandidates, 2 * hits->limit())) / fraction);
  size_t found = 0;
  for (const auto& [rank, slot] : partition.graph->Search(query.scorer.query(), candidates)) {
    if (!IsWanted(partition, slot, query)) continue;
    ++found;
    hits->Add(rank, *partition.slots[slot].base_key);
  }
  return found >= hits->limit();
}

absl::Status VectorCopy::Search(std::string_view partition, std::span<const VectorFilter> filters,
                                const VectorScorer& scorer, uint64_t version,
                                const std::vector<std::string>& excluded,
                                absl::FunctionRef<absl::Status()> check, TopHits* hits) const {
  const auto found = partitions_.find(partition);
  if (found == partitions_.end()) return absl::OkStatus();
  const Partition& searched = *found->second;
  const Query query{filters, scorer, version, excluded};
  size_t begin = 0;
  if (searched.graph != nullptr) {
    TopHits of_graph(hits->limit());
    if (SearchGraph(searched, query, &of_graph)) {
      begin = searched.graph->size();
      for (const VectorHit& hit : of_graph.Take()) hits->Add(hit.rank, hit.base_key);
    }
  }
  const std::vector<Slot>& slots = searched.slots;
  for (size_t i = begin; i < slots.size(); ++i) {
    if (i % kVectorsBetweenChecks == 0) ITEMDB_RETURN_IF_ERROR(check());
    if (!IsWanted(searched, i, query)) continue;
    const float rank = scorer.Rank(slots[i].vector, slots[i].inverse_length);
    if (hits->Wants(rank)) hits->Add(rank, *slots[i].base_key);
  }
  return absl::OkStatus();
}

void VectorCopy::GraphStep::Run(absl::FunctionRef<bool()> may_go_on) {
  if (graph_ == nullptr) return;
  for (const auto& [vector, inverse_length] : vectors_) {
    if (!may_go_on()) return;
    if (!graph_->Add(vector, inverse_length)) {
      has_failed_ = true;
      return;
    }
  }
}

bool VectorCopy::NeedsGraph(const Partition& partition) const {
  if (partition.graph == nullptr) return partition.live >= min_graph_;
  const size_t size = partition.graph->size();
  return partition.slots.size() - size >= std::max(kMinGraphStep, size / kTailParts);
}

float VectorCopy::LongestOf(const Partition& partition) const {
  float longest = 0;
  for (const Slot& slot : partition.slots) {
    const float length = slot.inverse_length == 0 ? 0 : 1 / slot.inverse_length;
    if (std::isfinite(length)) longest = std::max(longest, length);
  }
  return longest;
}

bool VectorCopy::NeedsGraphs() const {
  return std::any_of(large_.begin(), large_.end(),
                     [this](const auto& partition) { return NeedsGraph(*partition); });
}

std::optional<VectorCopy::GraphStep> VectorCopy::NextGraphStep(const GraphStep* unfinished) const {
  for (const std::shared_ptr<Partition>& partition : large_) {
    if (!NeedsGraph(*partition)) continue;
    const size_t slots = partition->slots.size();
    GraphStep step;
    step.partition_ = partition;
    size_t begin = 0;
    size_t end = slots;
    if (partition->graph != nullptr) {
      begin = partition->graph->size();
      end = begin + kGraphStep;
    } else {
      // A graph that could not grow is gone.
      const bool goes_on =
          unfinished != nullptr && unfinished->partition_ == partition && unfinished->graph_ != nullptr;
      if (goes_on) {
        step.graph_ = unfinished->graph_;
      } else {
        step.graph_ = std::make_shared<VectorGraph>(distance_, dimensions_, slots + slots / kGraphRoomParts,
                                                    LongestOf(*partition));
      }
      begin = step.graph_->size();
      end = std::min(slots, begin + kNewGraphStep);
    }
    for (size_t i = begin; i < std::min(end, slots); ++i) {
      const Slot& slot = partition->slots[i];
      step.vectors_.emplace_back(slot.vector, slot.inverse_length);
    }
    return step;
  }
  return std::nullopt;
}

bool VectorCopy::FinishGraphStep(GraphStep& step) {
  Partition& partition = *step.partition_;
  if (!large_.contains(step.partition_)) return false;
  if (step.graph_ == nullptr) {
    for (const auto& [vector, inverse_length] : step.vectors_) {
      if (partition.graph->Add(vector, inverse_length)) continue;
      step.has_failed_ = true;
      partition.graph = nullptr;
      return true;
    }
  } else if (partition.slots.size() - step.graph_->size() <= kMinGraphStep) {
    partition.graph = step.graph_;
    ++graphs_made_;
  }
  return true;
}

size_t VectorCopy::graph_size() const {
  size_t size = 0;
  for (const auto& partition : large_) size += partition->graph == nullptr ? 0 : partition->graph->size();
  return size;
}

std::vector<VectorCopy::PartitionGraph> VectorCopy::Graphs() const {
  std::vector<PartitionGraph> graphs;
  for (const auto& [key, partition] : partitions_) {
    if (partition->graph != nullptr) graphs.push_back({key, partition->graph});
  }
  return graphs;
}

uint64_t VectorCopy::HashOfEntry(const Slot& slot, size_t dimensions) {
  if (slot.base_key == nullptr) return 0;
  const uint64_t of_key = XXH3_64bits(slot.base_key->data(), slot.base_key->size());
  return XXH3_64bits_withSeed(slot.vector, dimensions * sizeof(float), of_key);
}

bool VectorCopy::AppendEntryHashes(const PartitionGraph& of, size_t begin, size_t end,
                                   std::vector<uint64_t>* hashes) const {
  const auto found = partitions_.find(of.partition);
  if (found == partitions_.end() || found->second->graph != of.graph) return false;
  for (size_t i = begin; i < end; ++i) hashes->push_back(HashOfEntry(found->second->slots[i], dimensions_));
  return true;
}

size_t VectorCopy::RoomForGraph(std::string_view partition) const {
  const auto found = partitions_.find(partition);
  if (found == partitions_.end() || found->second->live < min_graph_) return 0;
  const size_t slots = found->second->slots.size();
  return slots + slots / kGraphRoomParts;
}

bool VectorCopy::GiveGraph(std::string_view partition, const std::vector<uint64_t>& hashes,
                           std::unique_ptr<VectorGraph> graph, size_t* replaced) {
  if (RoomForGraph(partition) == 0 || graph->size() != hashes.size()) return false;
  Partition& given = *partitions_.find(partition)->second;
  if (given.graph != nullptr || given.live != given.slots.size()) return false;

  // Which slot is which number of the graph.
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<std::pair<uint64_t, uint32_t>> by_hash;
  by_hash.reserve(given.slots.size());
  for (const Slot& slot : given.slots)
    by_hash.emplace_back(HashOfEntry(slot, dimensions_), static_cast<uint32_t>(by_hash.size()));
  std::sort(by_hash.begin(), by_hash.end());
  std::vector<uint32_t> slot_of(hashes.size(), kNone);
  std::vector<bool> is_in_graph(given.slots.size());
  *replaced = 0;
  for (size_t i = 0; i < hashes.size(); ++i) {
    const auto at = std::lower_bound(by_hash.begin(), by_hash.end(), std::pair(hashes[i], uint32_t{0}));
    if (at == by_hash.end() || at->first != hashes[i] || is_in_graph[at->second]) {
      ++*replaced;
      continue;
    }
    slot_of[i] = at->second;
    is_in_graph[at->second] = true;
  }
  if (*replaced > hashes.size() / kReplacedParts) return false;

  // The slots of the graph in its order, then the others.
  const size_t before = BytesOf(given);
  std::vector<Slot> slots;
  std::vector<uint64_t> filters;
  slots.reserve(given.slots.size() + *replaced);
  filters.reserve((given.slots.size() + *replaced) * filters_);
  const auto move = [&](size_t from) {
    const Slot& slot = given.slots[from];
    places_.find(*slot.base_key)->second.slot = slots.size();
    slots.push_back(slot);
    const auto first = given.filters.begin() + static_cast<ptrdiff_t>(from * filters_);
    filters.insert(filters.end(), first, first + static_cast<ptrdiff_t>(filters_));
  };
  for (size_t i = 0; i < hashes.size(); ++i) {
    if (slot_of[i] != kNone) {
      move(slot_of[i]);
    } else {
      // Searches still pass here on their way to others.
      const std::vector<uint32_t> neighbours = graph->NeighboursOf(i);
      const auto near = std::find_if(neighbours.begin(), neighbours.end(),
                                     [&](uint32_t number) { return slot_of[number] != kNone; });
      Slot ended = given.slots[near == neighbours.end() ? 0 : slot_of[*near]];
      ended.base_key = nullptr;
      ended.to = ended.from;
      slots.push_back(ended);
      filters.insert(filters.end(), filters_, kNoFilterValue);
    }
    graph->SetVector(i, slots.back().vector, slots.back().inverse_length);
  }
  for (size_t i = 0; i < is_in_graph.size(); ++i) {
    if (!is_in_graph[i]) move(i);
  }
  if (*replaced > 0) ended_.emplace_front(0, *replaced);
  given.slots = std::move(slots);
  given.filters = std::move(filters);
  given.graph = std::move(graph);
  entry_bytes_ += BytesOf(given) - before;
  return true;
}

bool VectorCopy::NeedsCompaction(uint64_t oldest) const {
  size_t freed = 0;
  for (const auto& [version, count] : ended_) {
    if (version > oldest) break;
    freed += count;
  }
  return freed >= kMinEnded && freed >= live_ / 2;
}

size_t VectorCopy::CompactionBytes() const {
  size_t largest = 0;
  for (const auto& [key, partition] : partitions_) largest = std::max(largest, BytesOf(*partition));
  return largest;
}

void VectorCopy::Compact(uint64_t oldest) {
  // Each partition anew, one after another, so that only one is in memory twice.
  entry_bytes_ = 0;
  live_ = 0;
  large_.clear();
  while (!ended_.empty() && ended_.front().first <= oldest) ended_.pop_front();
  // Keys of items that are not there any more, which searches of older versions may find.
  std::set<const std::string*> kept_keys;
  for (auto& [key, partition] : partitions_) {
    auto compacted = std::make_shared<Partition>();
    for (size_t i = 0; i < partition->slots.size(); ++i) {
      const Slot& slot = partition->slots[i];
      if (slot.to <= oldest) continue;
      const std::string_view packed(reinterpret_cast<const char*>(slot.vector), dimensions_ * sizeof(float));
      const std::span<const uint64_t> filters(partition->filters.data() + i * filters_, filters_);
      const size_t number = compacted->slots.size();
      AddSlot(compacted.get(), slot.base_key, packed, filters, slot.from);
      if (slot.to == kForever) {
        places_.find(*slot.base_key)->second = {.partition = compacted.get(), .slot = number, .live = true};
        continue;
      }
      compacted->slots.back().to = slot.to;
      --compacted->live;
      --live_;
      kept_keys.insert(slot.base_key);
    }
    if (compacted->live >= min_graph_) large_.insert(compacted);
    partition = std::move(compacted);
  }
  for (auto it = partitions_.begin(); it != partitions_.end();) {
    if (!it->second->slots.empty()) {
      ++it;
      continue;
    }
    key_bytes_ -= kPartitionBytes + KeyBytes(it->first);
    it = partitions_.erase(it);
  }
  for (auto it = places_.begin(); it != places_.end();) {
    if (it->second.live || kept_keys.contains(&it->first)) {
      ++it;
      continue;
    }
    key_bytes_ -= kPlaceBytes + KeyBytes(it->first);
    it = places_.erase(it);
  }
}

size_t VectorCopy::bytes() const {
  size_t bytes = entry_bytes_ + key_bytes_;
  for (const auto& partition : large_) {
    if (partition->graph != nullptr) {
      bytes += partition->graph->bytes();
    } else {
      // It will get one, with room for more.
      const size_t slots = partition->slots.size();
      bytes += (slots + slots / kGraphRoomParts) * VectorGraph::kBytesPerVector;
    }
  }
  return bytes;
}

}  // namespace itemdb::storage
