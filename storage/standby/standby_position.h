// How far a standby has followed the archive of its primary. Kept in the catalog, in the batch of the groups
// themselves, so that after a crash neither a group is missing nor one is applied twice.
#pragma once

#include <cstdint>
#include <optional>

#include "storage/commit/commit_group.h"
#include "storage/store/store.h"

namespace itemdb::storage {

struct StandbyPosition {
  // The chain of the archive (archive_directory.h), and the sequence of the last group that was applied, by
  // the sequence numbers of the primary's store.
  uint64_t chain_id = 0;
  uint64_t sequence = 0;
};

// std::nullopt: the database is no standby. DATA_LOSS: the record is damaged. Or the error of the store.
absl::StatusOr<std::optional<StandbyPosition>> ReadStandbyPosition(const Store& store);
void PutStandbyPosition(const StandbyPosition& position, CommitGroup& group);
// The database is no standby any more: it was promoted.
void EndStandby(CommitGroup& group);
// Whether the database was a standby and was promoted. Errors as ReadStandbyPosition.
absl::StatusOr<bool> WasPromoted(const Store& store);
// Makes a standby of a store that was restored to `position` and is not in use. Or the error of the store.
absl::Status WriteStandbyPosition(const StandbyPosition& position, Store& store);

}  // namespace itemdb::storage
