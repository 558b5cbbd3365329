// Checks that items, index entries, size statistics and change log match; rebuilds data derived from items.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implements Database's method of the same name. Runs on an I/O thread and reads one view.
void CheckDatabase(Engine& engine, const v1::CheckDatabaseRequest& request, Done<v1::CheckDatabaseReply> done,
                   CancellationPtr cancellation);

// Corrects the index entries and size statistics of all tables to match the items, and deletes all client
// request tokens. Items that do not decode are logged and not changed. Blocks. Must be called after a
// recovery with losses, before the first request is served.
absl::Status RebuildDerived(Engine& engine);

}  // namespace itemdb::storage
