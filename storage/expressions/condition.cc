#include "storage/expressions/condition.h"

#include <algorithm>
#include <array>

#include "storage/expressions/binding.h"
#include "storage/expressions/compare.h"
#include "storage/expressions/grammar.h"
#include "storage/expressions/parser.h"
#include "storage/expressions/path.h"
#include "storage/expressions/shape.h"

namespace itemdb::storage {
namespace {

// ---- checks that need the request's names and values ---------------------------------------------

constexpr std::array<std::string_view, 10> kTypeNames = {"S",  "N", "B", "SS",   "NS",
                                                         "BS", "L", "M", "BOOL", "NULL"};

class OperandCheck {
 public:
  OperandCheck(std::string_view expression_name, const Binding& binding)
      : expression_name_(expression_name), binding_(binding) {}

  absl::Status CheckAll() const {
    for (const OperandSyntax& operand : binding_.tree().operands) {
      if (operand.kind == OperandKind::kSize) ITEMDB_RETURN_IF_ERROR(CheckSize(operand));
    }
    for (const ConditionSyntax& condition : binding_.tree().conditions)
      ITEMDB_RETURN_IF_ERROR(Check(condition));
    return absl::OkStatus();
  }

 private:
  absl::Status Check(const ConditionSyntax& condition) const {
    switch (condition.kind) {
      case ConditionKind::kAnd:
      case ConditionKind::kOr:
      case ConditionKind::kNot:
      case ConditionKind::kAttributeExists:
      case ConditionKind::kAttributeNotExists:
        return absl::OkStatus();
      case ConditionKind::kEqual:
      case ConditionKind::kNotEqual:
      case ConditionKind::kIn:
        return CheckDistinct(condition);
      case ConditionKind::kLess:
      case ConditionKind::kLessEqual:
      case ConditionKind::kGreater:
      case ConditionKind::kGreaterEqual:
        ITEMDB_RETURN_IF_ERROR(CheckDistinct(condition));
        return CheckTypes(condition, IsScalar);
      case ConditionKind::kBetween:
        ITEMDB_RETURN_IF_ERROR(CheckDistinct(condition));
        ITEMDB_RETURN_IF_ERROR(CheckTypes(condition, IsScalar));
        return CheckBounds(condition);
      case ConditionKind::kAttributeType:
        return CheckTypeName(condition);
      case ConditionKind::kBeginsWith:
        ITEMDB_RETURN_IF_ERROR(CheckDistinct(condition));
        return CheckTypes(condition,
                          [](ValueType type) { return type == ValueType::kS || type == ValueType::kB; });
      case ConditionKind::kContains:
        return CheckDistinct(condition);
    }
    return absl::OkStatus();
  }

  // A path must not be compared with itself (EXP-17).
  absl::Status CheckDistinct(const ConditionSyntax& condition) const {
    const OperandSyntax& first = Operand(condition, 0);
    if (first.kind != OperandKind::kPath) return absl::OkStatus();
    Path path = binding_.path(first.first);
    for (uint32_t i = 1; i < condition.count; ++i) {
      const OperandSyntax& other = Operand(condition, i);
      if (other.kind != OperandKind::kPath || !SamePath(path, binding_.path(other.first))) continue;
      return ExpressionError(
          "EXP-17", expression_name_,
          Concat({"The first operand must be distinct from the remaining operands for this operator or "
                  "function; operator: ",
                  ConditionName(condition.kind), ", first operand: ", DescribePath(path)}));
    }
    return absl::OkStatus();
  }

  // Literal operands must be of a type that `allowed` accepts.
  template <typename Allowed>
  absl::Status CheckTypes(const ConditionSyntax& condition, Allowed allowed) const {
    for (uint32_t i = 0; i < condition.count; ++i) {
      const OperandSyntax& operand = Operand(condition, i);
      if (operand.kind != OperandKind::kValue || allowed(TypeOf(operand))) continue;
      return OperandTypeError(expression_name_, ConditionName(condition.kind), TypeOf(operand));
    }
    return absl::OkStatus();
  }

  absl::Status CheckBounds(const ConditionSyntax& condition) const {
    const OperandSyntax& lower = Operand(condition, 1);
    const OperandSyntax& upper = Operand(condition, 2);
    if (lower.kind != OperandKind::kValue || upper.kind != OperandKind::kValue) return absl::OkStatus();
    return CheckBetweenBounds(expression_name_, binding_.value(lower.first), binding_.value(upper.first));
  }

  absl::Status CheckTypeName(const ConditionSyntax& condition) const {
    const OperandSyntax& type = Operand(condition, 1);
    if (type.kind != OperandKind::kValue) {
      return OperandTypeError(expression_name_, "attribute_type", "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}");
    }
    if (TypeOf(type) != ValueType::kS)
      return OperandTypeError(expression_name_, "attribute_type", TypeOf(type));
    ValueView name = binding_.value(type.first);
    if (std::find(kTypeNames.begin(), kTypeNames.end(), name.payload()) != kTypeNames.end())
      return absl::OkStatus();
    return ExpressionError("EXP-15", expression_name_,
                           Concat({"Invalid attribute type name found; type: ", CutForMessage(name.payload()),
                                   ", valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"}));
  }

  absl::Status CheckSize(const OperandSyntax& size) const {
    const OperandSyntax& measured = binding_.operand(size.first);
    if (measured.kind != OperandKind::kValue || SizeOf(binding_.value(measured.first)))
      return absl::OkStatus();
    return OperandTypeError(expression_name_, "size", TypeOf(measured));
  }

  const OperandSyntax& Operand(const ConditionSyntax& condition, uint32_t i) const {
    return binding_.operand(binding_.tree().links[condition.first + i]);
  }
  ValueType TypeOf(const OperandSyntax& value) const { return binding_.value(value.first).type(); }

  const std::string_view expression_name_;
  const Binding& binding_;
};

// ---- evaluation ----------------------------------------------------------------------------------

// An operand's value for an item. Neither copied nor moved: `value` may borrow from `size_text`.
struct Operand {
  Operand(const Binding& binding, ItemView item, const OperandSyntax& syntax) {
    switch (syntax.kind) {
      case OperandKind::kPath:
        value = FindPath(item, binding.path(syntax.first));
        break;
      case OperandKind::kValue:
        value = binding.value(syntax.first);
        break;
      default:
        is_size = true;
        SetSize(Operand(binding, item, binding.operand(syntax.first)));
        break;
    }
  }
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;

  void SetSize(const Operand& measured) {
    std::optional<uint64_t> size = measured.value ? SizeOf(*measured.value) : std::nullopt;
    if (!size) return;
    size_text = EncodeValue(ValueType::kN, std::to_string(*size));
    value = ValueView(size_text);
  }

  // Empty when the item lacks the path, or when it is the size() of a value that has no size.
  std::optional<ValueView> value;
  bool is_size = false;
  // An encoded number.
  std::string size_text;
};

bool Compare(ConditionKind kind, const Operand& left, const Operand& right) {
  if (!left.value || !right.value) {
    // A missing value differs from every value (EXP-12). With a missing size even `<>` is false (EXP-18).
    bool no_size = (left.is_size && !left.value) || (right.is_size && !right.value);
    return kind == ConditionKind::kNotEqual && !no_size;
  }
  if (kind == ConditionKind::kEqual) return SameValue(*left.value, *right.value);
  if (kind == ConditionKind::kNotEqual) return !SameValue(*left.value, *right.value);
  if (left.value->type() != right.value->type() || !IsScalar(left.value->type())) return false;
  std::strong_ordering order = CompareScalars(*left.value, *right.value);
  switch (kind) {
    case ConditionKind::kLess:
      return order < 0;
    case ConditionKind::kLessEqual:
      return order <= 0;
    case ConditionKind::kGreater:
      return order > 0;
    default:
      return order >= 0;
  }
}

class Evaluation {
 public:
  Evaluation(const Binding& binding, ItemView item) : binding_(binding), item_(item) {}

  // Whether condition `position` of Tree::conditions holds. Recursion is bounded by the parser's nesting,
  // because AND and OR chains are flat.
  bool Holds(uint32_t position) const {
    const ConditionSyntax& condition = binding_.tree().conditions[position];
    switch (condition.kind) {
      case ConditionKind::kAnd:
        return EachIs(true, condition);
      case ConditionKind::kOr:
        return !EachIs(false, condition);
      case ConditionKind::kNot:
        return !Holds(Link(condition, 0));
      case ConditionKind::kIn:
        return IsIn(condition);
      default:
        return LeafHolds(condition);
    }
  }

 private:
  // Whether every term of the chain evaluates to `wanted`.
  bool EachIs(bool wanted, const ConditionSyntax& chain) const {
    for (uint32_t i = 0; i < chain.count; ++i) {
      if (Holds(Link(chain, i)) != wanted) return false;
    }
    return true;
  }

  bool IsIn(const ConditionSyntax& condition) const {
    const Operand tested = Evaluate(condition, 0);
    for (uint32_t i = 1; tested.value && i < condition.count; ++i) {
      if (Compare(ConditionKind::kEqual, tested, Evaluate(condition, i))) return true;
    }
    return false;
  }

  bool LeafHolds(const ConditionSyntax& condition) const {
    const Operand first = Evaluate(condition, 0);
    if (condition.kind == ConditionKind::kAttributeExists) return first.value.has_value();
    if (condition.kind == ConditionKind::kAttributeNotExists) return !first.value.has_value();
    const Operand second = Evaluate(condition, 1);
    switch (condition.kind) {
      case ConditionKind::kBetween:
        return Compare(ConditionKind::kGreaterEqual, first, second) &&
               Compare(ConditionKind::kLessEqual, first, Evaluate(condition, 2));
      case ConditionKind::kAttributeType:
        return first.value && ValueTypeName(first.value->type()) == second.value->payload();
      case ConditionKind::kBeginsWith:
        return first.value && second.value && BeginsWith(*first.value, *second.value);
      case ConditionKind::kContains:
        return first.value && second.value && Contains(*first.value, *second.value);
      default:
        return Compare(condition.kind, first, second);
    }
  }

  Operand Evaluate(const ConditionSyntax& condition, uint32_t i) const {
    return Operand(binding_, item_, binding_.operand(Link(condition, i)));
  }
  uint32_t Link(const ConditionSyntax& condition, uint32_t i) const {
    return binding_.tree().links[condition.first + i];
  }

  const Binding& binding_;
  const ItemView item_;
};

}  // namespace

struct Condition::Rep {
  Binding binding;
  std::vector<std::string> top_level;
  std::vector<std::string> nested;
};

absl::StatusOr<Condition> Condition::Compile(std::string_view expression_name, std::string_view text,
                                             Placeholders& placeholders) {
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const Tree> tree,
                          ParseExpression(ExpressionKind::kCondition, expression_name, text));
  auto rep = std::make_shared<Rep>();
  ITEMDB_RETURN_IF_ERROR(rep->binding.Bind(expression_name, std::move(tree), placeholders));
  ITEMDB_RETURN_IF_ERROR(OperandCheck(expression_name, rep->binding).CheckAll());
  return FromRep(std::move(rep));
}

absl::StatusOr<Condition> Condition::FromTree(std::string_view expression_name, ValuedTree tree) {
  auto rep = std::make_shared<Rep>();
  rep->binding.Bind(std::move(tree.tree), std::move(tree.values));
  ITEMDB_RETURN_IF_ERROR(OperandCheck(expression_name, rep->binding).CheckAll());
  return FromRep(std::move(rep));
}

Condition Condition::FromLegacy(ValuedTree legacy) {
  auto rep = std::make_shared<Rep>();
  rep->binding.Bind(std::move(legacy.tree), std::move(legacy.values));
  return FromRep(std::move(rep));
}

Condition Condition::FromRep(std::shared_ptr<Rep> rep) {
  rep->top_level = rep->binding.TopLevelAttributes();
  rep->nested = rep->binding.NestedAttributes();
  Condition condition;
  condition.rep_ = std::move(rep);
  return condition;
}

bool Condition::Evaluate(ItemView item) const {
  return Evaluation(rep_->binding, item).Holds(rep_->binding.tree().root);
}

const std::vector<std::string>& Condition::TopLevelAttributes() const { return rep_->top_level; }
const std::vector<std::string>& Condition::NestedAttributes() const { return rep_->nested; }

std::string Condition::Shape() const { return ConditionShape(rep_->binding); }
uint64_t Condition::ShapeHash() const { return ConditionShapeHash(rep_->binding); }

}  // namespace itemdb::storage
