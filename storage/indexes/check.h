// Checking that items, index entries, counters and change log agree, and rebuilding what is derived from the
// items.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb {

// CheckDatabase behind Database's method of the same name: runs on an I/O thread and reads one view.
void CheckDatabase(Engine& engine, const v1::CheckDatabaseRequest& request, Done<v1::CheckDatabaseReply> done,
                   CancellationPtr cancellation);

// Makes the index entries and counters of every table what its items say. Items that do not decode are logged
// and left alone. Blocks; to be called before anything is served, after a recovery that lost data.
absl::Status RebuildDerived(Engine& engine);

}  // namespace itemdb
