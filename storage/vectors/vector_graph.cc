#include "storage/vectors/vector_graph.h"

// Distances are our own. Without this the header would define functions, such as cpuid, that are neither
// inline nor in a namespace.
#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>

#include "storage/vectors/distance.h"

namespace itemdb::storage {
namespace {

// Neighbours of a vector, and how many candidates are looked at to find them. More make searches find more
// and take more memory and time to build.
constexpr size_t kNeighbours = 16;
constexpr size_t kCandidates = 200;
constexpr size_t kMinCapacity = 1'024;
// The layers are chosen at random, the same in each process.
constexpr size_t kLayerSeed = 100;

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

  // As searchKnn, whose number of candidates is the same for all searches.
  std::vector<std::pair<float, uint32_t>> Nearest(const Node& query, size_t candidates) const {
    std::vector<std::pair<float, uint32_t>> nearest;
    if (cur_element_count == 0) return nearest;
    const auto rank = [&](hnswlib::tableint node) {
      return RankOfNodes(&query, getDataByInternalId(node), dist_func_param_);
    };
    hnswlib::tableint at = enterpoint_node_;
    float best = rank(at);
    for (int layer = maxlevel_; layer > 0; --layer) {
      for (bool moved = true; moved;) {
        moved = false;
        const unsigned int* const links = get_linklist(at, layer);
        const auto* const neighbours = reinterpret_cast<const hnswlib::tableint*>(links + 1);
        const size_t count = getListCount(const_cast<hnswlib::linklistsizeint*>(links));
        for (size_t i = 0; i < count; ++i) {
          const float candidate = rank(neighbours[i]);
          if (candidate >= best) continue;
          best = candidate;
          at = neighbours[i];
          moved = true;
        }
      }
    }
    auto found = searchBaseLayerST<false>(at, &query, candidates);
    nearest.reserve(found.size());
    for (; !found.empty(); found.pop()) {
      nearest.emplace_back(found.top().first, static_cast<uint32_t>(getExternalLabel(found.top().second)));
    }
    return nearest;
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
    graph_->addPoint(&node, size_);
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

size_t VectorGraph::bytes() const { return graph_ == nullptr ? 0 : graph_->max_elements_ * kBytesPerVector; }

}  // namespace itemdb::storage
