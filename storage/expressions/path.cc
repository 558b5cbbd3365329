#include "storage/expressions/path.h"

#include <algorithm>

#include "storage/expressions/grammar.h"
#include "storage/expressions/parser.h"

namespace itemdb::storage {
namespace {

using Nodes = std::vector<PathTree::Node>;

std::optional<ValueView> FindElement(ListView list, uint32_t index) {
  uint32_t position = 0;
  for (ValueView element : list) {
    if (position++ == index) return element;
  }
  return std::nullopt;
}

bool StepLess(const PathTree::Node& node, const PathStep& step) {
  return step.is_index() ? node.step.index < step.index : node.step.name < step.name;
}

void ProjectMap(const Nodes& nodes, ItemView map, std::string* out);
void ProjectList(const Nodes& nodes, ListView list, std::string* out);

// Returns the named parts of `value`, encoded, if it has any. Recursion is bounded by the length of a path.
std::optional<std::string> ProjectValue(const Nodes& nodes, ValueView value) {
  std::string parts;
  bool indexes = nodes.front().step.is_index();
  if (value.type() != (indexes ? ValueType::kL : ValueType::kM)) return std::nullopt;
  if (indexes) {
    ProjectList(nodes, ListView(value.payload()), &parts);
  } else {
    ProjectMap(nodes, ItemView(value.payload()), &parts);
  }
  if (parts.empty()) return std::nullopt;
  return EncodeValue(value.type(), parts);
}

void ProjectMap(const Nodes& nodes, ItemView map, std::string* out) {
  auto node = nodes.begin();
  for (const AttributeView& attribute : map) {
    while (node != nodes.end() && node->step.name < attribute.name) ++node;
    if (node == nodes.end()) return;
    if (node->step.name != attribute.name) continue;
    if (node->is_leaf()) {
      AppendAttribute(attribute.name, attribute.value.encoded(), out);
    } else if (std::optional<std::string> parts = ProjectValue(node->children, attribute.value)) {
      AppendAttribute(attribute.name, *parts, out);
    }
  }
}

void ProjectList(const Nodes& nodes, ListView list, std::string* out) {
  auto node = nodes.begin();
  uint32_t position = 0;
  for (ValueView element : list) {
    if (node->step.index == position++) {
      if (node->is_leaf()) {
        AppendListElement(element.encoded(), out);
      } else if (std::optional<std::string> parts = ProjectValue(node->children, element)) {
        AppendListElement(*parts, out);
      }
      if (++node == nodes.end()) return;
    }
  }
}

}  // namespace

std::optional<ValueView> FindPath(ItemView item, Path path) {
  std::optional<ValueView> value = item.Find(path[0].name);
  for (const PathStep& step : path.subspan(1)) {
    if (!value) return std::nullopt;
    if (value->type() != (step.is_index() ? ValueType::kL : ValueType::kM)) return std::nullopt;
    value = step.is_index() ? FindElement(ListView(value->payload()), step.index)
                            : ItemView(value->payload()).Find(step.name);
  }
  return value;
}

bool SamePath(Path a, Path b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

std::string DescribePath(Path path) {
  std::string result = "[";
  for (const PathStep& step : path) {
    if (result.size() > 1) result += ", ";
    result += step.is_index() ? Concat({"[", std::to_string(step.index), "]"}) : std::string(step.name);
  }
  return result + "]";
}

absl::Status PathTree::Insert(std::string_view expression_name, Path path, int leaf) {
  auto clash = [&](std::string_view verb, const Node& node) {
    return ExpressionError("EXP-24", expression_name,
                           Concat({"Two document paths ", verb,
                                   " with each other; must remove or rewrite one of these "
                                   "paths; path one: ",
                                   DescribePath(node.path), ", path two: ", DescribePath(path)}));
  };
  Node* node = &root_;
  for (const PathStep& step : path) {
    if (node->is_leaf()) return clash("overlap", *node);
    Nodes& children = node->children;
    if (!children.empty() && children.front().step.is_index() != step.is_index())
      return clash("conflict", children.front());
    auto child = std::lower_bound(children.begin(), children.end(), step, StepLess);
    if (child == children.end() || child->step != step) {
      child = children.insert(child, Node{step, kNoLeaf, path, {}});
    }
    node = &*child;
  }
  if (node->is_leaf() || !node->children.empty()) return clash("overlap", *node);
  node->leaf = leaf;
  return absl::OkStatus();
}

std::vector<std::string> PathTree::TopLevelAttributes() const {
  std::vector<std::string> names;
  names.reserve(roots().size());
  for (const Node& node : roots()) names.emplace_back(node.step.name);
  return names;
}

void ProjectItem(const PathTree& tree, ItemView item, std::string* out) {
  ProjectMap(tree.roots(), item, out);
}

}  // namespace itemdb::storage
