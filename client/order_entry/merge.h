// Several paged sequences, each in order, as one sequence in order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "itemdb/client.h"

namespace itemdb::order_entry {

// Fetches the page of one source that begins after `exclusive_start_key`, or its first page. Is called from
// changing threads, never twice at once; must stay callable until the merged sequence is gone.
using FetchPage =
    absl::AnyInvocable<absl::StatusOr<ItemPage>(const std::optional<Item>& exclusive_start_key)>;

// All items of `sources` in ascending order of the string attributes `order_by`, compared one after another;
// each source must already be in that order. An item without such an attribute sorts first.
//
// Nothing is fetched before the first item is asked for; then all first pages are fetched in parallel, one
// thread per source. The next page of a source is fetched ahead once half of its page is used, so at most two
// pages per source are held, and stopping early costs little. The first error of any source ends the
// sequence. Destruction waits for fetches under way.
ItemRange MergePages(std::vector<FetchPage> sources, std::vector<std::string> order_by);

}  // namespace itemdb::order_entry
