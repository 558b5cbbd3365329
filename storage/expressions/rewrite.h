// Rewrites an item: makes the new bytes from the old bytes and the edit of each path that an update names.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "storage/base/status.h"
#include "storage/expressions/path.h"
#include "storage/values/value_view.h"

namespace itemdb::storage {

// What an update does with the value at a path.
struct PathEdit {
  enum class Kind : uint8_t { kKeep, kSet, kRemove };
  Kind kind = Kind::kKeep;
  // kSet: the new encoded value; borrowed.
  std::string_view value;
};

// Appends `item` with the edits applied to `*out`, encoded and canonical. `edits` are indexed by
// PathTree::Node::leaf.
//
// One pass merges attributes and list elements with the sorted paths, and copies everything that no path
// touches. List indexes count the elements of `item`: values set past the end are appended in the order of
// their indexes; removing past the end is ignored (EXP-25). With `parents_optional`, a path with kKeep or
// kRemove whose parent is missing is ignored as well (EXP-27 on a missing item).
//
// INVALID_ARGUMENT: the parent of a path is missing or is not the list or map that the path needs (EXP-26).
// `*out` is then unspecified.
absl::Status RewriteItem(const PathTree& paths, std::span<const PathEdit> edits, ItemView item,
                         bool parents_optional, std::string* out);

}  // namespace itemdb::storage
