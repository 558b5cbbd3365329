// An approximate index of vectors: a graph of near neighbours in layers (HNSW, by hnswlib).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "itemdb/v1/tables.pb.h"

namespace itemdb::storage {

// Holds pointers to vectors, not the vectors. Not thread-safe; searches may run side by side.
//
// By products, long vectors would be near to all others, and a graph of such neighbours finds little. So each
// vector x has one more dimension in the graph, sqrt(M^2 - |x|^2), and a query has 0 there: all vectors are
// of length M then, so the order by products is that by distances, also between vectors (Bachrach and others,
// Speeding Up the Xbox Recommender System Using a Euclidean Transformation for Inner-Product Spaces, 2014).
class VectorGraph {
 public:
  // `capacity`: how many vectors are expected; more make it grow. `longest`: M, the length of the longest
  // vector. Longer ones may be added; they are found less often if they are many.
  VectorGraph(v1::VectorDistanceFunction distance, size_t dimensions, size_t capacity, float longest);
  ~VectorGraph();
  VectorGraph(const VectorGraph&) = delete;
  VectorGraph& operator=(const VectorGraph&) = delete;

  // The vector gets the number size(). It must stay where it is as long as the graph. `inverse_length` is its
  // InverseLength. False: there is no memory; the graph is as before, or must not be used any more.
  [[nodiscard]] bool Add(const float* vector, float inverse_length);
  size_t size() const { return size_; }

  // The ranks (VectorScorer::Rank) and numbers of about the `wanted` nearest vectors, nearest first. Looks at
  // more vectors, and misses fewer, the larger `wanted` is.
  std::vector<std::pair<float, uint32_t>> Search(const float* query, size_t wanted) const;

  // ---- the links of a graph, which a file keeps; the vectors are elsewhere ----

  // Hands the bytes over piece by piece. Ends early when `append` returns false, and returns that.
  using AppendBytes = absl::FunctionRef<bool(const void* bytes, size_t size)>;
  bool SaveLinks(AppendBytes append) const;
  // A graph of `size` vectors with the links that SaveLinks has handed over. Null: these are others, or there
  // is no memory. `read` fills in the next bytes; false: there are none. SetVector must be called for each
  // number before the graph is searched or gets vectors.
  using ReadBytes = absl::FunctionRef<bool(void* bytes, size_t size)>;
  static std::unique_ptr<VectorGraph> WithLinks(v1::VectorDistanceFunction distance, size_t dimensions,
                                                size_t capacity, size_t size, ReadBytes read);
  // The numbers of vectors that are near to this one.
  std::vector<uint32_t> NeighboursOf(size_t number) const;
  void SetVector(size_t number, const float* vector, float inverse_length);

  // Memory, about.
  size_t bytes() const;
  // The same for each vector.
  static constexpr size_t kBytesPerVector = 280;

 private:
  class Space;
  class Graph;

  // The further dimension; 0 but for products.
  float FurtherDimension(float inverse_length) const;

  const std::unique_ptr<Space> space_;
  const float longest_;
  std::unique_ptr<Graph> graph_;
  size_t size_ = 0;
};

}  // namespace itemdb::storage
