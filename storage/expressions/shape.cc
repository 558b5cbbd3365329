#include "storage/expressions/shape.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "storage/base/limits.h"
#include "storage/base/xxh3.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kCut = "...";

// Whether `name` needs no quotes: a plain word that is not an operator.
bool IsPlain(std::string_view name) {
  const auto is_word = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0])) ||
      !std::all_of(name.begin(), name.end(), is_word))
    return false;
  if (name.size() > std::string_view("BETWEEN").size()) return true;
  for (absl::string_view word : {"AND", "OR", "NOT", "IN", "BETWEEN"}) {
    if (absl::EqualsIgnoreCase({name.data(), name.size()}, word)) return false;
  }
  return true;
}

// Writes a shape into a buffer without allocating, because every call needs it and few calls store it.
class ShapeWriter {
 public:
  // A piece that does not fit ends the shape.
  void Add(std::string_view piece) {
    if (cut_) return;
    cut_ = piece.size() > kMaxShapeBytes - size_;
    if (cut_) piece = kCut;
    std::memcpy(text_.data() + size_, piece.data(), piece.size());
    size_ += piece.size();
  }

  void AddName(std::string_view name) {
    if (IsPlain(name)) return Add(name);
    std::string quoted;
    for (char c : name) quoted.append(c == '"' ? 2 : 1, c);
    Add("\"");
    Add(quoted);
    Add("\"");
  }

  // Recursion is bounded by the parser's nesting.
  void AddCondition(const Binding& binding, uint32_t position) {
    const ConditionSyntax& condition = binding.tree().conditions[position];
    const auto link = [&](uint32_t i) { return binding.tree().links[condition.first + i]; };
    switch (condition.kind) {
      case ConditionKind::kAnd:
      case ConditionKind::kOr:
        for (uint32_t i = 0; i < condition.count; ++i) {
          if (i > 0) Add(condition.kind == ConditionKind::kAnd ? " AND " : " OR ");
          AddTerm(binding, link(i), condition.kind);
        }
        return;
      case ConditionKind::kNot:
        Add("NOT ");
        return AddTerm(binding, link(0), condition.kind);
      case ConditionKind::kBetween:
        AddOperand(binding, link(0));
        Add(" BETWEEN ");
        AddOperand(binding, link(1));
        Add(" AND ");
        return AddOperand(binding, link(2));
      case ConditionKind::kIn:
        return AddIn(binding, condition);
      case ConditionKind::kEqual:
      case ConditionKind::kNotEqual:
      case ConditionKind::kLess:
      case ConditionKind::kLessEqual:
      case ConditionKind::kGreater:
      case ConditionKind::kGreaterEqual:
        AddOperand(binding, link(0));
        AddOperator(condition.kind);
        return AddOperand(binding, link(1));
      default:
        break;
    }
    Add(ConditionName(condition.kind));
    Add("(");
    for (uint32_t i = 0; i < condition.count; ++i) {
      if (i > 0) Add(", ");
      AddOperand(binding, link(i));
    }
    Add(")");
  }

  void AddOperator(ConditionKind kind) {
    Add(" ");
    Add(ConditionName(kind));
    Add(" ");
  }

  // Valid as long as this.
  std::string_view text() const { return std::string_view(text_.data(), size_); }

 private:
  // Adds a condition that `outer` joins or negates, in parentheses where it needs them.
  void AddTerm(const Binding& binding, uint32_t position, ConditionKind outer) {
    const ConditionKind inner = binding.tree().conditions[position].kind;
    const bool in_parentheses = (inner == ConditionKind::kOr && outer != ConditionKind::kOr) ||
                                (inner == ConditionKind::kAnd && outer == ConditionKind::kNot);
    if (in_parentheses) Add("(");
    AddCondition(binding, position);
    if (in_parentheses) Add(")");
  }

  void AddIn(const Binding& binding, const ConditionSyntax& condition) {
    AddOperand(binding, binding.tree().links[condition.first]);
    Add(" IN (");
    bool value_seen = false;
    bool first = true;
    for (uint32_t i = 1; i < condition.count; ++i) {
      const uint32_t position = binding.tree().links[condition.first + i];
      const bool is_value = binding.operand(position).kind == OperandKind::kValue;
      if (is_value && std::exchange(value_seen, true)) continue;
      if (!std::exchange(first, false)) Add(", ");
      AddOperand(binding, position);
    }
    Add(")");
  }

  // Adds an operand of a condition: a path, a value, or the size of one.
  void AddOperand(const Binding& binding, uint32_t position) {
    const OperandSyntax& operand = binding.operand(position);
    switch (operand.kind) {
      case OperandKind::kPath:
        return AddPath(binding.path(operand.first));
      case OperandKind::kValue:
        return Add("?");
      default:
        Add("size(");
        AddOperand(binding, operand.first);
        Add(")");
    }
  }

  void AddPath(Path path) {
    for (size_t i = 0; i < path.size(); ++i) {
      if (path[i].is_index()) {
        Add("[");
        Add(std::to_string(path[i].index));
        Add("]");
      } else {
        if (i > 0) Add(".");
        AddName(path[i].name);
      }
    }
  }

  // Not initialized, because most of it is never used.
  std::array<char, kMaxShapeBytes + kCut.size()> text_;
  size_t size_ = 0;
  bool cut_ = false;
};

}  // namespace

std::string ConditionShape(const Binding& binding) {
  ShapeWriter writer;
  writer.AddCondition(binding, binding.tree().root);
  return std::string(writer.text());
}

uint64_t ConditionShapeHash(const Binding& binding) {
  ShapeWriter writer;
  writer.AddCondition(binding, binding.tree().root);
  const std::string_view text = writer.text();
  return std::max<uint64_t>(XXH3_64bits(text.data(), text.size()), 1);
}

std::string KeyConditionText(const std::vector<KeyAttribute>& partition,
                             const std::vector<KeyAttribute>& sort, KeyConditionShape shape) {
  ShapeWriter writer;
  for (size_t i = 0; i < partition.size(); ++i) {
    if (i > 0) writer.Add(" AND ");
    writer.AddName(partition[i].name);
    writer.Add(" = ?");
  }
  for (size_t i = 0; i < shape.sort_attributes; ++i) {
    writer.Add(" AND ");
    const ConditionKind kind = i + 1 == shape.sort_attributes ? shape.last : ConditionKind::kEqual;
    if (kind == ConditionKind::kBeginsWith) {
      writer.Add("begins_with(");
      writer.AddName(sort[i].name);
      writer.Add(", ?)");
    } else {
      writer.AddName(sort[i].name);
      writer.AddOperator(kind);
      writer.Add(kind == ConditionKind::kBetween ? "? AND ?" : "?");
    }
  }
  return std::string(writer.text());
}

}  // namespace itemdb::storage
