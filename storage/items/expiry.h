// When items expire: the attribute of the table's time to live is a number of seconds since the Unix epoch,
// with a fraction perhaps, that has come, and not too long ago (SEM-108).
#pragma once

#include <cstdint>

#include "storage/catalog/table.h"
#include "storage/keys/key_range.h"

namespace itemdb {

// The keys of entries of items that have expired at `now_us`, microseconds since the Unix epoch, in the index
// of a time to live.
KeyRange ExpiredEntries(int64_t now_us);

// Whether `item` has. No item has before the table's time to live is ENABLED.
bool HasExpired(const Table& table, ItemView item, int64_t now_us);

}  // namespace itemdb
