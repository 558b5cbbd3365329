// An approximate index of vectors: a graph of near neighbours in layers (HNSW, by hnswlib).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "itemdb/v1/tables.pb.h"

namespace itemdb::storage {

// Holds pointers to vectors, not the vectors. Not thread-safe; searches may run side by side.
class VectorGraph {
 public:
  // `capacity`: how many vectors are expected; more make it grow.
  VectorGraph(v1::VectorDistanceFunction distance, size_t dimensions, size_t capacity);
  ~VectorGraph();
  VectorGraph(const VectorGraph&) = delete;
  VectorGraph& operator=(const VectorGraph&) = delete;

  // The vector gets the number size(). It must stay where it is as long as the graph. `inverse_length` is its
  // InverseLength. False: there is no memory; the graph is as before, or must not be used any more.
  [[nodiscard]] bool Add(const float* vector, float inverse_length);
  size_t size() const { return size_; }

  // The ranks (VectorScorer::Rank) and numbers of about the `wanted` nearest vectors, in any order. Looks at
  // more vectors, and misses fewer, the larger `wanted` is.
  std::vector<std::pair<float, uint32_t>> Search(const float* query, size_t wanted) const;

  // Memory, about.
  size_t bytes() const;
  // The same for each vector.
  static constexpr size_t kBytesPerVector = 280;

 private:
  class Space;
  class Graph;

  const std::unique_ptr<Space> space_;
  std::unique_ptr<Graph> graph_;
  size_t size_ = 0;
};

}  // namespace itemdb::storage
