// Random writes and table changes, each compared with what the maps say must come of it.
#pragma once

#include <string>

#include "tests/storage/database/side_by_side.h"

namespace itemdb::testing {

enum class RandomWriteKind {
  kPutItem,
  kUpdateItem,
  kDeleteItem,
  kBatchWriteItem,
  kTransactWriteItems,
  // A request that was applied under its token, again.
  kRepeatRequest,
  kUpdateTable,
  kReplaceTable
};

// Ask the database, apply to the maps what must have happened, and fail the test where the answer is another.
void CreateRandomTable(SideBySide& both, const std::string& name);
void RandomWrite(SideBySide& both, RandomWriteKind kind);

}  // namespace itemdb::testing
