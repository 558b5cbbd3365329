// Creating and deleting global indexes of a live table: the parts that change its definition. That of a time
// to live comes and goes by time_to_live_changes.h and is filled like them.
//
// An index that is created is CREATING in the catalog until it is filled (storage/indexes/index_builds.h).
// Deleting one, whatever its state, is one commit.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "storage/engine/engine.h"

namespace itemdb {

// Behind Database's method of the same name.
void UpdateTable(Engine& engine, v1::UpdateTableRequest request, Done<v1::UpdateTableReply> done);

// ---- for whoever fills an index; never on the definitions thread, which they wait for ----

// An index that is CREATING.
struct BuildingIndex {
  std::string table_name;
  uint64_t table_storage_id = 0;
  std::string index_name;
  // Another one for each attempt to build it.
  uint64_t storage_id = 0;
};

struct FoundIndex {
  std::shared_ptr<const Table> table;
  // Of `table`.
  const Index* index = nullptr;
};
// NOT_FOUND: the index, or its table, was deleted, or it is no longer CREATING.
absl::StatusOr<FoundIndex> FindBuildingIndex(const Catalog& catalog, const BuildingIndex& building);

// All of them.
std::vector<BuildingIndex> BuildingIndexes(const Catalog& catalog);

// Gives it a new storage id, under which there are no entries; it is kFilling then. NOT_FOUND.
absl::StatusOr<BuildingIndex> GiveNewStorageId(Engine& engine, const BuildingIndex& building);
// From here on writes maintain its entries: every view from now on is of such a state. NOT_FOUND.
absl::Status MaintainIndex(Engine& engine, const BuildingIndex& building);
// Makes it ACTIVE, with `uncounted` added to what writes have counted of it. The caller holds a view of
// `store`, into which its entries were put. NOT_FOUND. ABORTED: the database has opened another store since
// then, which may not have them (invariant FilledInOneOpening).
absl::Status ActivateIndex(Engine& engine, const BuildingIndex& building, const Store& store,
                           const Counters& uncounted, int64_t skipped_items);

}  // namespace itemdb
