// The catalog's records of exports (itemdb.v1.StoredExport), under `export/ID`. They are not in the Catalog.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "itemdb/v1/exports.pb.h"
#include "storage/commit/commit_group.h"
#include "storage/store/read_view.h"

namespace itemdb::storage {

// In the order of their ids, which begin with the start time. DATA_LOSS: a record does not decode; or the
// error of the store.
absl::StatusOr<std::vector<v1::StoredExport>> FindExports(const ReadView& view);
// nullopt: there is no such export. Errors as above.
absl::StatusOr<std::optional<v1::StoredExport>> FindExport(const ReadView& view, std::string_view export_id);
void PutExport(const v1::StoredExport& stored, CommitGroup& group);
void DeleteExport(const v1::StoredExport& stored, CommitGroup& group);

}  // namespace itemdb::storage
