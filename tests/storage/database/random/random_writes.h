// Random writes and table changes, each compared with the result that the model computes.
#pragma once

#include <string>

#include "tests/storage/database/random/side_by_side.h"

namespace itemdb::testing {

enum class RandomWriteKind {
  kPutItem,
  kUpdateItem,
  kDeleteItem,
  kBatchWriteItem,
  kTransactWriteItems,
  // Repeats a request that was applied under a client request token.
  kRepeatRequest,
  kUpdateTable,
  kReplaceTable
};

// Sends the request, applies it to the model, and fails the test if the results differ.
void CreateRandomTable(SideBySide& both, const std::string& name);
void RandomWrite(SideBySide& both, RandomWriteKind kind);

}  // namespace itemdb::testing
