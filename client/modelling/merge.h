// Merges several sorted sequences of pages into one sorted sequence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "itemdb/client.h"

namespace itemdb {

// Fetches the page of one source after `exclusive_start_key`, or its first page. Called from different
// threads, never from two at once; must stay callable until the merged sequence is destroyed.
using FetchPage =
    absl::AnyInvocable<absl::StatusOr<ItemPage>(const std::optional<Item>& exclusive_start_key)>;

// The order of the merged sequences.
struct MergeOrder {
  // Compared one after another; values of type S, N and B compare as in keys. An item without the attribute
  // is less than an item with it.
  std::vector<std::string> attributes;
  bool descending = false;

  bool Before(const Item& a, const Item& b) const;
};

// All items of `sources` in the given order, in which each source must already be.
//
// Nothing is fetched before the first item is requested; then all first pages are fetched in parallel, one
// thread per source. The next page of a source is fetched once half of its page is used, so at most two pages
// per source are in memory. The first error of any source ends the sequence. The destructor waits for
// fetches.
ItemRange MergePages(std::vector<FetchPage> sources, MergeOrder order);

}  // namespace itemdb
