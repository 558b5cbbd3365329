// Counting the keys that requests use, in tables and indexes whose contributor insights are on (OP-56).
//
// The key is an encoded primary key, or one of an index entry, of which the part behind the index's own key
// attributes is ignored. Without contributor insights nothing is done.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/catalog/table.h"

namespace itemdb::storage {

// Counts `units` of capacity.
void CountUsedKey(const Table& table, std::string_view key, double units);
void CountUsedKey(const Index& index, std::string_view key, double units);
// Counts a request that was refused with `status`, if that says that too many requests wait.
void CountRefusedKey(const Table& table, std::string_view key, const absl::Status& status);
// The same for a Query, of which only the partition key is counted: `key` begins with it. `index` is the
// index that is read, or null. A query of a local index counts for its table, which has the same partition
// key. (A Scan names no key, so a refused one is not counted.)
void CountRefusedQuery(const Table& table, const Index* index, std::string_view key,
                       const absl::Status& status);

// The keys that a page reads, each with its share of the page's units. Keys are kept until the units are
// known, because they are rounded up once for all.
class PageKeys {
 public:
  // Of the table itself if `index` is null.
  PageKeys(const Table& table, const Index* index, bool consistent)
      : table_(table), index_(index), consistent_(consistent) {}

  bool wanted() const { return (index_ == nullptr ? table_.counted_keys : index_->counted_keys) != nullptr; }
  // Only if wanted(). `bytes`: by which the item or entry counts.
  void Add(std::string_view key, size_t bytes);
  // `units` of the whole page.
  void Finish(double units);

 private:
  void Count(double units_of_byte);

  const Table& table_;
  const Index* index_;
  const bool consistent_;
  std::vector<std::pair<std::string, size_t>> keys_;
  size_t bytes_ = 0;
  double counted_units_ = 0;
};

}  // namespace itemdb::storage
