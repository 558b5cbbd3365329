// Writes the items of a source as a table, with its index entries and size statistics, without the commit
// pipeline: into sorted table files, which are ingested.
//
// Nobody sees the table before its definition is in the catalog. The caller puts it there in one commit, with
// the size statistics that LoadTable returns, or drops the storage ids.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "storage/engine/engine.h"
#include "storage/loading/item_source.h"

namespace itemdb::storage {

struct LoadedTable {
  // Of the table and its indexes, by storage id.
  std::map<uint64_t, SizeStatistics> size_statistics;
  // By storage id of a global index: items that cannot be in the index, because a key attribute has the wrong
  // type, is empty or too long (SEM-097).
  std::map<uint64_t, int64_t> skipped_items;
  // Of the store that has the table. While it is held the store cannot be reopened, which might lose the
  // files. So the commit that shows the table must find this store open.
  std::shared_ptr<const ReadView> view;
};

// Makes the records of `definition`, whose storage ids must be new, committed and without records. Blocks.
// Writes temporary files into `directory`, which must exist; the caller deletes them. `*items_done` counts
// the items.
//
// CANCELLED. RESOURCE_EXHAUSTED (DISK_FULL): the free space is below the floor. UNAVAILABLE: the store must
// be reopened. The error of the source. Then the storage ids may have any records and must be dropped.
absl::StatusOr<LoadedTable> LoadTable(Engine& engine, const v1::TableDescription& definition,
                                      ItemSource& source, const std::string& directory,
                                      const CancellationPtr& cancellation, std::atomic<int64_t>* items_done);

}  // namespace itemdb::storage
