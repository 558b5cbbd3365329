// Creating and deleting global indexes of a live table: the changes of its definition. The TTL index is
// created and deleted by time_to_live_changes.h and backfilled like global indexes.
//
// A new index is CREATING in the catalog until its backfill is done (storage/indexes/index_builds.h).
// Deleting an index, in any state, is one commit.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implements Database's method of the same name.
void UpdateTable(Engine& engine, v1::UpdateTableRequest request, Done<v1::UpdateTableReply> done);

// ---- for the backfill; not on the DDL thread, for which the last three functions wait ----

// An index that is CREATING.
struct BuildingIndex {
  std::string table_name;
  uint64_t table_storage_id = 0;
  std::string index_name;
  // Changes with each attempt that starts from the beginning.
  uint64_t storage_id = 0;
};

struct FoundIndex {
  std::shared_ptr<const Table> table;
  // Points into `table`.
  const Index* index = nullptr;
};
// NOT_FOUND: the index, or its table, was deleted, or it is no longer CREATING.
absl::StatusOr<FoundIndex> FindBuildingIndex(const Catalog& catalog, const BuildingIndex& building);

std::vector<BuildingIndex> BuildingIndexes(const Catalog& catalog);

// Gives the index a new storage id, which has no entries, and makes it kBackfilling. Drops the entries of the
// old id. NOT_FOUND: as FindBuildingIndex; so too below.
absl::StatusOr<BuildingIndex> AssignNewStorageId(Engine& engine, const BuildingIndex& building);
// Makes the index kCatchingUp: all writes after this commit maintain its entries. Only in memory: on disk the
// index stays CREATING, and after a restart it is kBackfilling again. NOT_FOUND.
absl::Status EnableIndexWrites(Engine& engine, const BuildingIndex& building);
// Makes the index ACTIVE and adds `backfilled`, the statistics of the entries that the backfill made, to its
// size statistics, which so far count only what writes did. The caller holds a view of `store`, into which
// the backfill put the entries. NOT_FOUND. ABORTED: the database has opened another store since then, which
// may lack these entries (invariant BackfilledInOneOpening).
absl::Status ActivateIndex(Engine& engine, const BuildingIndex& building, const Store& store,
                           const SizeStatistics& backfilled, int64_t skipped_items);

}  // namespace itemdb::storage
