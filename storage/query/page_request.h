// Query and Scan requests, checked and turned into a range of encoded keys.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/wire/data.pb.h"
#include "storage/catalog/capacity.h"
#include "storage/expressions/condition.h"
#include "storage/expressions/key_condition.h"
#include "storage/expressions/projection.h"
#include "storage/keys/key_range.h"
#include "storage/patterns/access_call.h"
#include "storage/store/keyspace.h"
#include "storage/store/read_view.h"

namespace itemdb {

// A page to be read. Immutable but for `range`, which shrinks as the page advances.
struct PreparedPage {
  std::shared_ptr<const ReadView> view;
  std::shared_ptr<const Table> table;
  // Null when the table itself is read; otherwise one of `table`'s.
  const Index* index = nullptr;
  // What is left to read.
  KeyRange range;
  // Whether every key of the range starts with the same first key value, so that prefix bloom filters apply.
  bool one_collection = false;
  bool forward = true;
  // The request has no ExclusiveStartKey.
  bool is_first = true;
  // Items to evaluate at most.
  int64_t limit = INT64_MAX;
  std::optional<Condition> filter;
  std::optional<Projection> projection;
  // The request asks for what the entries of a local index do not hold: each entry's item is fetched from the
  // table; filter and projection look at that, and with `whole_items` it is what the page shows (SEM-036).
  bool fetch_items = false;
  bool whole_items = false;
  // No items in the reply, only their number; and, with `count_all`, of the whole range and not of one page.
  bool count_only = false;
  bool count_all = false;
  bool consistent_read = false;
  CapacityMeter capacity;
  AccessCall call;
  // When asked for: what is known of it before the page is read.
  std::optional<v1::ReadPlan> plan;

  Keyspace keyspace() const {
    return index != nullptr ? EntriesOf(*view->store(), *index) : ItemsOf(*view->store(), *table);
  }
  uint64_t storage_id() const { return index != nullptr ? index->storage_id : table->storage_id; }
  // "table Order", "index OpenOrders of table Order".
  std::string Owner() const;
};

// The index of that name; null for the empty name. INVALID_ARGUMENT: there is none (SEM-039).
absl::StatusOr<const Index*> FindIndex(const Table& table, const std::string& index_name);

enum class PageOperation { kQuery, kScan };

// SEM-038: every read is consistent, so ConsistentRead of a global index can be taken as well as refused.
enum class ConsistentIndexReads { kTaken, kRefused };

// What a request says in expressions or in the legacy parameters, compiled.
struct PageExpressions {
  // Of a Query, and only then.
  std::optional<KeyCondition> key_condition;
  std::optional<Condition> filter;
  std::optional<Projection> projection;
};

// NOT_FOUND: no such table. INVALID_ARGUMENT: no such index, or anything else that is wrong with the request.
absl::StatusOr<PreparedPage> PreparePage(PageOperation operation, std::shared_ptr<const ReadView> view,
                                         const wire::PageRequest& request,
                                         ConsistentIndexReads consistent_index_reads);
// The same with `expressions` in place of the request's, whose filter may name any attribute. The request is
// no parallel scan.
absl::StatusOr<PreparedPage> PreparePage(std::shared_ptr<const ReadView> view,
                                         const wire::PageRequest& request, PageExpressions expressions);

// Of a request with total_segments: narrows the page to the range of its segment, from the request's
// ExclusiveStartKey on. INVALID_ARGUMENT: that key is outside.
absl::Status RestrictToSegment(KeyRange segment, const wire::PageRequest& request, PreparedPage* page);

// The key that a page ends with and the next one starts from: the table's key attributes, and those of the
// index that was read (SEM-032, SEM-085). `item` is the last item or entry of the page.
std::string EncodeLastEvaluatedKey(const PreparedPage& page, ItemView item);

}  // namespace itemdb
