// A copy of a vector index (vector_copy.h) that several threads use: who may do what with it when.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "storage/base/mutex.h"
#include "storage/catalog/table.h"
#include "storage/store/store.h"
#include "storage/vectors/vector_copy.h"

namespace itemdb::storage {

// Whether a copy may take the memory that it needs.
enum class VectorFit {
  kFits,
  // It is larger than the memory for copies.
  kTooLarge,
  // Searches go on in the copies that had to make room, or the copy itself had to make room.
  kNoRoom,
};

// Called now and then by what takes long; an error ends it.
using VectorCheck = absl::FunctionRef<absl::Status()>;

// One thread at a time changes a copy: VectorCopies says which.
struct SharedCopy {
  SharedCopy(const Table& table, const Index& index, const std::shared_ptr<Store>& in, size_t min_graph)
      : vectors(index.vector->distance, index.vector->dimensions, index.vector->filters.size(), min_graph),
        storage_id(index.storage_id),
        distance(index.vector->distance),
        dimensions(index.vector->dimensions),
        owner_name("index " + index.name + " of table " + table.name),
        store(in) {}
  SharedCopy(const SharedCopy&) = delete;
  SharedCopy& operator=(const SharedCopy&) = delete;

  VectorCopy vectors;
  // Searches hold it shared, a change of `vectors` exclusively.
  std::shared_mutex searching;

  const uint64_t storage_id;
  const v1::VectorDistanceFunction distance;
  const size_t dimensions;
  // For messages.
  const std::string owner_name;
  const std::weak_ptr<Store> store;

  // Touched by the thread that changes the copy. The state that it has is `sequence`; entries of changes up
  // to `applied` may be in it too, if a refreshing was not finished.
  std::atomic<uint64_t> sequence = 0;
  uint64_t applied = 0;

  Mutex readers_mutex;
  // The versions that are being searched.
  std::multiset<uint64_t> readers ABSL_GUARDED_BY(readers_mutex);

  // It had to make room, or its index is gone.
  std::atomic<bool> is_dropped = false;
  std::atomic<size_t> entries = 0;
  std::atomic<size_t> graph_entries = 0;

  // What the file of graphs has (graph_maker.h): VectorCopy::graphs_made and graph_size. Touched by the
  // thread that makes copies, then by the one that makes graphs.
  uint64_t kept_graphs_made = 0;
  size_t kept_graph_entries = 0;
};

}  // namespace itemdb::storage
