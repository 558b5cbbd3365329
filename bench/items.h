// Tables of items of about 300 bytes, in a database of this process.
#pragma once

#include <cstdint>
#include <string>

#include "bench/session.h"
#include "itemdb/v1/tables.pb.h"
#include "storage/database.h"

namespace itemdb::bench {

// With the key (pk, sk), a global index `by_group` of all attributes and a local index `by_rank` of the keys.
v1::CreateTableRequest TableNamed(const std::string& name);

// Item number `number` of a table whose item collections have `collection_items` items. Its text does not
// compress well. The order of the keys is not the order of the numbers.
std::string EncodedItem(uint64_t number, uint64_t collection_items);

// The same as DynamoDB's JSON.
std::string JsonItem(uint64_t number, uint64_t collection_items);

// Creates the table and puts the items 0 to `items` - 1. `command` is named when progress is shown.
absl::Status LoadItems(Session& session, const std::string& command, storage::Database& database,
                       const std::string& table, uint64_t items, uint64_t collection_items);

}  // namespace itemdb::bench
