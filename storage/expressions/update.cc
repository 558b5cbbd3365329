#include "storage/expressions/update.h"

#include "storage/base/limits.h"
#include "storage/expressions/binding.h"
#include "storage/expressions/compare.h"
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

bool IsNumber(ValueType type) { return type == ValueType::kN; }
bool IsList(ValueType type) { return type == ValueType::kL; }
bool IsNumberOrSet(ValueType type) { return type == ValueType::kN || IsSet(type); }

absl::Status CheckLiterals(std::string_view expression_name, const Binding& binding) {
  for (const OperandSyntax& operand : binding.tree().operands) {
    bool sum = operand.kind == OperandKind::kPlus || operand.kind == OperandKind::kMinus;
    if (!sum && operand.kind != OperandKind::kListAppend) continue;
    std::string_view name = !sum ? "list_append" : operand.kind == OperandKind::kPlus ? "+" : "-";
    for (uint32_t side : {operand.first, operand.second}) {
      ITEMDB_RETURN_IF_ERROR(CheckLiteral(expression_name, binding, side, name, sum ? IsNumber : IsList));
    }
  }
  for (const ActionSyntax& action : binding.tree().actions) {
    if (action.kind == UpdateActionKind::kAdd) {
      ITEMDB_RETURN_IF_ERROR(CheckLiteral(expression_name, binding, action.operand, "ADD", IsNumberOrSet));
    } else if (action.kind == UpdateActionKind::kDelete) {
      ITEMDB_RETURN_IF_ERROR(CheckLiteral(expression_name, binding, action.operand, "DELETE", IsSet));
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
