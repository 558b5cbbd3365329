// Checks a SearchVectors request and turns it into what a search compares.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/wire/data.pb.h"
#include "storage/expressions/projection.h"
#include "storage/expressions/search_condition.h"
#include "storage/patterns/access_call.h"
#include "storage/store/read_view.h"

namespace itemdb::storage {

// A checked request.
struct PreparedSearch {
  // The state that is searched; null while the search waits for a copy of the index. A search may go on with
  // a later state.
  std::shared_ptr<const ReadView> view;
  std::shared_ptr<const Table> table;
  // Points into `table`.
  const Index* index = nullptr;
  // As many floats as the index has dimensions.
  std::vector<float> query;
  size_t top_k = 0;
  std::optional<SearchCondition> condition;
  // The encoded HASH value; empty if the index has no HASH attribute.
  std::string partition;
  // INLINE_FILTER attributes: which of the index's, and the value that they must have, which borrows from
  // `condition`.
  struct Filter {
    size_t number = 0;
    ValueView value;
  };
  std::vector<Filter> filters;
  std::optional<Projection> projection;
  bool wants_capacity = false;
  // Whether it has waited for a copy of the index.
  bool has_waited = false;
  // `call` borrows from it.
  std::shared_ptr<TablePatterns> patterns;
  AccessCall call;

  // For messages: "index ByVector of table Docs".
  std::string Owner() const { return "index " + index->name + " of table " + table->name; }
};

// INVALID_ARGUMENT: VEC-09, VEC-17, VEC-19, VEC-20, or as for Query. NOT_FOUND: no such table.
absl::StatusOr<PreparedSearch> PrepareSearch(std::shared_ptr<const ReadView> view,
                                             const wire::SearchVectorsRequest& request);

// Whether an entry has the values that the search asks of INLINE_FILTER attributes.
bool FitsFilters(const PreparedSearch& search, ItemView entry);

// Goes on with `view`, which is a later state than the search's. INVALID_ARGUMENT: the index is not there any
// more (VEC-09).
absl::Status MoveToView(std::shared_ptr<const ReadView> view, PreparedSearch* search);

}  // namespace itemdb::storage
