// Commit groups of the primary, as the standby writes them.
#pragma once

#include <string>
#include <vector>

#include "itemdb/v1/tables.pb.h"
#include "storage/archive/archive_segment.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Checks that all of `archived` decodes, so that AppendReplicated cannot fail, and returns the definitions of
// tables that it puts. DATA_LOSS: it does not decode, or has not the changes that it should have.
absl::StatusOr<std::vector<v1::TableDescription>> CheckReplicated(const ArchivedGroup& archived,
                                                                  const Store& store);

// Appends what `archived` wrote to `group`, whose next_sequence() must be its first change: records as they
// are, definitions of tables also to the catalog in memory, size statistics also to those in memory. Left out
// is what each database does for itself: where its change log begins, and that the space of a deleted table
// or index was reclaimed. CheckReplicated must have succeeded.
absl::Status AppendReplicated(Engine& engine, const Store& store, const ArchivedGroup& archived,
                              CommitGroup& group);

}  // namespace itemdb::storage
