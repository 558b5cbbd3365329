// Holds: changes that stay in the change log for a reader that may be away, such as the mover of a table
// (itemdb.v1.Changes.HoldChanges).
//
// A hold is a record of the catalog, `change_hold/NAME`. So it is durable, is in backups, and standbys have
// it too, which keep the same changes if they have them. Records are changed on the DDL thread only. Those
// that have ended stay for a day, so that a reader that comes back is told what became of its hold.
//
// Trimming reads the records (trimmer.cc). A hold pins its changes in the TrimHorizon until its record is
// visible, and trimming reads the records again after TrimHorizon::BeginTrim: so it sees the pin or the
// record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/v1/changes.pb.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implement Database's methods of the same names.
void HoldChanges(Engine& engine, v1::HoldChangesRequest request, Done<v1::HoldChangesReply> done);
void ReleaseChanges(Engine& engine, v1::ReleaseChangesRequest request, Done<v1::ReleaseChangesReply> done);

// The holds for GetStatus, by name. Damaged records are left out.
std::vector<v1::ChangeHold> DescribeChangeHolds(const ReadView& view);

// ---- for trimming ----

// The first change that a hold keeps, if one does. Damaged records keep nothing.
absl::StatusOr<std::optional<uint64_t>> FirstHeldChange(const ReadView& view, TimeOfDay& time_of_day);

// Ends the holds that were not renewed in time and, if `is_disk_full`, those that keep changes before
// `wanted`, to which the change log would be trimmed without them. Deletes records that ended long ago, or
// are damaged. Blocks. Not on the DDL thread. Does nothing while writes of clients are refused: a standby
// gets the records of its primary.
absl::Status EndChangeHolds(Engine& engine, uint64_t wanted, bool is_disk_full);

}  // namespace itemdb::storage
