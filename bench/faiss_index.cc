#include "bench/faiss_index.h"

#ifdef ITEMDB_WITH_FAISS

#include <faiss/IndexFlat.h>
#include <faiss/IndexHNSW.h>
#include <omp.h>

#include <utility>

namespace itemdb::bench {
namespace {

class Index : public FaissIndex {
 public:
  explicit Index(std::unique_ptr<faiss::Index> index) : index_(std::move(index)) { omp_set_num_threads(1); }

  void Add(const std::vector<std::vector<float>>& vectors) override {
    std::vector<float> all;
    all.reserve(vectors.size() * static_cast<size_t>(index_->d));
    for (const std::vector<float>& vector : vectors) all.insert(all.end(), vector.begin(), vector.end());
    index_->add(static_cast<int64_t>(vectors.size()), all.data());
  }

  std::vector<int64_t> Nearest(const std::vector<float>& query, int count) const override {
    std::vector<float> distances(static_cast<size_t>(count));
    std::vector<int64_t> numbers(static_cast<size_t>(count));
    index_->search(1, query.data(), count, distances.data(), numbers.data());
    return {numbers.begin(), numbers.end()};
  }

 private:
  const std::unique_ptr<faiss::Index> index_;
};

}  // namespace

std::unique_ptr<FaissIndex> MakeFaissFlat(int dimensions) {
  return std::make_unique<Index>(std::make_unique<faiss::IndexFlatL2>(dimensions));
}

std::unique_ptr<FaissIndex> MakeFaissGraph(int dimensions, int neighbours, int candidates,
                                           int search_candidates) {
  auto index = std::make_unique<faiss::IndexHNSWFlat>(dimensions, neighbours);
  index->hnsw.efConstruction = candidates;
  index->hnsw.efSearch = search_candidates;
  return std::make_unique<Index>(std::move(index));
}

}  // namespace itemdb::bench

#else

namespace itemdb::bench {

std::unique_ptr<FaissIndex> MakeFaissFlat(int /*dimensions*/) { return nullptr; }

std::unique_ptr<FaissIndex> MakeFaissGraph(int /*dimensions*/, int /*neighbours*/, int /*candidates*/,
                                           int /*search_candidates*/) {
  return nullptr;
}

}  // namespace itemdb::bench

#endif
