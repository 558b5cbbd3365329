// When an item has expired: its time-to-live attribute is a number of seconds since the Unix epoch (which may
// have a fraction), and that time is past, but not by more than five years (SEM-108).
#pragma once

#include <cstdint>

#include "storage/catalog/table.h"
#include "storage/keys/key_range.h"

namespace itemdb::storage {

// The key range, in the index of a time to live, of the entries whose items have expired at `now_us`
// (microseconds since the Unix epoch).
KeyRange ExpiredEntries(int64_t now_us);

// Whether `item` has expired at `now_us`. False for all items until the table's time to live is ENABLED.
bool HasExpired(const Table& table, ItemView item, int64_t now_us);

}  // namespace itemdb::storage
