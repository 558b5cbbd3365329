// Holds: changes that stay in the change log for a reader that may be away, such as the mover of a table
// (itemdb.v1.Changes.HoldChanges).
//
// A hold is a record of the catalog, `change_hold/NAME`. So it is durable, is in backups, and standbys have
// it too, which keep the same changes if they have them. Records are changed on the DDL thread only. Those
// that have ended stay for a day, the last hundred of them, so that a reader that comes back is told what
// became of its hold. A record that says HELD keeps its changes, whatever the clock says: only the database
// that takes writes ends holds.
//
// A renewal that asks for no more than the record keeps makes no commit: it is noted in memory, and the next
// round of trimming stores it (storage/engine/hold_renewals.h). Other commits for readers are few in a
// second.
//
// Trimming reads the records (trimmer.cc). A hold pins its changes in the TrimHorizon until its record is
// visible, and trimming reads the records again after TrimHorizon::BeginTrim: so it sees the pin or the
// record.
#pragma once

#include <cstdint>
#include <future>
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
std::vector<v1::ChangeHold> DescribeChangeHolds(const Engine& engine, const ReadView& view);

// ---- for trimming ----

// The first change that a hold keeps, if one does. Damaged records keep nothing.
absl::StatusOr<std::optional<uint64_t>> FirstHeldChange(const ReadView& view);

// Ends the holds
//   - that were not renewed for their leases, of which also `taking_writes_us` is the time by the boot clock
//     that the database has taken writes: before, no reader could renew its hold;
//   - that keep changes before `wanted`, to which the change log would be trimmed without them, if free space
//     is below twice the floor: so early that writers do not meet the floor because of them;
//   - whose changes are not in the change log any more: a standby that was below its floor, or a version that
//     knows no holds, has trimmed them.
// Stores how holds were renewed. Deletes records that ended long ago, or are damaged. On the DDL thread, for
// which the caller need not wait; ready at once if there is nothing to do. Does nothing while writes of
// clients are refused: a standby gets the records of its primary.
std::future<absl::Status> EndChangeHolds(Engine& engine, uint64_t wanted, int64_t taking_writes_us);

}  // namespace itemdb::storage
