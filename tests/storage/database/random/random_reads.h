// Random reads, and reads of all items, each compared with the model.
#pragma once

#include "tests/storage/database/random/side_by_side.h"

namespace itemdb::testing {

enum class RandomReadKind { kGetItem, kQuery, kScan, kScanSegments };

void RandomRead(SideBySide& both, RandomReadKind kind);
// A BatchGetItem or TransactGetItems over all tables.
void RandomBatchGet(SideBySide& both);
void RandomTransactGet(SideBySide& both);

// Reads with every page size: a Scan of the table, or of `index` if it is not null, and a Query of each of
// its item collections in both directions.
void ExpectAllPages(SideBySide& both, const TableModel& table, const ModelIndex* index);

}  // namespace itemdb::testing
