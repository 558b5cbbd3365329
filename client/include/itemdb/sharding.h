// Write sharding: an item collection with more writes or reads than one partition can serve is spread over
// several shards, and read back as one sequence.
//
//   absl::StatusOr<ShardPlan> plan =
//       PlanShards({.max_items = 3'000'000, .fraction = 0.2, .item_bytes = 250});  // 13 shards
//   item.Set("shard", ShardOf(order_id, plan->shards));                            // Writing.
//   ItemRange open =
//       QueryShards(*client, {.request = {.table_name = "Order",
//                                         .index_name = "OpenOrdersByDate",
//                                         .key_condition_expression = "#s = :open AND #n = :shard",
//                                         ...},
//                             .shards = ShardNumbers(plan->shards),
//                             .order_by = {"order_date", "order_id"}});
//
// itemdb itself has no partitions with limited throughput. The arithmetic is DynamoDB's: for tables that will
// also run there, and for index partitions that are read in parallel.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "itemdb/export.h"
#include "itemdb/item_range.h"
#include "itemdb/options.h"
#include "itemdb/requests.h"
#include "itemdb/value.h"

namespace itemdb {

// ---- how many ------------------------------------------------------------------------------------

// What one partition of DynamoDB serves per second: read units of 4 KiB, write units of 1 KiB.
inline constexpr int64_t kPartitionReadUnits = 3'000;
inline constexpr int64_t kPartitionWriteUnits = 1'000;
inline constexpr int64_t kReadUnitBytes = 4'096;
inline constexpr int64_t kWriteUnitBytes = 1'024;

struct ShardLoad {
  // The largest number of items, and the fraction of them (above 0, at most 1) that the largest read must
  // return within a second. Default: no such read.
  int64_t max_items = 0;
  double fraction = 1;
  // Average size of an item, 1 to 409,600.
  int64_t item_bytes = 0;
  // Items written per second at the peak. Default: writes need no shards.
  int64_t writes_per_second = 0;
};

// The steps of the calculation, for people to check.
struct ShardPlan {
  // Whole items in one read unit; 0 when an item needs several units.
  int64_t items_per_read_unit = 0;
  // What one partition can return, and what the largest read needs, in items per second.
  int64_t partition_items_per_second = 0;
  int64_t wanted_items_per_second = 0;
  int shards_for_reads = 1;
  // What one partition can accept, in items per second.
  int64_t partition_writes_per_second = 0;
  int shards_for_writes = 1;
  // The larger of the two. Shards are numbered from 0 to `shards` - 1.
  int shards = 1;
};

// INVALID_ARGUMENT: a number in `load` is out of its bounds (the message names it), or the load needs more
// than 1,000,000 shards. Does not block.
ITEMDB_EXPORT absl::StatusOr<ShardPlan> PlanShards(const ShardLoad& load);

// ---- which ---------------------------------------------------------------------------------------

// A shard from 0 to `shards` - 1 (`shards` is at least 1). ShardOf hashes `text` (64-bit FNV-1a, the same in
// every program and release), so a reader who knows `text` reads one shard only. RandomShard is for items
// that are never looked up by such a text. Thread-safe.
ITEMDB_EXPORT int ShardOf(std::string_view text, int shards);
ITEMDB_EXPORT int RandomShard(int shards);

// The values of a shard attribute: 0, 1, ... and "OPEN#0", "OPEN#1", ...
ITEMDB_EXPORT std::vector<Value> ShardNumbers(int shards);
ITEMDB_EXPORT std::vector<Value> ShardNames(std::string_view prefix, int shards);

// ---- reading them as one -------------------------------------------------------------------------

struct ShardedQuery {
  // The query of one shard, with `shard_value` in its key condition. `exclusive_start_key` is ignored. If
  // `scan_index_forward` is false, the merged result is descending as well.
  QueryRequest request;
  // The name of the expression attribute value that stands for the shard.
  std::string shard_value = ":shard";
  // The value of `shard_value` for each shard; one query each.
  std::vector<Value> shards;
  // The attributes that the result is ordered by: the sort key, then others that order items with equal sort
  // keys. Values of type S, N and B compare as in keys; an item without the attribute comes first.
  std::vector<std::string> order_by;
};

// All items of all shards in order, fetched while the range is used. The first pages are fetched in parallel,
// one thread per shard. The next page of a shard is fetched once half of its page is used, so at most two
// pages per shard are in memory. The first error ends the sequence. The destructor waits for fetches.
ITEMDB_EXPORT ItemRange QueryShards(const Client& client, ShardedQuery query, CallOptions options = {});

struct ShardedPage {
  std::vector<Item> items;
  // Where the next page begins, as text that a program may store and send; empty after the last page.
  std::string position;
};

// At most `limit` items (at least 1; fewer when pages are filtered or reach 1 MiB) of all shards in order,
// beginning at `position`: the one in the previous page, or empty. Blocks; reads at most `limit` items per
// shard. The projection of the request, if any, must contain the key attributes of the table and the index.
//
// INVALID_ARGUMENT also: `position` is not from the same query; a projection lacks a key attribute.
ITEMDB_EXPORT absl::StatusOr<ShardedPage> QueryShardsPage(const Client& client, const ShardedQuery& query,
                                                          int limit, const std::string& position = "",
                                                          CallOptions options = {});

}  // namespace itemdb
