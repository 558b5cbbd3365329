// The exact statistics of tables and indexes, counted again from their items.
#pragma once

#include <cstdint>

#include "itemdb/v1/item.pb.h"
#include "storage/database.h"

namespace itemdb::testing {

// By SEM-002 and SEM-003, computed from the text of numbers. `item` is canonical.
int64_t SizeOf(const v1::Item& item);

// Fails the test unless what DescribeTable says of every table and index, items and bytes, is what a scan
// finds. Nothing may be written meanwhile.
void ExpectExactStatistics(Database& database);

}  // namespace itemdb::testing
