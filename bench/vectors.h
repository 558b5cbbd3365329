// `itembench vectors`: searching a vector index, exactly and by its graph.
#pragma once

#include <cstdint>
#include <string>

#include "bench/session.h"

namespace itemdb::bench {

struct VectorOptions {
  int64_t vectors = 100'000;
  int dimensions = 128;
  // The centres around which vectors and queries are drawn; 0: all are uniform.
  int clusters = 1'000;
  int queries = 500;
  // Whether graphs are made, or vectors are only compared one by one.
  bool graphs = true;
  // Whether hnswlib alone, with graphs, and faiss, where this was built with it, are measured beside it.
  bool beside = true;
  // Where the database is, and stays: a second run with the same options searches what the first one has
  // made, by its graph if that was kept. Empty: a new directory, which is removed.
  std::string directory;
};

// Vectors are drawn by a seed, from Gaussian clusters, queries apart from them. Measures how long loading,
// the first search and the graph take, searches with and without the graph, and recall: how many of the ten
// nearest the graph finds, and the first search after a restart. Beside it hnswlib and
// faiss alone, with the same settings and vectors. Storage in this process.
absl::Status RunVectors(Session& session, const VectorOptions& options);

}  // namespace itemdb::bench
