// Watching the change log.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb {

// WatchChanges behind Database's method of the same name. Nothing of the database is held while it waits.
void WatchChanges(Engine& engine, const v1::WatchRequest& request, Done<WatchPage> done,
                  CancellationPtr cancellation);

}  // namespace itemdb
