// Whether the tables of two sides hold the same items, and which differ.
//
// Both sides are scanned whole, in segments side by side. The order of a scan is different in every engine,
// so the scans sum up digests instead of being merged: each item belongs to one of kBuckets buckets by its
// key, and a bucket has the same sum on both sides if it has the same items. Where sums differ, the items of
// these buckets are looked up by their keys on the other side. So memory does not grow with the tables.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/base/number_text.h"
#include "tools/moving/changed_keys.h"
#include "tools/moving/follower.h"
#include "tools/moving/side.h"

namespace itemdb::tools {

enum class DifferenceKind {
  // Only the source has the item.
  kMissing,
  // Only the target has it.
  kExtra,
  kDifferent,
};
std::string_view DifferenceName(DifferenceKind kind);
inline constexpr Noun kDifferenceNoun = {.one = "difference", .many = "differences"};

struct Difference {
  std::string table_name;
  Item key;
  DifferenceKind kind = DifferenceKind::kDifferent;
};

struct Comparison {
  // Items of the source.
  int64_t items = 0;
  std::vector<Difference> differences;
};

struct ComparisonOptions {
  // Segments that are scanned at a time on each side.
  int workers = 4;
  // Keys that it contains are left out: their items change. Null: none.
  const ChangedKeys* leave_out_or_null = nullptr;
  // Gets the number of items of each page of either side, on several threads; may be empty.
  std::function<void(int64_t)> on_read = nullptr;
};

// Compares whole tables, which both sides have. `segments`: the parts of the scans of a table.
absl::StatusOr<Comparison> CompareTables(const Side& source, const Side& target,
                                         const std::vector<TableDefinition>& tables, int segments,
                                         const ComparisonOptions& options);

// Compares the items of these keys.
absl::StatusOr<Comparison> CompareKeys(const Side& source, const Side& target,
                                       const std::vector<TableKeys>& keys, int workers);

// The keys of `differences`, by table.
std::vector<TableKeys> KeysOf(const std::vector<Difference>& differences);

}  // namespace itemdb::tools
