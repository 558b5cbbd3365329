// Whose data a damaged table file has.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "storage/catalog/catalog.h"
#include "storage/store/damage_register.h"

namespace itemdb::storage {

// A table, or one of its indexes. Both are null when nothing in the catalog has the storage id.
struct KeyspaceOwner {
  std::shared_ptr<const Table> table;
  // Belongs to `table`; null for the table itself.
  const Index* index = nullptr;
};
KeyspaceOwner FindKeyspaceOwner(const Catalog& catalog, uint64_t storage_id);

// Whether a column family has the records of tables and indexes.
bool BelongsToTables(const std::string& family);

// For people: "table Orders", "index ByDate of table Orders", "several tables", or "" for a family that does
// not belong to tables.
std::string OwnersOf(const Catalog& catalog, const DamagedFile& file);

}  // namespace itemdb::storage
