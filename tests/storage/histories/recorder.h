// Clients that send random operations on the hot items to a real database and record the answers.
#pragma once

#include "storage/database.h"
#include "tests/storage/histories/history.h"

namespace itemdb::testing {

// The table of the hot items: sorted by number in one partition, and by version in its index.
v1::CreateTableRequest HotTableRequest();

struct RecordOptions {
  int clients = 16;
  int operations_per_client = 1'000;
  uint64_t seed = 0;
};

// Runs all clients to the end. The database must be at `start_sequence`, with a new table. Errors fail the
// test.
History Record(storage::Database& database, const RecordOptions& options, uint64_t start_sequence);

}  // namespace itemdb::testing
