// Indexes of faiss, which `itembench vectors` measures beside those of itemdb, in one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace itemdb::bench {

class FaissIndex {
 public:
  virtual ~FaissIndex() = default;
  // Once: faiss is slow with one vector at a time.
  virtual void Add(const std::vector<std::vector<float>>& vectors) = 0;
  // The numbers of the `count` nearest vectors, counted from 0 as they were added.
  virtual std::vector<int64_t> Nearest(const std::vector<float>& query, int count) const = 0;
};

// Null: this program was built without faiss.

// Compares all vectors (IndexFlatL2).
std::unique_ptr<FaissIndex> MakeFaissFlat(int dimensions);
// A graph (IndexHNSWFlat): of so many neighbours, with so many candidates when it is built, and searched.
std::unique_ptr<FaissIndex> MakeFaissGraph(int dimensions, int neighbours, int candidates,
                                           int search_candidates);

}  // namespace itemdb::bench
