// Checks Query and Scan requests and turns each into a range of encoded keys.
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

namespace itemdb::storage {

// A page to be read. Immutable except for `range`, which shrinks while the page is read.
struct PreparedPage {
  std::shared_ptr<const ReadView> view;
  std::shared_ptr<const Table> table;
  // The index that is read, which belongs to `table`; null when the table itself is read.
  const Index* index = nullptr;
  // The part that is not read yet.
  KeyRange range;
  // Whether all keys of the range have the same first key value, so that prefix bloom filters apply.
  bool one_collection = false;
  bool forward = true;
  // The request has no ExclusiveStartKey.
  bool is_first = true;
  // Maximum number of items to evaluate.
  int64_t limit = INT64_MAX;
  std::optional<Condition> filter;
  std::optional<Projection> projection;
  // True when the request needs attributes that a local index does not hold. Then the item of each entry is
  // fetched from the table, and filter and projection are applied to the item. With `whole_items` the page
  // returns the fetched items instead of the entries (SEM-036).
  bool fetch_items = false;
  bool whole_items = false;
  // The reply has only the number of items. With `count_all` one page counts the whole range.
  bool count_only = false;
  bool count_all = false;
  bool consistent_read = false;
  // Records that cannot be read are skipped, and the reply says where.
  bool skip_damage = false;
  CapacityMeter capacity;
  AccessCall call;
  // Present if the request asks for it: the part of the plan that is known before the page is read.
  std::optional<v1::ReadPlan> plan;

  Keyspace keyspace() const {
    return index != nullptr ? EntriesOf(*view->store(), *index) : ItemsOf(*view->store(), *table);
  }
  // The key attributes of the table or index that is read.
  const std::vector<KeyAttribute>& partition() const {
    return index != nullptr ? index->partition : table->partition;
  }
  const std::vector<KeyAttribute>& sort() const { return index != nullptr ? index->sort : table->sort; }
  uint64_t storage_id() const { return index != nullptr ? index->storage_id : table->storage_id; }
  // For messages: "table Order" or "index OpenOrders of table Order".
  std::string Owner() const;
};

enum class PageOperation { kQuery, kScan };

// The index called `index_name`; null if the name is empty. INVALID_ARGUMENT: the table has no such index
// (SEM-039), the index is still being backfilled (SEM-097), or it is a vector index (VEC-22).
absl::StatusOr<const Index*> FindIndex(const Table& table, const std::string& index_name,
                                       PageOperation operation = PageOperation::kScan);

// Whether ConsistentRead of a global index is accepted or refused. DynamoDB refuses it (SEM-038), but every
// read of this database is consistent.
enum class ConsistentIndexReads { kAccepted, kRefused };

// The compiled expressions, or legacy parameters, of a request.
struct PageExpressions {
  // Present for a Query, absent for a Scan.
  std::optional<KeyCondition> key_condition;
  std::optional<Condition> filter;
  std::optional<Projection> projection;
};

// Checks `request`. NOT_FOUND: no such table. INVALID_ARGUMENT: no such index, or any other mistake.
absl::StatusOr<PreparedPage> PreparePage(PageOperation operation, std::shared_ptr<const ReadView> view,
                                         const wire::PageRequest& request,
                                         ConsistentIndexReads consistent_index_reads);
// The same, but with `expressions` instead of those in the request. Their filter may also name key
// attributes. The request must not be a parallel scan.
absl::StatusOr<PreparedPage> PreparePage(std::shared_ptr<const ReadView> view,
                                         const wire::PageRequest& request, PageExpressions expressions);

// For a request with total_segments: narrows the page to the range of the segment, after the request's
// ExclusiveStartKey if there is one. INVALID_ARGUMENT: that key is outside the segment.
absl::Status RestrictToSegment(KeyRange segment, const wire::PageRequest& request, PreparedPage* page);

// The LastEvaluatedKey of a page, from which the next page starts: the key attributes of the table and of the
// index that was read (SEM-032, SEM-085). `item` is the last item or entry of the page.
std::string EncodeLastEvaluatedKey(const PreparedPage& page, ItemView item);

}  // namespace itemdb::storage
