// Document paths with their placeholders resolved, and trees of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/values/value_view.h"

namespace itemdb::storage {

// One step of a path: an attribute name or a list index. The name is borrowed.
struct PathStep {
  static constexpr uint32_t kNoIndex = UINT32_MAX;
  std::string_view name;
  uint32_t index = kNoIndex;

  bool is_index() const { return index != kNoIndex; }
  bool operator==(const PathStep&) const = default;
};

// The first step is a name.
using Path = std::span<const PathStep>;

// The value at `path`, if the item has it. Borrows from the item.
std::optional<ValueView> FindPath(ItemView item, Path path);

// Whether `a` and `b` are the same path.
bool SamePath(Path a, Path b);

// Returns a path as messages show it: "[a, b, [1]]".
std::string DescribePath(Path path);

// Paths merged into a tree, so that one pass over an item meets all. No path leads to or through another.
class PathTree {
 public:
  static constexpr int kNoLeaf = -1;

  struct Node {
    PathStep step;
    // Number of the path that ends here. kNoLeaf: no path ends here, and there are children.
    int leaf = kNoLeaf;
    // One of the paths through this node; for messages.
    Path path;
    // All names or all indexes, in ascending order.
    std::vector<Node> children;

    bool is_leaf() const { return leaf != kNoLeaf; }
  };

  // Adds a path, which is borrowed as long as the tree exists. INVALID_ARGUMENT (EXP-24): it overlaps another
  // path (one leads to or through the other), or conflicts with it (the same value would be both a list and a
  // map).
  absl::Status Insert(std::string_view expression_name, Path path, int leaf);

  // The children of the root: top-level attributes in ascending order.
  const std::vector<Node>& roots() const { return root_.children; }

  // The names of the roots.
  std::vector<std::string> TopLevelAttributes() const;

 private:
  Node root_;
};

// Appends the parts of `item` that the paths name to `*out`, encoded and canonical. Maps keep the path to
// each part; lists keep only the named elements, in their order, without gaps (EXP-34).
void ProjectItem(const PathTree& tree, ItemView item, std::string* out);

}  // namespace itemdb::storage
