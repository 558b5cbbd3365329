// Creating, changing and deleting tables.
//
// Column families are slow to make and drop, so that happens on the definitions thread, outside the pipeline;
// only the catalog record passes through it. Create: families first, then the record. Delete: the record
// first, then the families, whose files go when the last reader is gone. A crash in between leaves families
// that no table names; opening finds them.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb {

// Behind Database's methods of the same names.
void CreateTable(Engine& engine, v1::CreateTableRequest request, Done<v1::CreateTableReply> done);
void DeleteTable(Engine& engine, v1::DeleteTableRequest request, Done<v1::DeleteTableReply> done);
void UpdateTable(Engine& engine, v1::UpdateTableRequest request, Done<v1::UpdateTableReply> done);
void TagTable(Engine& engine, v1::TagTableRequest request, Done<v1::TagTableReply> done);
void UntagTable(Engine& engine, v1::UntagTableRequest request, Done<v1::UntagTableReply> done);

// ---- for what else is kept in the catalog ----

// Commits what `change` appends to a group, in commit order. Blocks until it is durable; on the definitions
// thread only. Returns the group's last change.
absl::StatusOr<uint64_t> CommitCatalogChange(Engine& engine,
                                             absl::AnyInvocable<absl::Status(CommitGroup&)> change);
// The catalog's key for how a table or index is split into so many segments, and all of them.
std::string SegmentsKey(uint64_t storage_id, int32_t total_segments);
std::vector<std::string> SegmentsKeys(const ReadView& view, uint64_t storage_id);

// The definition of `table` with its counters as of `view`.
absl::StatusOr<v1::TableDescription> DescribeTable(const ReadView& view, const Table& table);
// The counters of a table or index as of `view`; zero when nothing was ever written. DATA_LOSS.
absl::StatusOr<Counters> ReadCounters(const ReadView& view, uint64_t storage_id);

}  // namespace itemdb
