// Reading the entries of a vector index from the store.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/options.h"
#include "storage/vectors/search_request.h"
#include "storage/vectors/shared_copy.h"
#include "storage/vectors/top_hits.h"

namespace itemdb::storage {

// For an iterator that reads a whole index in the state of `view`.
rocksdb::ReadOptions WholeIndex(const ReadView& view);

// The entry at `key` as it is in a copy. `*base_key` borrows from `key`. nullopt: it is malformed.
std::optional<VectorEntry> ReadVectorEntry(const Table& table, const Index& index, std::string_view key,
                                           ItemView entry, std::string_view* base_key);

// Compares all entries in the store with the query, but those whose key is `excluded`.
//
// DATA_LOSS: an entry cannot be read. Errors of `check`.
absl::Status SearchEntries(const PreparedSearch& search, const VectorScorer& scorer,
                           const std::vector<std::string>& excluded, VectorCheck check, TopHits* hits);

}  // namespace itemdb::storage
