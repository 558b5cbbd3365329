// Rebuilds the data that is derived from items, after a recovery with losses.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb::storage {

// Corrects the index entries and size statistics of all tables to match the items, and deletes all client
// request tokens. Items that do not decode are logged and not changed; items in damaged blocks are left out,
// and the entries that they have stay. Blocks. Must be called after a recovery with losses, before the first
// request is served.
absl::Status RebuildDerived(Engine& engine);

}  // namespace itemdb::storage
