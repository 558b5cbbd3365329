// Random reads, and reads of everything, each compared with what the maps hold.
#pragma once

#include "tests/storage/database/side_by_side.h"

namespace itemdb::testing {

enum class RandomReadKind { kGetItem, kQuery, kScan, kScanSegments };

void RandomRead(SideBySide& both, RandomReadKind kind);
// One of BatchGetItem and TransactGetItems over all tables.
void RandomBatchGet(SideBySide& both);
void RandomTransactGet(SideBySide& both);

// With every page size: a Scan of the table, or of `index` when it is not null, and a Query of each of its
// item collections in both directions.
void ExpectAllPages(SideBySide& both, const TableModel& table, const ModelIndex* index);

}  // namespace itemdb::testing
