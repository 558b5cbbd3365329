#include "storage/expressions/update.h"

#include "storage/base/limits.h"
#include "storage/expressions/binding.h"
#include "storage/expressions/compare.h"
#include "storage/expressions/grammar.h"
#include "storage/expressions/parser.h"
#include "storage/expressions/path.h"
#include "storage/expressions/rewrite.h"
#include "storage/expressions/update_values.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kUpdateName = "UpdateExpression";

// The messages for an attribute of the wrong type.
constexpr std::string_view kTypeMismatch = "An operand in the update expression has an incorrect data type";
constexpr std::string_view kLegacyTypeMismatch = "Type mismatch for attribute to update";

// Checks the type of a literal operand, which is known without the item.
absl::Status CheckLiteral(std::string_view expression_name, const Binding& binding, uint32_t operand_position,
                          std::string_view operation, bool (*allowed)(ValueType)) {
  const OperandSyntax& operand = binding.operand(operand_position);
  if (operand.kind != OperandKind::kValue) return absl::OkStatus();
  ValueType type = binding.value(operand.first).type();
  return allowed(type) ? absl::OkStatus() : OperandTypeError(expression_name, operation, type);
}

// The long names of types in the errors of ADD and DELETE.
std::string_view LongTypeName(ValueType type) {
  switch (type) {
    case ValueType::kS:
      return "STRING";
    case ValueType::kN:
      return "NUMBER";
    case ValueType::kB:
      return "BINARY";
    case ValueType::kBool:
      return "BOOLEAN";
    case ValueType::kL:
      return "LIST";
    case ValueType::kM:
      return "MAP";
    default:
      return ValueTypeName(type);
  }
}

// Checks the literal of an ADD or DELETE action (EXP-28, EXP-29).
absl::Status CheckActionLiteral(std::string_view expression_name, const Binding& binding,
                                const ActionSyntax& action, bool (*allowed)(ValueType)) {
  const OperandSyntax& operand = binding.operand(action.operand);
  if (operand.kind != OperandKind::kValue) return absl::OkStatus();
  const ValueType type = binding.value(operand.first).type();
  if (allowed(type)) return absl::OkStatus();
  const bool adds = action.kind == UpdateActionKind::kAdd;
  const std::string_view name = adds ? "ADD" : "DELETE";
  return ExpressionError(
      adds ? "EXP-28" : "EXP-29", expression_name,
      Concat({"Incorrect operand type for operator or function; operator: ", name,
              ", operand type: ", LongTypeName(type), ", typeSet: ALLOWED_FOR_", name, "_OPERAND"}));
}

// if_not_exists(a, a) is refused, as a comparison of a path with itself (EXP-17).
absl::Status CheckDistinct(std::string_view expression_name, const Binding& binding,
                           const OperandSyntax& if_not_exists) {
  const OperandSyntax& first = binding.operand(if_not_exists.first);
  const OperandSyntax& second = binding.operand(if_not_exists.second);
  if (second.kind != OperandKind::kPath || !SamePath(binding.path(first.first), binding.path(second.first)))
    return absl::OkStatus();
  return ExpressionError(
      "EXP-17", expression_name,
      Concat({"The first operand must be distinct from the remaining operands for this operator or function; "
              "operator: if_not_exists, first operand: ",
              DescribePath(binding.path(first.first))}));
}

bool IsNumber(ValueType type) { return type == ValueType::kN; }
bool IsList(ValueType type) { return type == ValueType::kL; }
bool IsNumberOrSet(ValueType type) { return type == ValueType::kN || IsSet(type); }

absl::Status CheckLiterals(std::string_view expression_name, const Binding& binding) {
  for (const OperandSyntax& operand : binding.tree().operands) {
    if (operand.kind == OperandKind::kIfNotExists)
      ITEMDB_RETURN_IF_ERROR(CheckDistinct(expression_name, binding, operand));
    bool sum = operand.kind == OperandKind::kPlus || operand.kind == OperandKind::kMinus;
    if (!sum && operand.kind != OperandKind::kListAppend) continue;
    std::string_view name = !sum ? "list_append" : operand.kind == OperandKind::kPlus ? "+" : "-";
    for (uint32_t side : {operand.first, operand.second}) {
      ITEMDB_RETURN_IF_ERROR(CheckLiteral(expression_name, binding, side, name, sum ? IsNumber : IsList));
    }
  }
  for (const ActionSyntax& action : binding.tree().actions) {
    if (action.kind == UpdateActionKind::kAdd) {
      ITEMDB_RETURN_IF_ERROR(CheckActionLiteral(expression_name, binding, action, IsNumberOrSet));
    } else if (action.kind == UpdateActionKind::kDelete) {
      ITEMDB_RETURN_IF_ERROR(CheckActionLiteral(expression_name, binding, action, IsSet));
    }
  }
  return absl::OkStatus();
}

}  // namespace

struct UpdateExpression::Rep {
  Binding binding;
  // The paths that are written; leaves are positions in Tree::actions.
  PathTree targets;
  std::vector<std::string> top_level;
  std::vector<std::string> nested;
  bool creates_item = false;
  // Error messages are those of AttributeUpdates when the update does not fit an item.
  bool legacy = false;
};

absl::StatusOr<UpdateExpression> UpdateExpression::Compile(std::string_view text,
                                                           Placeholders& placeholders) {
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const Tree> tree,
                          ParseExpression(ExpressionKind::kUpdate, kUpdateName, text));
  auto rep = std::make_shared<Rep>();
  ITEMDB_RETURN_IF_ERROR(rep->binding.Bind(kUpdateName, std::move(tree), placeholders));
  ITEMDB_RETURN_IF_ERROR(CheckLiterals(kUpdateName, rep->binding));
  return FromRep(kUpdateName, std::move(rep));
}

absl::StatusOr<UpdateExpression> UpdateExpression::FromTree(std::string_view expression_name,
                                                            ValuedTree tree) {
  auto rep = std::make_shared<Rep>();
  rep->binding.Bind(std::move(tree.tree), std::move(tree.values));
  ITEMDB_RETURN_IF_ERROR(CheckLiterals(expression_name, rep->binding));
  return FromRep(expression_name, std::move(rep));
}

absl::StatusOr<UpdateExpression> UpdateExpression::FromLegacy(ValuedTree legacy) {
  auto rep = std::make_shared<Rep>();
  rep->legacy = true;
  rep->binding.Bind(std::move(legacy.tree), std::move(legacy.values));
  return FromRep(kUpdateName, std::move(rep));
}

absl::StatusOr<UpdateExpression> UpdateExpression::FromRep(std::string_view expression_name,
                                                           std::shared_ptr<Rep> rep) {
  const std::vector<ActionSyntax>& actions = rep->binding.tree().actions;
  for (size_t i = 0; i < actions.size(); ++i) {
    Path path = rep->binding.path(actions[i].path);
    ITEMDB_RETURN_IF_ERROR(rep->targets.Insert(expression_name, path, static_cast<int>(i)));
    rep->creates_item |=
        actions[i].kind == UpdateActionKind::kSet || actions[i].kind == UpdateActionKind::kAdd;
  }
  rep->top_level = rep->targets.TopLevelAttributes();
  rep->nested = rep->binding.NestedAttributes();
  UpdateExpression update;
  update.rep_ = std::move(rep);
  return update;
}

absl::StatusOr<std::string> UpdateExpression::Apply(ItemView item, bool item_exists) const {
  UpdateValues values(rep_->binding, item, rep_->legacy ? kLegacyTypeMismatch : kTypeMismatch);
  ITEMDB_RETURN_IF_ERROR(values.Compute());
  std::string result;
  result.reserve(item.encoded().size() + values.value_bytes() + 16 * values.edits().size());
  ITEMDB_RETURN_IF_ERROR(RewriteItem(rep_->targets, values.edits(), item, !item_exists, &result));
  return result;
}

std::string UpdateExpression::TouchedPart(ItemView item) const {
  std::string part;
  ProjectItem(rep_->targets, item, &part);
  return part;
}

const std::vector<std::string>& UpdateExpression::TopLevelAttributes() const { return rep_->top_level; }

const std::vector<std::string>& UpdateExpression::NestedAttributes() const { return rep_->nested; }

bool UpdateExpression::CreatesItem() const { return rep_->creates_item; }

}  // namespace itemdb::storage
