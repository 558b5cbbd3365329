#include "storage/vectors/vector_graph.h"

// Distances are our own. Without this the header would define functions, such as cpuid, that are neither
// inline nor in a namespace.
#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <queue>
#include <span>

#include "absl/cleanup/cleanup.h"
#include "storage/vectors/distance.h"

namespace itemdb::storage {
namespace {

// Neighbours of a vector, and how many candidates are looked at to find them. More make searches find more
// and take more memory and time to build.
constexpr size_t kNeighbours = 16;
constexpr size_t kCandidates = 200;
constexpr size_t kMinCapacity = 1'024;
// Vectors whose reading begins before they are compared, and how much of each.
constexpr size_t kFetchedAhead = 3;
constexpr size_t kFetchedBytes = 512;
constexpr size_t kCacheLine = 64;
// The layers are chosen at random, the same in each process.
constexpr size_t kLayerSeed = 100;
// Layers above the lowest. hnswlib chooses fewer for any number of vectors that fits into memory.
constexpr uint32_t kMaxLayers = 64;

// What SaveLinks hands over: this, then for each vector the number of its layers above the lowest (1 byte),
// and for each of its layers, the lowest first, the number of neighbours (2 bytes) and their numbers (4 bytes
// each). Integers are those of the machine: the file stays where it was made.
struct LinksHeader {
  float longest;
  uint32_t entry_point;
  uint32_t layers;
  uint32_t neighbours;
  uint32_t candidates;
};

// What the graph holds of a vector.
struct Node {
  const float* vector;
  float inverse_length;
  // The further dimension.
  float further;
};

struct Comparison {
  v1::VectorDistanceFunction distance;
  size_t dimensions;
};

// hnswlib stores its nodes in memory of any alignment.
Node NodeAt(const void* stored) {
  Node node;
  std::memcpy(&node, stored, sizeof node);
  return node;
}

float RankOfNodes(const void* a, const void* b, const void* comparison) {
  const Node one = NodeAt(a);
  const Node other = NodeAt(b);
  const auto* const how = static_cast<const Comparison*>(comparison);
  return RankOf(how->distance, one.vector, one.inverse_length, other.vector, other.inverse_length,
                how->dimensions) -
         one.further * other.further;
}

}  // namespace

class VectorGraph::Space : public hnswlib::SpaceInterface<float> {
 public:
  explicit Space(Comparison comparison) : comparison_(comparison) {}
  size_t get_data_size() override { return sizeof(Node); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return RankOfNodes; }
  void* get_dist_func_param() override { return &comparison_; }
  const Comparison& comparison() const { return comparison_; }

 private:
  Comparison comparison_;
};

class VectorGraph::Graph : public hnswlib::HierarchicalNSW<float> {
 public:
  using HierarchicalNSW::HierarchicalNSW;

  // As addPoint, for the next number, without its locks and its table of labels.
  void Insert(const Node& node) {
    const auto number = static_cast<hnswlib::tableint>(cur_element_count);
    const int layers = getRandomLevel(mult_);
    if (!MakeNode(number, layers)) throw std::bad_alloc();
    std::memcpy(getDataByInternalId(number), &node, sizeof(node));
    if (number > 0) {
      hnswlib::tableint at = Descend(node, layers);
      for (int layer = std::min(layers, maxlevel_); layer >= 0; --layer) {
        Candidates near = SearchLayer(node, at, layer, ef_construction_);
        at = mutuallyConnectNewElement(&node, number, near, layer, /*isUpdate=*/false);
      }
    }
    if (layers > maxlevel_) {
      enterpoint_node_ = number;
      maxlevel_ = layers;
    }
  }

  // As searchKnn, whose number of candidates is the same for all searches. Nearest first.
  std::vector<std::pair<float, uint32_t>> Nearest(const Node& query, size_t candidates) const {
    if (cur_element_count == 0) return {};
    Candidates found = SearchLayer(query, Descend(query, /*layer=*/0), /*layer=*/0, candidates);
    std::vector<std::pair<float, uint32_t>> nearest(found.size());
    for (size_t i = nearest.size(); i > 0; found.pop()) nearest[--i] = found.top();
    return nearest;
  }

  // The neighbours of a node in a layer.
  std::span<const hnswlib::tableint> Links(size_t node, int layer) const {
    hnswlib::linklistsizeint* const links =
        get_linklist_at_level(static_cast<hnswlib::tableint>(node), layer);
    return {links + 1, getListCount(links)};
  }

  bool SaveLinks(float longest, AppendBytes append) const {
    const LinksHeader header{.longest = longest,
                             .entry_point = enterpoint_node_,
                             .layers = static_cast<uint32_t>(maxlevel_),
                             .neighbours = kNeighbours,
                             .candidates = kCandidates};
    if (!append(&header, sizeof(header))) return false;
    for (size_t node = 0; node < cur_element_count; ++node) {
      const int layers = element_levels_[node];
      const auto stored_layers = static_cast<uint8_t>(layers);
      if (!append(&stored_layers, sizeof(stored_layers))) return false;
      for (int layer = 0; layer <= layers; ++layer) {
        const std::span<const hnswlib::tableint> links = Links(node, layer);
        const auto count = static_cast<uint16_t>(links.size());
        if (!append(&count, sizeof(count)) || !append(links.data(), links.size_bytes())) return false;
      }
    }
    return true;
  }

  // The graph is empty, with room for `size` nodes. False: the bytes are not those of a graph.
  bool TakeLinks(const LinksHeader& header, size_t size, ReadBytes read) {
    for (size_t node = 0; node < size; ++node) {
      uint8_t layers = 0;
      if (!read(&layers, sizeof(layers)) || layers > header.layers) return false;
      if (!MakeNode(static_cast<hnswlib::tableint>(node), layers)) return false;
      for (int layer = 0; layer <= layers; ++layer) {
        uint16_t count = 0;
        if (!read(&count, sizeof(count)) || count > (layer == 0 ? maxM0_ : maxM_)) return false;
        hnswlib::linklistsizeint* const links =
            get_linklist_at_level(static_cast<hnswlib::tableint>(node), layer);
        setListCount(links, count);
        if (!read(links + 1, count * sizeof(hnswlib::tableint))) return false;
      }
    }
    maxlevel_ = static_cast<int>(header.layers);
    enterpoint_node_ = header.entry_point;
    return LinksAreWhole();
  }

 private:
  using Candidate = std::pair<float, hnswlib::tableint>;
  // The farthest first.
  using Candidates = std::priority_queue<Candidate, std::vector<Candidate>, CompareByFirst>;

  float Rank(const Node& query, hnswlib::tableint node) const {
    return RankOfNodes(&query, getDataByInternalId(node), dist_func_param_);
  }

  // The node that a search from the top comes to above `layer`.
  hnswlib::tableint Descend(const Node& query, int layer) const {
    hnswlib::tableint at = enterpoint_node_;
    float best = Rank(query, at);
    for (int above = maxlevel_; above > layer; --above) {
      for (bool moved = true; moved;) {
        moved = false;
        for (const hnswlib::tableint neighbour : Links(at, above)) {
          const float candidate = Rank(query, neighbour);
          if (candidate >= best) continue;
          best = candidate;
          at = neighbour;
          moved = true;
        }
      }
    }
    return at;
  }

  // The `most` nearest nodes of the layer that a search from `begin` comes to. As searchBaseLayer, but
  // vectors are on their way from memory before they are compared: most of the time of a search is waiting
  // for them.
  Candidates SearchLayer(const Node& query, hnswlib::tableint begin, int layer, size_t most) const {
    hnswlib::VisitedList* const list = visited_list_pool_->getFreeVisitedList();
    const absl::Cleanup release = [&] { visited_list_pool_->releaseVisitedList(list); };
    hnswlib::vl_type* const visited = list->mass;
    const hnswlib::vl_type seen = list->curV;
    const float first = Rank(query, begin);
    Candidates nearest;
    nearest.emplace(first, begin);
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> to_visit;
    to_visit.emplace(first, begin);
    visited[begin] = seen;
    hnswlib::tableint fresh[2 * kNeighbours];
    while (!to_visit.empty()) {
      const auto [rank, node] = to_visit.top();
      if (nearest.size() == most && rank > nearest.top().first) break;
      to_visit.pop();
      size_t count = 0;
      for (const hnswlib::tableint neighbour : Links(node, layer)) {
        fresh[count] = neighbour;
        count += visited[neighbour] == seen ? 0 : 1;
        visited[neighbour] = seen;
      }
      for (size_t i = 0; i < count; ++i) __builtin_prefetch(getDataByInternalId(fresh[i]));
      for (size_t i = 0; i < std::min(count, kFetchedAhead); ++i) FetchVector(fresh[i]);
      for (size_t i = 0; i < count; ++i) {
        if (i + kFetchedAhead < count) FetchVector(fresh[i + kFetchedAhead]);
        const float candidate = Rank(query, fresh[i]);
        if (nearest.size() == most && candidate >= nearest.top().first) continue;
        to_visit.emplace(candidate, fresh[i]);
        nearest.emplace(candidate, fresh[i]);
        if (nearest.size() > most) nearest.pop();
      }
      if (!to_visit.empty()) __builtin_prefetch(get_linklist_at_level(to_visit.top().second, layer));
    }
    return nearest;
  }

  // Lets the processor read the beginning of a vector; it goes on by itself.
  void FetchVector(hnswlib::tableint node) const {
    const auto* const vector = reinterpret_cast<const char*>(NodeAt(getDataByInternalId(node)).vector);
    const size_t bytes = static_cast<const Comparison*>(dist_func_param_)->dimensions * sizeof(float);
    for (size_t at = 0; at < std::min(bytes, kFetchedBytes); at += kCacheLine)
      __builtin_prefetch(vector + at);
  }

  // A node without links, with the number cur_element_count. False: there is no memory.
  bool MakeNode(hnswlib::tableint number, int layers) {
    std::memset(data_level0_memory_ + number * size_data_per_element_, 0, size_data_per_element_);
    if (layers > 0) {
      // As addPoint does it.
      linkLists_[number] =
          static_cast<char*>(std::calloc(size_links_per_element_ * static_cast<size_t>(layers) + 1, 1));
      if (linkLists_[number] == nullptr) return false;
    }
    element_levels_[number] = layers;
    // From here on the destructor frees its links.
    cur_element_count = number + 1;
    return true;
  }

  // Every link leads to a node that has the layer.
  bool LinksAreWhole() const {
    if (enterpoint_node_ >= cur_element_count || element_levels_[enterpoint_node_] != maxlevel_) return false;
    for (size_t node = 0; node < cur_element_count; ++node) {
      for (int layer = 0; layer <= element_levels_[node]; ++layer) {
        for (const hnswlib::tableint neighbour : Links(node, layer)) {
          if (neighbour >= cur_element_count || element_levels_[neighbour] < layer) return false;
        }
      }
    }
    return true;
  }
};

VectorGraph::VectorGraph(v1::VectorDistanceFunction distance, size_t dimensions, size_t capacity,
                         float longest)
    : space_(std::make_unique<Space>(Comparison{distance, dimensions})), longest_(longest) {
  try {
    graph_ = std::make_unique<Graph>(space_.get(), std::max(capacity, kMinCapacity), kNeighbours, kCandidates,
                                     kLayerSeed);
  } catch (const std::exception&) {
    graph_ = nullptr;  // Without memory Add returns false.
  }
}

VectorGraph::~VectorGraph() = default;

float VectorGraph::FurtherDimension(float inverse_length) const {
  if (space_->comparison().distance != v1::VECTOR_DISTANCE_FUNCTION_DOT_PRODUCT) return 0;
  const float length = inverse_length == 0 ? 0 : 1 / inverse_length;
  const float further = std::sqrt((longest_ - length) * (longest_ + length));
  // Longer than `longest_`, or where floats are too coarse.
  return std::isfinite(further) ? further : 0;
}

bool VectorGraph::Add(const float* vector, float inverse_length) {
  if (graph_ == nullptr) return false;
  const Node node{vector, inverse_length, FurtherDimension(inverse_length)};
  try {
    if (size_ == graph_->max_elements_) graph_->resizeIndex(size_ + size_ / 4);
    graph_->Insert(node);
  } catch (const std::exception&) {
    return false;
  }
  ++size_;
  return true;
}

std::vector<std::pair<float, uint32_t>> VectorGraph::Search(const float* query, size_t wanted) const {
  if (graph_ == nullptr) return {};
  return graph_->Nearest({query, InverseLength(query, space_->comparison().dimensions), /*further=*/0},
                         wanted);
}

bool VectorGraph::SaveLinks(AppendBytes append) const {
  return graph_ != nullptr && size_ > 0 && graph_->SaveLinks(longest_, append);
}

std::unique_ptr<VectorGraph> VectorGraph::WithLinks(v1::VectorDistanceFunction distance, size_t dimensions,
                                                    size_t capacity, size_t size, ReadBytes read) {
  LinksHeader header;
  const bool is_ours = read(&header, sizeof(header)) && header.neighbours == kNeighbours &&
                       header.candidates == kCandidates && header.layers <= kMaxLayers &&
                       std::isfinite(header.longest) && size > 0;
  if (!is_ours) return nullptr;
  auto graph = std::make_unique<VectorGraph>(distance, dimensions, std::max(capacity, size), header.longest);
  if (graph->graph_ == nullptr || !graph->graph_->TakeLinks(header, size, read)) return nullptr;
  graph->size_ = size;
  return graph;
}

std::vector<uint32_t> VectorGraph::NeighboursOf(size_t number) const {
  const auto links = graph_->Links(number, /*layer=*/0);
  return {links.begin(), links.end()};
}

void VectorGraph::SetVector(size_t number, const float* vector, float inverse_length) {
  const Node node{vector, inverse_length, FurtherDimension(inverse_length)};
  std::memcpy(graph_->getDataByInternalId(static_cast<hnswlib::tableint>(number)), &node, sizeof(node));
}

size_t VectorGraph::bytes() const { return graph_ == nullptr ? 0 : graph_->max_elements_ * kBytesPerVector; }

}  // namespace itemdb::storage
