// What a request would have consumed of a table's throughput in DynamoDB, and how large the item collections
// are that it wrote to. Both are for callers who plan with them: throughput is never limited, an item
// collection by the daemon's --max-item-collection-bytes. A result has them when the request asked.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/value.h"

namespace itemdb {
inline namespace client {

// Nothing, one figure a table, or also the shares of the table itself and of each index.
enum class ReturnConsumedCapacity { kNone, kTotal, kIndexes };

// What one request consumed of one table, in capacity units: of reads one unit a 4 KiB, half of it unless
// `consistent_read`, twice in transactions; of writes one unit a KiB, twice in transactions.
struct ConsumedCapacity {
  std::string table_name;
  double capacity_units = 0;
  // With kIndexes: the shares of the table itself and of the indexes by name.
  std::optional<double> table_units = std::nullopt;
  std::map<std::string, double> global_secondary_indexes = {};
  std::map<std::string, double> local_secondary_indexes = {};
};

// Of writes to tables with local secondary indexes: nothing, or the size of the item collections written to.
enum class ReturnItemCollectionMetrics { kNone, kSize };

// All items with one partition key, of a table with local secondary indexes, and their index entries.
struct ItemCollectionMetrics {
  // The partition-key attribute.
  Item item_collection_key;
  // Bounds of the size in GiB. The daemon knows it exactly, so both are the same.
  double size_lower_bound_gb = 0;
  double size_upper_bound_gb = 0;
};

// Of a request on several tables: by table name, one entry an item collection.
using TableItemCollectionMetrics = std::map<std::string, std::vector<ItemCollectionMetrics>>;

}  // namespace client
}  // namespace itemdb
