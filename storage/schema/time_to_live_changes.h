// UpdateTimeToLive: giving a live table the index that expired items are found by, or taking it away.
#pragma once

#include "storage/engine/engine.h"

namespace itemdb {

// Behind Database's method of the same name. An index that is made is CREATING until it is filled, as one
// that UpdateTable creates.
void UpdateTimeToLive(Engine& engine, v1::UpdateTimeToLiveRequest request,
                      Done<v1::UpdateTimeToLiveReply> done);

}  // namespace itemdb
