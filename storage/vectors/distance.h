// How near two vectors are: the three distance functions, over contiguous floats, several at a time.
//
// Sums are made in floats. Where floats overflow, or are too small for their squares, the score is computed
// again in doubles. So every score is finite, and the same vectors have the same score wherever they are.
#pragma once

#include <cstddef>

#include "itemdb/v1/tables.pb.h"

namespace itemdb::storage {

// 1 divided by the length of a vector, as VectorScorer needs it: 0 for the zero vector. NaN where floats are
// too coarse; then scores are computed in doubles.
float InverseLength(const float* vector, size_t dimensions);

// How near two vectors are, the lower the nearer, with every distance function: the score by VEC-15, with
// DOT_PRODUCT its negative. The inverse lengths are used with COSINE only, where a zero vector has the rank 1
// (VEC-23).
float RankOf(v1::VectorDistanceFunction distance, const float* a, float a_inverse_length, const float* b,
             float b_inverse_length, size_t dimensions);

// Scores vectors against one query. Thread-safe. Borrows the query.
class VectorScorer {
 public:
  VectorScorer(v1::VectorDistanceFunction distance, const float* query, size_t dimensions);

  // As RankOf.
  float Rank(const float* vector, float inverse_length) const {
    return RankOf(distance_, vector, inverse_length, query_, inverse_length_, dimensions_);
  }
  // By VEC-15.
  float ScoreOfRank(float rank) const {
    return distance_ == v1::VECTOR_DISTANCE_FUNCTION_DOT_PRODUCT ? -rank : rank;
  }
  bool needs_length() const { return distance_ == v1::VECTOR_DISTANCE_FUNCTION_COSINE; }
  size_t dimensions() const { return dimensions_; }
  const float* query() const { return query_; }

 private:
  const v1::VectorDistanceFunction distance_;
  const float* const query_;
  const size_t dimensions_;
  const float inverse_length_;
};

}  // namespace itemdb::storage
