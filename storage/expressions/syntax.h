// The syntax tree of an expression.
//
// A tree depends only on the expression's text: placeholders are slots, which Binding fills for each request.
// So requests share trees (parse_cache.h). Nodes are in flat vectors and refer to each other by position, so
// a tree has few allocations and is destroyed without recursion.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace itemdb::storage {

// One step of a document path: `name`, `#alias` or `[index]`.
struct SegmentSyntax {
  enum class Kind : uint8_t { kName, kAlias, kIndex };
  Kind kind = Kind::kName;
  // kAlias: slot in Tree::aliases. kIndex: the list index.
  uint32_t number = 0;
  // kName; borrows from Tree::text.
  std::string_view name;
};

// A document path: `count` segments of Tree::segments from `first` on; the first is a name or an alias.
struct PathSyntax {
  uint32_t first = 0;
  uint32_t count = 0;
};

enum class OperandKind : uint8_t {
  kPath,         // first: position in Tree::paths
  kValue,        // first: slot in Tree::values
  kSize,         // first: operand (a path or value)
  kIfNotExists,  // first: operand (a path), second: operand
  kListAppend,   // first, second: operands
  kPlus,
  kMinus,
};

struct OperandSyntax {
  OperandKind kind = OperandKind::kPath;
  uint32_t first = 0;
  uint32_t second = 0;
};

enum class ConditionKind : uint8_t {
  // Two operands.
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  // Three operands: the tested one, lower bound, upper bound.
  kBetween,
  // The tested operand, then 1 to kMaxInOperands others.
  kIn,
  // Functions: one operand, a path.
  kAttributeExists,
  kAttributeNotExists,
  // Functions: two operands.
  kAttributeType,
  kBeginsWith,
  kContains,
  // Two or more conditions; chains are flat.
  kAnd,
  kOr,
  // One condition.
  kNot,
};

// The name of the operator or function in messages.
std::string_view ConditionName(ConditionKind kind);

// A condition: its operands or conditions are `count` entries of Tree::links from `first` on.
struct ConditionSyntax {
  ConditionKind kind = ConditionKind::kEqual;
  uint32_t first = 0;
  uint32_t count = 0;
};

enum class UpdateActionKind : uint8_t { kSet, kRemove, kAdd, kDelete };

// One action of an update expression. `operand` is not used by kRemove.
struct ActionSyntax {
  UpdateActionKind kind = UpdateActionKind::kSet;
  uint32_t path = 0;
  uint32_t operand = 0;
};

// Immutable once parsed; neither copied nor moved, because views borrow from `text`.
struct Tree {
  explicit Tree(std::string_view expression) : text(expression) {}
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  const std::string text;
  // The distinct placeholder tokens, in order of first use; borrow from `text`.
  std::vector<std::string_view> aliases;
  std::vector<std::string_view> values;
  std::vector<SegmentSyntax> segments;
  // Every path, in textual order. In a projection expression the paths are the whole result.
  std::vector<PathSyntax> paths;
  std::vector<OperandSyntax> operands;
  std::vector<ConditionSyntax> conditions;
  // Operands or conditions of conditions.
  std::vector<uint32_t> links;
  // Condition: the outermost one.
  uint32_t root = 0;
  // Update: the actions, in textual order.
  std::vector<ActionSyntax> actions;
};

}  // namespace itemdb::storage
