// Checks that items, index entries, size statistics and change log match.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implements Database's method of the same name. Runs on an I/O thread and reads one view.
void CheckDatabase(Engine& engine, const v1::CheckDatabaseRequest& request, Done<v1::CheckDatabaseReply> done,
                   CancellationPtr cancellation);

}  // namespace itemdb::storage
