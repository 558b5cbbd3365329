// The capacity that a request would have consumed in DynamoDB, and the sizes of the item collections that it
// wrote to. Both are only reported, and only if the request asks for them. The daemon never limits
// throughput; it limits the size of item collections by --max-item-collection-bytes.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/value.h"

namespace itemdb {

// No capacity, the sum for each table, or the sum and the shares of the table itself and of each index.
enum class ReturnConsumedCapacity { kNone, kTotal, kIndexes };

// What one request consumed of one table, in capacity units. A read costs one unit per 4 KiB, half of that
// unless `consistent_read` is set, and twice that in a transaction. A write costs one unit per KiB, twice
// that in a transaction.
struct ConsumedCapacity {
  std::string table_name;
  double capacity_units = 0;
  // With kIndexes: the shares of the table itself and of the indexes by name.
  std::optional<double> table_units = std::nullopt;
  std::map<std::string, double> global_secondary_indexes = {};
  std::map<std::string, double> local_secondary_indexes = {};
  // With kIndexes: the bytes that were written into vector indexes, in steps of 1,024; no part of the units.
  std::map<std::string, int64_t> vector_index_bytes = {};
};

// For writes to tables with local secondary indexes: no sizes, or those of the item collections written to.
enum class ReturnItemCollectionMetrics { kNone, kSize };

// All items of a table with local secondary indexes that have one partition key, with their index entries.
struct ItemCollectionMetrics {
  // The partition-key attribute.
  Item item_collection_key;
  // Bounds of the size in GiB. The daemon knows the size exactly, so both are the same.
  double size_lower_bound_gb = 0;
  double size_upper_bound_gb = 0;
};

// For a request on several tables: by table name, one entry for each item collection.
using TableItemCollectionMetrics = std::map<std::string, std::vector<ItemCollectionMetrics>>;

}  // namespace itemdb
