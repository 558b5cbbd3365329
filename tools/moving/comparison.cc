#include "tools/moving/comparison.h"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "common/status_macros.h"
#include "tools/base/item_key.h"
#include "tools/moving/copier.h"
#include "tools/moving/item_digest.h"

namespace itemdb::tools {
namespace {

// More buckets name fewer items that need a second look; each has 24 bytes on each side.
constexpr size_t kBuckets = 1 << 16;
constexpr size_t kKeysOfLook = 100;

using Buckets = std::vector<DigestSum>;

size_t BucketOf(const Digest& key) { return key.low % kBuckets; }

// Calls `use` with every page of the table, from several threads.
absl::Status ScanWhole(const Side& side, const std::string& table_name, int segments, int workers,
                       const std::function<absl::Status(std::vector<Item>)>& use) {
  return InParallel(workers, static_cast<size_t>(segments), [&](size_t segment) -> absl::Status {
    std::optional<Item> after;
    do {
      ITEMDB_ASSIGN_OR_RETURN(ItemPage page,
                              side.ScanPage(table_name, static_cast<int>(segment), segments, after));
      ITEMDB_RETURN_IF_ERROR(use(std::move(page.items)));
      after = std::move(page.last_evaluated_key);
      if (side.patience().cancel().cancelled()) return absl::CancelledError("interrupted");
    } while (after.has_value());
    return absl::OkStatus();
  });
}

class TableComparison {
 public:
  TableComparison(const Side& source, const Side& target, const TableDefinition& table, int segments,
                  const ComparisonOptions& options)
      : source_(source), target_(target), table_(table), segments_(segments), options_(options) {}

  absl::Status Run(Comparison* result) {
    const Side* sides[] = {&source_, &target_};
    Buckets sums[2];
    ITEMDB_RETURN_IF_ERROR(InParallel(2, 2, [&](size_t i) { return SumUp(*sides[i], &sums[i]); }));
    differs_.assign(kBuckets, false);
    bool differs = false;
    for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
      result->items += sums[0][bucket].count;
      differs_[bucket] = !(sums[0][bucket] == sums[1][bucket]);
      differs = differs || differs_[bucket];
    }
    if (!differs) return absl::OkStatus();
    ITEMDB_RETURN_IF_ERROR(Look(source_, target_, /*from_source=*/true));
    ITEMDB_RETURN_IF_ERROR(Look(target_, source_, /*from_source=*/false));
    for (Difference& difference : differences_) result->differences.push_back(std::move(difference));
    return absl::OkStatus();
  }

 private:
  absl::Status SumUp(const Side& side, Buckets* sums) {
    sums->resize(kBuckets);
    std::mutex mutex;
    return ScanWhole(side, table_.table_name, segments_, options_.workers,
                     [&](std::vector<Item> items) -> absl::Status {
                       std::vector<std::pair<size_t, Digest>> digests;
                       digests.reserve(items.size());
                       for (const Item& item : items)
                         digests.emplace_back(BucketOf(DigestOf(KeyOf(table_, item))), DigestOf(item));
                       if (options_.on_read) options_.on_read(static_cast<int64_t>(items.size()));
                       std::lock_guard<std::mutex> lock(mutex);
                       for (const auto& [bucket, digest] : digests) (*sums)[bucket].Add(digest);
                       return absl::OkStatus();
                     });
  }

  // Looks the items of `from` in buckets that differ up in `other`. In the second look, from the target, only
  // what the source lacks is new.
  absl::Status Look(const Side& from, const Side& other, bool from_source) {
    return ScanWhole(from, table_.table_name, segments_, options_.workers,
                     [&](std::vector<Item> items) -> absl::Status {
                       std::vector<Item> keys;
                       std::vector<const Item*> wanted;
                       for (const Item& item : items) {
                         Item key = KeyOf(table_, item);
                         const Digest digest = DigestOf(key);
                         if (!differs_[BucketOf(digest)]) continue;
                         if (options_.leave_out_or_null != nullptr &&
                             options_.leave_out_or_null->Contains(table_.table_name, digest))
                           continue;
                         keys.push_back(std::move(key));
                         wanted.push_back(&item);
                       }
                       for (size_t begin = 0; begin < keys.size(); begin += kKeysOfLook) {
                         const size_t end = std::min(begin + kKeysOfLook, keys.size());
                         const std::vector<Item> part(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                                                      keys.begin() + static_cast<std::ptrdiff_t>(end));
                         ITEMDB_ASSIGN_OR_RETURN(const auto found, other.GetItems(table_.table_name, part));
                         for (size_t i = 0; i < part.size(); ++i)
                           Judge(part[i], *wanted[begin + i], found[i], from_source);
                       }
                       return absl::OkStatus();
                     });
  }

  void Judge(const Item& key, const Item& item, const std::optional<Item>& found, bool from_source) {
    const bool is_new =
        from_source ? !found.has_value() || DigestOf(item) != DigestOf(*found) : !found.has_value();
    if (!is_new) return;
    const DifferenceKind kind = !from_source        ? DifferenceKind::kExtra
                                : found.has_value() ? DifferenceKind::kDifferent
                                                    : DifferenceKind::kMissing;
    std::lock_guard<std::mutex> lock(mutex_);
    differences_.push_back({.table_name = table_.table_name, .key = key, .kind = kind});
  }

  const Side& source_;
  const Side& target_;
  const TableDefinition& table_;
  const int segments_;
  const ComparisonOptions& options_;
  // Buckets whose sums differ. Constant while they are looked at.
  std::vector<bool> differs_;
  std::mutex mutex_;
  std::vector<Difference> differences_;  // Guarded by mutex_.
};

}  // namespace

std::string_view DifferenceName(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kMissing:
      return "only in the source";
    case DifferenceKind::kExtra:
      return "only in the target";
    case DifferenceKind::kDifferent:
      break;
  }
  return "different";
}

absl::StatusOr<Comparison> CompareTables(const Side& source, const Side& target,
                                         const std::vector<TableDefinition>& tables, int segments,
                                         const ComparisonOptions& options) {
  Comparison result;
  for (const TableDefinition& table : tables)
    ITEMDB_RETURN_IF_ERROR(TableComparison(source, target, table, segments, options).Run(&result));
  return result;
}

absl::StatusOr<Comparison> CompareKeys(const Side& source, const Side& target,
                                       const std::vector<TableKeys>& keys, int workers) {
  Comparison result;
  std::mutex mutex;
  for (const TableKeys& table : keys) {
    const size_t parts = (table.keys.size() + kKeysOfLook - 1) / kKeysOfLook;
    ITEMDB_RETURN_IF_ERROR(InParallel(workers, parts, [&](size_t part) -> absl::Status {
      const size_t begin = part * kKeysOfLook;
      const size_t end = std::min(begin + kKeysOfLook, table.keys.size());
      const std::vector<Item> looked(table.keys.begin() + static_cast<std::ptrdiff_t>(begin),
                                     table.keys.begin() + static_cast<std::ptrdiff_t>(end));
      ITEMDB_ASSIGN_OR_RETURN(const auto here, source.GetItems(table.table_name, looked));
      ITEMDB_ASSIGN_OR_RETURN(const auto there, target.GetItems(table.table_name, looked));
      std::lock_guard<std::mutex> lock(mutex);
      for (size_t i = 0; i < looked.size(); ++i) {
        if (here[i].has_value()) ++result.items;
        if (here[i].has_value() == there[i].has_value() &&
            (!here[i].has_value() || DigestOf(*here[i]) == DigestOf(*there[i])))
          continue;
        const DifferenceKind kind = !there[i].has_value()  ? DifferenceKind::kMissing
                                    : !here[i].has_value() ? DifferenceKind::kExtra
                                                           : DifferenceKind::kDifferent;
        result.differences.push_back({.table_name = table.table_name, .key = looked[i], .kind = kind});
      }
      return absl::OkStatus();
    }));
  }
  return result;
}

std::vector<TableKeys> KeysOf(const std::vector<Difference>& differences) {
  std::map<std::string, std::vector<Item>> by_table;
  for (const Difference& difference : differences) by_table[difference.table_name].push_back(difference.key);
  std::vector<TableKeys> keys;
  for (auto& [name, of_table] : by_table) keys.push_back({.table_name = name, .keys = std::move(of_table)});
  return keys;
}

}  // namespace itemdb::tools
