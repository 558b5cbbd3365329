// The entries of a vector index in memory: vectors one after another, each partition (value of the HASH
// attribute) by itself.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "storage/base/status.h"
#include "storage/vectors/distance.h"
#include "storage/vectors/top_hits.h"
#include "storage/vectors/vector_graph.h"

namespace itemdb::storage {

// What a search asks of an INLINE_FILTER attribute.
struct VectorFilter {
  // Which of the index's filters.
  size_t number = 0;
  // HashOfFilter of the wanted value.
  uint64_t hash = 0;
};

// The hash that stands for an encoded value of a filter attribute; another one in each process, so that
// nobody can choose values that collide. A missing attribute has kNoFilterValue.
uint64_t HashOfFilter(std::string_view encoded_value);
inline constexpr uint64_t kNoFilterValue = 0;

// One entry.
struct VectorEntry {
  // The encoded HASH value; empty without one.
  std::string partition;
  // The bytes of the floats.
  std::string packed;
  // HashOfFilter of each filter attribute of the index, or kNoFilterValue.
  std::vector<uint64_t> filters;
};

// Entries have versions: a search of version v sees what was there at the change v. Not thread-safe; searches
// may run side by side.
//
// A partition of at least `min_graph` entries gets a graph (vector_graph.h), which finds nearly all of the
// nearest entries without comparing all. The owner of the copy makes it, in steps:
//
//   std::optional<GraphStep> step = copy.NextGraphStep();   // while nobody changes the copy
//   step->Run(may_go_on);                                   // at any time: the long part
//   copy.FinishGraphStep(*step);                            // while nobody searches or changes the copy:
//   short
//
// Entries that are not in the graph yet are compared one by one.
class VectorCopy {
 private:
  struct Partition;

 public:
  // Vectors that a graph gets.
  class GraphStep {
   public:
    // Adds the vectors to the graph, until `may_go_on` returns false.
    void Run(absl::FunctionRef<bool()> may_go_on);
    bool has_failed() const { return has_failed_; }

   private:
    friend class VectorCopy;
    // Keeps the vectors.
    std::shared_ptr<Partition> partition_;
    // A new graph that no search uses yet; null: the vectors are for the partition's graph, and few.
    std::shared_ptr<VectorGraph> graph_;
    std::vector<std::pair<const float*, float>> vectors_;
    bool has_failed_ = false;
  };

  VectorCopy(v1::VectorDistanceFunction distance, size_t dimensions, size_t filters, size_t min_graph)
      : distance_(distance), dimensions_(dimensions), filters_(filters), min_graph_(min_graph) {}
  VectorCopy(const VectorCopy&) = delete;
  VectorCopy& operator=(const VectorCopy&) = delete;

  // From `version` on the item `base_key` has this entry. `entry` has the dimensions and filters of the copy.
  // Versions never go down.
  void Put(std::string_view base_key, const VectorEntry& entry, uint64_t version);
  // From `version` on the item `base_key` has no entry.
  void Remove(std::string_view base_key, uint64_t version);

  // Whether there is a next step.
  bool NeedsGraphs() const;
  // What the next step is; nullopt: all graphs are there. `unfinished` is the step before, if it has not
  // failed.
  std::optional<GraphStep> NextGraphStep(const GraphStep* unfinished) const;
  // False: the copy was compacted meanwhile, so that the step is void.
  bool FinishGraphStep(GraphStep& step);
  // Entries in graphs.
  size_t graph_size() const;

  // ---- graphs that are kept in a file (graph_file.h) ----

  // A graph, and the partition that it is of.
  struct PartitionGraph {
    std::string partition;
    std::shared_ptr<const VectorGraph> graph;
  };
  // Those that searches use. Only FinishGraphStep adds to them.
  std::vector<PartitionGraph> Graphs() const;
  // Changes when a partition gets a graph that it has not had.
  uint64_t graphs_made() const { return graphs_made_; }
  // Appends hashes that tell which entries the numbers [begin, end) of the graph are: of key and vector.
  // False: the partition has another graph now.
  bool AppendEntryHashes(const PartitionGraph& of, size_t begin, size_t end,
                         std::vector<uint64_t>* hashes) const;
  // Gives a partition that was filled and not changed since a graph of the entries with these hashes, whose
  // vectors are not set yet. An entry that is not there any more, or has another vector, is replaced by an
  // ended one at the place of a neighbour. False: the partition is not there, or too small, or too many
  // entries were replaced; then nothing has changed. `*replaced`: how many.
  bool GiveGraph(std::string_view partition, const std::vector<uint64_t>& hashes,
                 std::unique_ptr<VectorGraph> graph, size_t* replaced);
  // For how many vectors a graph of the partition has room at first; 0: it needs none.
  size_t RoomForGraph(std::string_view partition) const;

  // Adds the entries of `partition` at `version` that fit `filters` to `*hits`, but those whose key
  // `excluded` has. Calls `check` now and then, and ends with its error.
  absl::Status Search(std::string_view partition, std::span<const VectorFilter> filters,
                      const VectorScorer& scorer, uint64_t version, const std::vector<std::string>& excluded,
                      absl::FunctionRef<absl::Status()> check, TopHits* hits) const;

  // Whether entries that ended at `oldest` or before take much memory.
  bool NeedsCompaction(uint64_t oldest) const;
  // Frees these entries. No search of a version below `oldest` may follow. Takes CompactionBytes() meanwhile.
  void Compact(uint64_t oldest);
  size_t CompactionBytes() const;

  // Entries that did not end.
  size_t size() const { return live_; }
  // Memory, about: keys, partitions, and room for more entries included.
  size_t bytes() const;

 private:
  static constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();

  // An entry from one version to another.
  struct Slot {
    const float* vector = nullptr;
    // Null in a slot that GiveGraph has made.
    const std::string* base_key = nullptr;
    uint64_t from = 0;
    uint64_t to = kForever;
    float inverse_length = 0;
  };
  struct Partition {
    // Each holds the vectors of several slots; the last one has room for `room` more.
    std::vector<std::unique_ptr<float[]>> chunks;
    float* next = nullptr;
    size_t room = 0;
    size_t chunk_bytes = 0;
    std::vector<Slot> slots;
    // Those of slot i begin at i * filters_.
    std::vector<uint64_t> filters;
    size_t live = 0;
    // Of the first slots. Null: there is none.
    std::shared_ptr<VectorGraph> graph;
  };
  static uint64_t HashOfEntry(const Slot& slot, size_t dimensions);

  // Where the last entry of an item is.
  struct Place {
    Partition* partition = nullptr;
    size_t slot = 0;
    bool live = false;
  };

  // Finds string views among strings.
  struct HashOfKey {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  template <typename Value>
  using KeyMap = std::unordered_map<std::string, Value, HashOfKey, std::equal_to<>>;

  float* AddVector(Partition* partition);
  void AddSlot(Partition* partition, const std::string* base_key, std::string_view packed,
               std::span<const uint64_t> filters, uint64_t version);
  void End(Place* place, uint64_t version);
  // Without its graph.
  size_t BytesOf(const Partition& partition) const;

  // What a search looks for.
  struct Query {
    std::span<const VectorFilter> filters;
    const VectorScorer& scorer;
    uint64_t version = 0;
    const std::vector<std::string>& excluded;
  };
  bool IsWanted(const Partition& partition, size_t slot, const Query& query) const;
  // Whether the partition's graph lacks many entries, or the whole graph is missing.
  bool NeedsGraph(const Partition& partition) const;
  // The length of the longest vector.
  float LongestOf(const Partition& partition) const;
  // How many of the first `slots` slots are wanted, as a fraction; estimated.
  double WantedFraction(const Partition& partition, size_t slots, const Query& query) const;
  // Adds what the graph finds. False: exact comparing is the better way.
  bool SearchGraph(const Partition& partition, const Query& query, TopHits* hits) const;

  const v1::VectorDistanceFunction distance_;
  const size_t dimensions_;
  const size_t filters_;
  const size_t min_graph_;
  KeyMap<std::shared_ptr<Partition>> partitions_;
  // Those that have or had min_graph_ entries.
  std::set<std::shared_ptr<Partition>> large_;
  // By base key. Its keys stay where they are, and slots point to them.
  KeyMap<Place> places_;
  size_t live_ = 0;
  uint64_t graphs_made_ = 0;
  // How many entries ended at which version, the oldest first.
  std::deque<std::pair<uint64_t, size_t>> ended_;
  // Of partitions: their vectors, slots and filters.
  size_t entry_bytes_ = 0;
  // Of keys of items and partitions, and what is kept with them.
  size_t key_bytes_ = 0;
};

}  // namespace itemdb::storage
