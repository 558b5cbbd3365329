// The statistics of tables and indexes, computed again from their items.
#pragma once

#include <cstdint>

#include "itemdb/v1/item.pb.h"
#include "storage/database.h"

namespace itemdb::testing {

// The size of an item by the size rules (SEM-002, SEM-003), from the text of numbers. `item` is canonical.
int64_t SizeOf(const v1::Item& item);

// Fails the test unless the number of items and bytes that DescribeTable reports for every table and index
// equals what a scan finds. Nothing may be written at the same time.
void ExpectExactStatistics(storage::Database& database);

}  // namespace itemdb::testing
