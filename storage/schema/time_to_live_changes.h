// UpdateTimeToLive: creates or deletes the TTL index of a live table, by which expired items are found.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implements Database's method of the same name. A new TTL index is CREATING until its backfill is done, like
// an index that UpdateTable creates.
void UpdateTimeToLive(Engine& engine, v1::UpdateTimeToLiveRequest request,
                      Done<v1::UpdateTimeToLiveReply> done);

}  // namespace itemdb::storage
