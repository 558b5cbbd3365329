// The catalog's records of tables that are being made of stored items (itemdb.v1.RestoringTable), and of
// deleted tables whose items are kept for a backup (itemdb.v1.DeletedTable).
//
// Neither is in the Catalog, so no operation on items, no check and no index build can see a part of a table:
// a restored table enters the Catalog in the commit that makes it ACTIVE.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/backups.pb.h"
#include "storage/catalog/table.h"
#include "storage/commit/commit_group.h"
#include "storage/store/catalog_records.h"
#include "storage/store/read_view.h"

namespace itemdb::storage {

// nullopt: no table of this name is being restored. DATA_LOSS: the record does not decode; or the error of
// the store. All functions that read have these errors.
absl::StatusOr<std::optional<v1::RestoringTable>> FindRestoringTable(const ReadView& view,
                                                                     std::string_view table_name);
// In the order of their names.
absl::StatusOr<std::vector<v1::RestoringTable>> FindRestoringTables(const ReadView& view);
void PutRestoringTable(const v1::RestoringTable& table, CommitGroup& group);
void DeleteRestoringTable(std::string_view table_name, CommitGroup& group);
// ALREADY_EXISTS (RESOURCE_IN_USE): the table of this name or ARN is being imported, so it cannot be changed
// (IMP-05).
absl::Status CheckNotImporting(const ReadView& view, std::string_view table);

// In the order of their storage ids.
absl::StatusOr<std::vector<v1::DeletedTable>> FindDeletedTables(const ReadView& view);
void PutDeletedTable(const v1::DeletedTable& table, CommitGroup& group);
void DeleteDeletedTable(uint64_t storage_id, CommitGroup& group);

}  // namespace itemdb::storage
