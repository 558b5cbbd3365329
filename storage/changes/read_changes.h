// ReadChanges: one page of the change log.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implements Database's method of the same name. Reads on an I/O thread.
void ReadChanges(Engine& engine, const v1::ReadChangesRequest& request, Done<v1::ReadChangesReply> done,
                 CancellationPtr cancellation);

}  // namespace itemdb::storage
