// Numbers that a damaged store may have given out: storage ids and change sequences. Neither is ever given
// out twice, also after a recovery with losses.
#pragma once

#include <cstdint>
#include <vector>

#include "rocksdb/metadata.h"
#include "storage/engine/catalog_copy.h"
#include "storage/store/store.h"

namespace itemdb::storage {

// The files that a manifest names, also those that are lost.
using LiveFiles = std::vector<rocksdb::LiveFileMetaData>;

// The highest storage id of the tables, indexes and deleted tables in `catalog`; 0 for none.
uint64_t HighestStorageId(const CatalogRecords& catalog);
// The highest storage id in the keys of items and index entries, from the key ranges of `files`.
uint64_t HighestStorageId(const LiveFiles& files);

// An upper bound of the last change in the table runs; 0 for none. A damaged record counts as if it reached
// to the end of its epoch. The family must be readable.
uint64_t LastOfTableRuns(const Store& store);
// An upper bound of the last change in the change log and the table runs, from the key ranges of `files`.
uint64_t LastByFileRanges(const LiveFiles& files);

}  // namespace itemdb::storage
