#include <algorithm>
#include <cmath>
#include <random>

#include "absl/strings/str_format.h"
#include "client/errors_internal.h"
#include "common/status_macros.h"
#include "itemdb/sharding.h"

namespace itemdb {
namespace {

constexpr int64_t kMaxItemBytes = 409'600;
constexpr int64_t kMaxItems = 1'000'000'000'000'000;
constexpr int64_t kMaxShards = 1'000'000;

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

absl::Status CheckLoad(const ShardLoad& load) {
  if (load.item_bytes < 1 || load.item_bytes > kMaxItemBytes) {
    return InvalidRequest(
        absl::StrFormat("items of %d bytes: 1 to %d are possible", load.item_bytes, kMaxItemBytes));
  }
  if (load.max_items < 0 || load.max_items > kMaxItems) {
    return InvalidRequest(
        absl::StrFormat("%d items at most: 0 to %d are possible", load.max_items, kMaxItems));
  }
  if (!(load.fraction > 0) || load.fraction > 1) {
    return InvalidRequest(absl::StrFormat(
        "a read of the fraction %g of all items: above 0 and at most 1 is possible", load.fraction));
  }
  if (load.writes_per_second < 0 || load.writes_per_second > kMaxItems) {
    return InvalidRequest(
        absl::StrFormat("%d writes per second: 0 to %d are possible", load.writes_per_second, kMaxItems));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ShardPlan> PlanShards(const ShardLoad& load) {
  ITEMDB_RETURN_IF_ERROR(CheckLoad(load));
  ShardPlan plan;
  plan.items_per_read_unit = kReadUnitBytes / load.item_bytes;
  plan.partition_items_per_second = plan.items_per_read_unit > 0
                                        ? kPartitionReadUnits * plan.items_per_read_unit
                                        : kPartitionReadUnits / CeilDivide(load.item_bytes, kReadUnitBytes);
  // 1e-12 absorbs the rounding of binary fractions: 0.2 of 3 million must be exactly 600,000.
  plan.wanted_items_per_second =
      static_cast<int64_t>(std::ceil(load.fraction * static_cast<double>(load.max_items) * (1 - 1e-12)));
  plan.partition_writes_per_second = kPartitionWriteUnits / CeilDivide(load.item_bytes, kWriteUnitBytes);
  const int64_t for_reads =
      std::max<int64_t>(1, CeilDivide(plan.wanted_items_per_second, plan.partition_items_per_second));
  const int64_t for_writes =
      std::max<int64_t>(1, CeilDivide(load.writes_per_second, plan.partition_writes_per_second));
  if (std::max(for_reads, for_writes) > kMaxShards) {
    return InvalidRequest(absl::StrFormat("this load needs %d shards; at most %d are possible",
                                          std::max(for_reads, for_writes), kMaxShards));
  }
  plan.shards_for_reads = static_cast<int>(for_reads);
  plan.shards_for_writes = static_cast<int>(for_writes);
  plan.shards = std::max(plan.shards_for_reads, plan.shards_for_writes);
  return plan;
}

int ShardOf(std::string_view text, int shards) {
  uint64_t hash = 14'695'981'039'346'656'037u;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 1'099'511'628'211u;
  return static_cast<int>(hash % static_cast<uint64_t>(std::max(1, shards)));
}

int RandomShard(int shards) {
  // Only spreads items, so a weak generator is enough.
  thread_local std::minstd_rand engine(std::random_device{}());
  return std::uniform_int_distribution<int>(0, std::max(1, shards) - 1)(engine);
}

std::vector<Value> ShardNumbers(int shards) {
  std::vector<Value> values;
  for (int shard = 0; shard < shards; ++shard) values.push_back(shard);
  return values;
}

std::vector<Value> ShardNames(std::string_view prefix, int shards) {
  std::vector<Value> values;
  for (int shard = 0; shard < shards; ++shard) values.push_back(std::string(prefix) + std::to_string(shard));
  return values;
}

}  // namespace itemdb
