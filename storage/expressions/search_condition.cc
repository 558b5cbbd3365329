#include "storage/expressions/search_condition.h"

#include <algorithm>

#include "storage/expressions/binding.h"
#include "storage/expressions/parser.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kSearchConditionName = "SearchConditionExpression";

// Adds the clauses of condition `position` in written order. Recursion is bounded by the parser's nesting.
absl::Status CollectClauses(const Binding& binding, uint32_t position, std::vector<SearchClause>* clauses) {
  const Tree& tree = binding.tree();
  const ConditionSyntax& condition = tree.conditions[position];
  if (condition.kind == ConditionKind::kAnd) {
    for (uint32_t i = 0; i < condition.count; ++i)
      ITEMDB_RETURN_IF_ERROR(CollectClauses(binding, tree.links[condition.first + i], clauses));
    return absl::OkStatus();
  }
  const absl::Status comparator_error =
      ExpressionError("VEC-19", kSearchConditionName, "Invalid comparator used in SearchConditionExpression");
  if (condition.kind != ConditionKind::kEqual) return comparator_error;
  const OperandSyntax* attribute = &binding.operand(tree.links[condition.first]);
  const OperandSyntax* value = &binding.operand(tree.links[condition.first + 1]);
  if (attribute->kind == OperandKind::kValue) std::swap(attribute, value);
  if (attribute->kind != OperandKind::kPath || value->kind != OperandKind::kValue) return comparator_error;
  const Path path = binding.path(attribute->first);
  if (path.size() > 1) {
    return ExpressionError("VEC-19", kSearchConditionName,
                           "SearchConditionExpression cannot have conditions on nested attributes");
  }
  const SearchClause clause{.attribute = path[0].name, .value = binding.value(value->first)};
  const bool is_second = std::any_of(clauses->begin(), clauses->end(), [&](const SearchClause& other) {
    return other.attribute == clause.attribute;
  });
  if (is_second) {
    return ExpressionError("VEC-19", kSearchConditionName,
                           "SearchConditionExpression must only contain one condition per attribute");
  }
  clauses->push_back(clause);
  return absl::OkStatus();
}

}  // namespace

struct SearchCondition::Rep {
  Binding binding;
  // Borrow from `binding`.
  std::vector<SearchClause> clauses;
};

absl::StatusOr<SearchCondition> SearchCondition::Compile(std::string_view text, Placeholders& placeholders) {
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const Tree> tree,
                          ParseExpression(ExpressionKind::kCondition, kSearchConditionName, text));
  auto rep = std::make_shared<Rep>();
  ITEMDB_RETURN_IF_ERROR(rep->binding.Bind(kSearchConditionName, std::move(tree), placeholders));
  ITEMDB_RETURN_IF_ERROR(CollectClauses(rep->binding, rep->binding.tree().root, &rep->clauses));
  SearchCondition condition;
  condition.rep_ = std::move(rep);
  return condition;
}

const std::vector<SearchClause>& SearchCondition::clauses() const { return rep_->clauses; }

}  // namespace itemdb::storage
