#include "storage/expressions/rewrite.h"

#include <vector>

#include "storage/base/service_text.h"

namespace itemdb::storage {
namespace {

using Nodes = std::vector<PathTree::Node>;

// Bytes of consecutive elements that are copied unchanged. Elements follow each other without gaps, and the
// value is the last part of an element, so an element ends where its value ends.
class UntouchedRun {
 public:
  explicit UntouchedRun(std::string_view encoded) : begin_(encoded.data()), end_(begin_) {}

  // Extends the run to the end of `element`.
  void Extend(ValueView element) { end_ = EndOf(element); }

  // Appends the run and starts a new one after `element`, the element that follows the run.
  void FlushBefore(ValueView element, std::string* out) {
    Flush(out);
    begin_ = end_ = EndOf(element);
  }

  // Appends the run.
  void Flush(std::string* out) {
    out->append(begin_, end_);
    begin_ = end_;
  }

 private:
  static const char* EndOf(ValueView element) { return element.encoded().data() + element.encoded().size(); }

  const char* begin_;
  const char* end_;
};

class Rewriter {
 public:
  Rewriter(std::span<const PathEdit> edits, bool parents_optional)
      : edits_(edits), parents_optional_(parents_optional) {}

  absl::Status RewriteMap(const Nodes& nodes, ItemView map, std::string* out) const {
    UntouchedRun untouched(map.encoded());
    auto node = nodes.begin();
    for (const AttributeView& attribute : map) {
      for (; node != nodes.end() && node->step.name < attribute.name; ++node) {
        untouched.Flush(out);
        ITEMDB_RETURN_IF_ERROR(Create(*node, out));
      }
      if (node == nodes.end() || node->step.name != attribute.name) {
        untouched.Extend(attribute.value);
        continue;
      }
      untouched.FlushBefore(attribute.value, out);
      ITEMDB_RETURN_IF_ERROR(Replace(*node, attribute.value, out));
      ++node;
    }
    untouched.Flush(out);
    for (; node != nodes.end(); ++node) ITEMDB_RETURN_IF_ERROR(Create(*node, out));
    return absl::OkStatus();
  }

  absl::Status RewriteList(const Nodes& nodes, ListView list, std::string* out) const {
    UntouchedRun untouched(list.encoded());
    auto node = nodes.begin();
    uint32_t position = 0;
    for (ValueView element : list) {
      if (node == nodes.end() || node->step.index != position++) {
        untouched.Extend(element);
        continue;
      }
      untouched.FlushBefore(element, out);
      ITEMDB_RETURN_IF_ERROR(Replace(*node, element, out));
      ++node;
    }
    untouched.Flush(out);
    for (; node != nodes.end(); ++node) ITEMDB_RETURN_IF_ERROR(Create(*node, out));
    return absl::OkStatus();
  }

 private:
  // Appends the new value of the node, whose old value is `old`.
  absl::Status Replace(const PathTree::Node& node, ValueView old, std::string* out) const {
    if (node.is_leaf()) {
      const PathEdit& edit = edits_[node.leaf];
      if (edit.kind == PathEdit::Kind::kSet) Append(node.step, edit.value, out);
      if (edit.kind == PathEdit::Kind::kKeep) Append(node.step, old.encoded(), out);
      return absl::OkStatus();
    }
    bool indexes = node.children.front().step.is_index();
    if (old.type() != (indexes ? ValueType::kL : ValueType::kM)) return InvalidPath(node);
    std::string contents;
    contents.reserve(old.payload().size());
    ITEMDB_RETURN_IF_ERROR(indexes ? RewriteList(node.children, ListView(old.payload()), &contents)
                                   : RewriteMap(node.children, ItemView(old.payload()), &contents));
    Append(node.step, EncodeValue(old.type(), contents), out);
    return absl::OkStatus();
  }

  // Appends the new value of the node where the item has no value.
  absl::Status Create(const PathTree::Node& node, std::string* out) const {
    if (!node.is_leaf()) return MayMiss(node) ? absl::OkStatus() : InvalidPath(node);
    const PathEdit& edit = edits_[node.leaf];
    if (edit.kind == PathEdit::Kind::kSet) Append(node.step, edit.value, out);
    return absl::OkStatus();
  }

  // Whether the missing value at `node` is allowed: no path below sets a value.
  bool MayMiss(const PathTree::Node& node) const {
    if (!parents_optional_) return false;
    if (node.is_leaf()) return edits_[node.leaf].kind != PathEdit::Kind::kSet;
    for (const PathTree::Node& child : node.children) {
      if (!MayMiss(child)) return false;
    }
    return true;
  }

  static void Append(const PathStep& step, std::string_view encoded_value, std::string* out) {
    if (step.is_index()) {
      AppendListElement(encoded_value, out);
    } else {
      AppendAttribute(step.name, encoded_value, out);
    }
  }

  static absl::Status InvalidPath(const PathTree::Node& node) {
    return DetailedError("EXP-26",
                         "The document path provided in the update expression is invalid for update",
                         ": " + DescribePath(node.path));
  }

  const std::span<const PathEdit> edits_;
  const bool parents_optional_;
};

}  // namespace

absl::Status RewriteItem(const PathTree& paths, std::span<const PathEdit> edits, ItemView item,
                         bool parents_optional, std::string* out) {
  return Rewriter(edits, parents_optional).RewriteMap(paths.roots(), item, out);
}

}  // namespace itemdb::storage
