// WatchChanges: one reply of a watch of the change log.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implements Database's method of the same name. Holds no view while it waits.
void WatchChanges(Engine& engine, const v1::WatchRequest& request, Done<WatchPage> done,
                  CancellationPtr cancellation);

}  // namespace itemdb::storage
