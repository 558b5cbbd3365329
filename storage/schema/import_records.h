// The catalog's records of imports (itemdb.v1.StoredImport). The table of an import that runs has a record of
// its own (restoring_tables.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/imports.pb.h"
#include "storage/commit/commit_group.h"
#include "storage/store/read_view.h"

namespace itemdb::storage {

// The id at the end of the import's ARN.
std::string ImportIdOf(const v1::ImportDescription& import);

// nullopt: no such import. DATA_LOSS: the record does not decode; or the error of the store. Both functions
// that read have these errors.
absl::StatusOr<std::optional<v1::ImportDescription>> FindImport(const ReadView& view, std::string_view id);
// The oldest first.
absl::StatusOr<std::vector<v1::ImportDescription>> FindImports(const ReadView& view);
void PutImport(const v1::ImportDescription& import, CommitGroup& group);
void DeleteImport(std::string_view id, CommitGroup& group);

}  // namespace itemdb::storage
