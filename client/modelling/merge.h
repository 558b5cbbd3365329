// Several paged sequences, each in order, as one sequence in order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "itemdb/client.h"

namespace itemdb {
inline namespace client {

// Fetches the page of one source that begins after `exclusive_start_key`, or its first page. Is called from
// changing threads, never twice at once; must stay callable until the merged sequence is gone.
using FetchPage =
    absl::AnyInvocable<absl::StatusOr<ItemPage>(const std::optional<Item>& exclusive_start_key)>;

// What merged sequences are in the order of.
struct MergeOrder {
  // Compared one after another, values of type S, N and B as in keys. An item without such an attribute, is
  // less than one that has it.
  std::vector<std::string> attributes;
  bool descending = false;

  bool Before(const Item& a, const Item& b) const;
};

// All items of `sources` in that order, in which each source must already be.
//
// Nothing is fetched before the first item is asked for; then all first pages are fetched in parallel, one
// thread per source. The next page of a source is fetched ahead once half of its page is used, so at most two
// pages per source are held, and stopping early costs little. The first error of any source ends the
// sequence. Destruction waits for fetches under way.
ItemRange MergePages(std::vector<FetchPage> sources, MergeOrder order);

}  // namespace client
}  // namespace itemdb
