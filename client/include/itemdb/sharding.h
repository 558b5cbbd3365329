// Write sharding: a collection that would be too busy under one partition key is spread over a number of
// shards, and read back as one sequence.
//
//   absl::StatusOr<ShardPlan> plan =
//       PlanShards({.max_items = 3'000'000, .fraction = 0.2, .item_bytes = 250});  // 13 shards
//   item.Set("shard", ShardOf(order_id, plan->shards));                            // Writing.
//   ItemRange open = QueryShards(*client, {.request = {.table_name = "Order",
//                                                      .index_name = "OpenOrdersByDate",
//                                                      .key_condition_expression = "#s = :open AND #n =
//                                                      :shard",
//                                                      ...},
//                                          .shards = ShardNumbers(plan->shards),
//                                          .order_by = {"order_date", "order_id"}});
//
// itemdb itself has no partitions that could be too busy; the arithmetic is DynamoDB's, for tables that are
// to run there too, and for index partitions that are read in parallel.
#pragma once

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
inline namespace client {

// ---- how many ------------------------------------------------------------------------------------

// What a partition of DynamoDB takes in a second: read units of 4 KiB, write units of 1 KiB.
inline constexpr int64_t kPartitionReadUnits = 3'000;
inline constexpr int64_t kPartitionWriteUnits = 1'000;
inline constexpr int64_t kReadUnitBytes = 4'096;
inline constexpr int64_t kWriteUnitBytes = 1'024;

struct ShardLoad {
  // Items there will be at most, and the fraction of them (above 0, at most 1) that the largest read wants
  // within a second. Default: no such read.
  int64_t max_items = 0;
  double fraction = 1;
  // Average size of an item, 1 to 409,600.
  int64_t item_bytes = 0;
  // Items written per second at the peak. Default: no bound from writing.
  int64_t writes_per_second = 0;
};

// The steps of the derivation, for people to check.
struct ShardPlan {
  // Whole items of a read unit; 0 when an item takes several.
  int64_t items_per_read_unit = 0;
  // What one partition gives, and what the largest read wants, in items per second.
  int64_t partition_items_per_second = 0;
  int64_t wanted_items_per_second = 0;
  int shards_for_reads = 1;
  // What one partition takes, in items per second.
  int64_t partition_writes_per_second = 0;
  int shards_for_writes = 1;
  // The larger of the two. Numbers 0 to `shards` - 1.
  int shards = 1;
};

// INVALID_ARGUMENT names the figure that is out of its bounds, or that more than 1,000,000 shards would be
// needed. Does not block.
ITEMDB_EXPORT absl::StatusOr<ShardPlan> PlanShards(const ShardLoad& load);

// ---- which ---------------------------------------------------------------------------------------

// 0 to `shards` - 1 (`shards` is at least 1): by a hash of `text` that is the same in every program and
// release (64-bit FNV-1a), so that a reader who knows `text` asks one shard only; or at random, where nobody
// will. Thread-safe.
ITEMDB_EXPORT int ShardOf(std::string_view text, int shards);
ITEMDB_EXPORT int RandomShard(int shards);

// The values of a shard attribute: 0, 1, ... and "OPEN#0", "OPEN#1", ...
ITEMDB_EXPORT std::vector<Value> ShardNumbers(int shards);
ITEMDB_EXPORT std::vector<Value> ShardNames(std::string_view prefix, int shards);

// ---- reading them as one -------------------------------------------------------------------------

struct ShardedQuery {
  // Of one shard, with `shard_value` in its key condition. Its `exclusive_start_key` is not used.
  // `scan_index_forward` false: the whole is descending as well.
  QueryRequest request;
  // The name of the expression attribute value that stands for the shard.
  std::string shard_value = ":shard";
  // What it stands for, one query each.
  std::vector<Value> shards;
  // The attributes that the result is ordered by: the sort key of what is queried, and more of them to tell
  // equals apart. Values of type S, N and B compare as in keys; an item without the attribute comes first.
  std::vector<std::string> order_by;
};

// All items of all shards in order, fetched while they are used. All first pages are fetched in parallel, one
// thread a shard; the next page of a shard once half of its page is used, so at most two pages a shard are
// held. The first error ends the sequence. Destroying the range waits for fetches under way.
ITEMDB_EXPORT ItemRange QueryShards(const Client& client, ShardedQuery query, CallOptions options = {});

struct ShardedPage {
  std::vector<Item> items;
  // Where the next page begins, as text that may be kept and sent; empty after the last page.
  std::string position;
};

// At most the next `limit` items (at least 1; fewer when pages are filtered or reach 1 MiB) of all shards in
// order, from `position` on: what the page before returned, or empty. Blocks; asks each shard for at most
// `limit` items. The projection of the request, if any, must contain the key attributes of the table and the
// index.
//
// INVALID_ARGUMENT also: `position` is not one of this query's, a projection lacks a key attribute.
ITEMDB_EXPORT absl::StatusOr<ShardedPage> QueryShardsPage(const Client& client, const ShardedQuery& query,
                                                          int limit, const std::string& position = "",
                                                          CallOptions options = {});

}  // namespace client
}  // namespace itemdb
