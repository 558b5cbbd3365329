// UndoChanges: items become what they were before a stretch of changes.
#pragma once

#include "itemdb/v1/changes.pb.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implements Database's method of the same name. Reads the change log from the stretch to its end on an I/O
// thread, then writes all items of the page in one commit unit.
void UndoChanges(Engine& engine, v1::UndoChangesRequest request, Done<v1::UndoChangesReply> done,
                 CancellationPtr cancellation);

}  // namespace itemdb::storage
