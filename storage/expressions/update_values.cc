#include "storage/expressions/update_values.h"

#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/expressions/compare.h"
#include "storage/expressions/path.h"
#include "storage/expressions/set_algebra.h"
#include "storage/values/canonical.h"
#include "storage/values/item_size.h"
#include "storage/values/number.h"

namespace itemdb::storage {
namespace {

absl::Status TooLarge() {
  return ValidationError("SEM-001", "Item size to update has exceeded the maximum allowed size");
}

// Checks that `value`, which is `depth` steps down in the item, stays within kMaxDepth levels.
absl::Status CheckDepth(ValueView value, size_t depth) {
  if (static_cast<int>(depth) - 1 + DepthOf(value) <= kMaxDepth) return absl::OkStatus();
  // The service's text is that of an item that is too deep. The rule tells this error from those of values in
  // the request (SEM-115).
  return WithServiceText(
      kTooDeepMessage,
      ValidationError("EXP-26",
                      "Nesting Levels have exceeded supported limits: attributes may nest at most " +
                          std::to_string(kMaxDepth) + " levels deep"));
}

}  // namespace

absl::Status UpdateValues::Compute() {
  const std::vector<ActionSyntax>& actions = binding_.tree().actions;
  edits_.reserve(actions.size());
  for (const ActionSyntax& action : actions) {
    ITEMDB_ASSIGN_OR_RETURN(PathEdit edit, ComputeAction(action));
    edits_.push_back(edit);
    if (edit.kind != PathEdit::Kind::kSet) continue;
    value_bytes_ += edit.value.size();
    Path path = binding_.path(action.path);
    // At the top level a value is not deeper than at the place where it was read.
    if (path.size() > 1) ITEMDB_RETURN_IF_ERROR(CheckDepth(ValueView(edit.value), path.size()));
  }
  return CheckTotalSize();
}

// All new values will be in the item, so the sum of their sizes is a lower bound of the item's size. A path
// may be copied to a thousand others, so this is checked before anything is written.
absl::Status UpdateValues::CheckTotalSize() const {
  // The size of a value is at most one byte more than its encoding.
  if (value_bytes_ + edits_.size() <= kMaxItemBytes) return absl::OkStatus();
  size_t counted = 0;
  for (const PathEdit& edit : edits_) {
    if (edit.kind != PathEdit::Kind::kSet) continue;
    counted += ValueSizeBytes(ValueView(edit.value));
    if (counted > kMaxItemBytes) return TooLarge();
  }
  return absl::OkStatus();
}

absl::Status UpdateValues::WrongOperandType(std::string_view rule) const {
  return ValidationError(rule, type_mismatch_);
}

absl::StatusOr<PathEdit> UpdateValues::ComputeAction(const ActionSyntax& action) {
  switch (action.kind) {
    case UpdateActionKind::kSet: {
      ITEMDB_ASSIGN_OR_RETURN(ValueView value, Evaluate(action.operand));
      return PathEdit{PathEdit::Kind::kSet, value.encoded()};
    }
    case UpdateActionKind::kRemove:
      return PathEdit{PathEdit::Kind::kRemove, {}};
    case UpdateActionKind::kAdd:
      return ComputeAdd(action);
    case UpdateActionKind::kDelete:
      return ComputeDelete(action);
  }
  return PathEdit{};
}

absl::StatusOr<PathEdit> UpdateValues::ComputeAdd(const ActionSyntax& action) {
  ValueView added = binding_.value(binding_.operand(action.operand).first);
  std::optional<ValueView> old = FindPath(item_, binding_.path(action.path));
  if (!old) return PathEdit{PathEdit::Kind::kSet, added.encoded()};
  if (old->type() != added.type()) return WrongOperandType("EXP-28");
  if (added.type() == ValueType::kN) {
    ITEMDB_ASSIGN_OR_RETURN(ValueView sum, SumOf(*old, added, /*subtract=*/false));
    return PathEdit{PathEdit::Kind::kSet, sum.encoded()};
  }
  std::string members = SetUnion(added.type(), SetView(old->payload()), SetView(added.payload()));
  return PathEdit{PathEdit::Kind::kSet, Keep(EncodeValue(added.type(), members)).encoded()};
}

absl::StatusOr<PathEdit> UpdateValues::ComputeDelete(const ActionSyntax& action) {
  ValueView deleted = binding_.value(binding_.operand(action.operand).first);
  std::optional<ValueView> old = FindPath(item_, binding_.path(action.path));
  if (!old) return PathEdit{};
  if (old->type() != deleted.type()) return WrongOperandType("EXP-29");
  std::string members = SetDifference(deleted.type(), SetView(old->payload()), SetView(deleted.payload()));
  if (members.empty()) return PathEdit{PathEdit::Kind::kRemove, {}};
  return PathEdit{PathEdit::Kind::kSet, Keep(EncodeValue(deleted.type(), members)).encoded()};
}

// Recursion of this and the following functions is bounded by the parser's nesting.
absl::StatusOr<ValueView> UpdateValues::Evaluate(uint32_t position) {
  const OperandSyntax& operand = binding_.operand(Resolve(position));
  switch (operand.kind) {
    case OperandKind::kPath: {
      std::optional<ValueView> value = FindPath(item_, binding_.path(operand.first));
      if (value) return *value;
      return DetailedError("EXP-30",
                           "The provided expression refers to an attribute that does not exist in the item",
                           ": " + DescribePath(binding_.path(operand.first)));
    }
    case OperandKind::kListAppend: {
      std::string elements;
      size_t counted_bytes = 0;
      ITEMDB_RETURN_IF_ERROR(AppendElements(operand.first, &elements, &counted_bytes));
      ITEMDB_RETURN_IF_ERROR(AppendElements(operand.second, &elements, &counted_bytes));
      return Keep(EncodeValue(ValueType::kL, elements));
    }
    case OperandKind::kPlus:
    case OperandKind::kMinus: {
      ITEMDB_ASSIGN_OR_RETURN(ValueView left, Evaluate(operand.first));
      ITEMDB_ASSIGN_OR_RETURN(ValueView right, Evaluate(operand.second));
      return SumOf(left, right, operand.kind == OperandKind::kMinus);
    }
    default:
      return binding_.value(operand.first);
  }
}

uint32_t UpdateValues::Resolve(uint32_t position) const {
  for (;;) {
    const OperandSyntax& operand = binding_.operand(position);
    if (operand.kind != OperandKind::kIfNotExists) return position;
    bool exists = FindPath(item_, binding_.path(binding_.operand(operand.first).first)).has_value();
    position = exists ? operand.first : operand.second;
  }
}

absl::Status UpdateValues::AppendElements(uint32_t position, std::string* elements, size_t* counted_bytes) {
  position = Resolve(position);
  const OperandSyntax& operand = binding_.operand(position);
  if (operand.kind == OperandKind::kListAppend) {
    ITEMDB_RETURN_IF_ERROR(AppendElements(operand.first, elements, counted_bytes));
    return AppendElements(operand.second, elements, counted_bytes);
  }
  ITEMDB_ASSIGN_OR_RETURN(ValueView list, Evaluate(position));
  if (list.type() != ValueType::kL) return WrongOperandType("EXP-10");
  *counted_bytes += ValueSizeBytes(list);
  // The size of each part includes 3 bytes that the result does not have. The bound allows for them: this
  // check may refuse a list late, but never too early.
  if (*counted_bytes > kMaxItemBytes + 3 * kMaxExpressionBytes) return TooLarge();
  elements->append(list.payload());
  return absl::OkStatus();
}

absl::StatusOr<ValueView> UpdateValues::SumOf(ValueView left, ValueView right, bool subtract) {
  if (left.type() != ValueType::kN || right.type() != ValueType::kN) return WrongOperandType("EXP-30");
  ITEMDB_ASSIGN_OR_RETURN(Number a, Number::Parse(left.payload()));
  ITEMDB_ASSIGN_OR_RETURN(Number b, Number::Parse(right.payload()));
  absl::StatusOr<Number> result = subtract ? Number::Subtract(a, b) : Number::Add(a, b);
  // The rule tells these errors from those of numbers in the request, which have another text (SEM-115).
  absl::Status refused = result.ok() ? absl::OkStatus() : WithRule("EXP-30", result.status());
  // The service calls a result of more than 38 digits an overflow too.
  if (MessageOf(refused) == kTooManyDigits) return WithServiceText(kNumberOverflow, std::move(refused));
  ITEMDB_RETURN_IF_ERROR(refused);
  return Keep(EncodeValue(ValueType::kN, result->ToString()));
}

ValueView UpdateValues::Keep(std::string encoded) {
  return ValueView(computed_.emplace_back(std::move(encoded)));
}

}  // namespace itemdb::storage
