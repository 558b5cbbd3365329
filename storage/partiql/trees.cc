#include "storage/partiql/trees.h"

#include <algorithm>

#include "storage/base/service_text.h"

namespace itemdb::storage::partiql {

TreeWriter::TreeWriter(const Statement& statement, std::string_view attribute) : statement_(statement) {
  std::string text;
  for (const Step& step : statement.steps) text += step.name;
  text += attribute;
  tree_ = std::make_shared<Tree>(text);
  std::string_view rest = tree_->text;
  names_.reserve(statement.steps.size());
  for (const Step& step : statement.steps) {
    names_.push_back(rest.substr(0, step.name.size()));
    rest.remove_prefix(step.name.size());
  }
  attribute_ = rest;
}

uint32_t TreeWriter::AddOperand(OperandKind kind, uint32_t first, uint32_t second) {
  tree_->operands.push_back({kind, first, second});
  return static_cast<uint32_t>(tree_->operands.size() - 1);
}

uint32_t TreeWriter::CopyPath(uint32_t path) {
  const PathSyntax& from = statement_.paths[path];
  PathSyntax to{.first = static_cast<uint32_t>(tree_->segments.size()), .count = from.count};
  for (uint32_t i = from.first; i < from.first + from.count; ++i) {
    const Step& step = statement_.steps[i];
    tree_->segments.push_back(
        {.kind = step.is_index ? SegmentSyntax::Kind::kIndex : SegmentSyntax::Kind::kName,
         .number = step.index,
         .name = names_[i]});
  }
  tree_->paths.push_back(to);
  return static_cast<uint32_t>(tree_->paths.size() - 1);
}

uint32_t TreeWriter::CopyOperand(uint32_t operand) {
  const OperandSyntax& from = statement_.operands[operand];
  switch (from.kind) {
    case OperandKind::kPath:
      return AddOperand(from.kind, CopyPath(from.first));
    case OperandKind::kValue:
      values_.push_back(statement_.values[from.first]);
      return AddOperand(from.kind, static_cast<uint32_t>(values_.size() - 1));
    case OperandKind::kSize:
      return AddOperand(from.kind, CopyOperand(from.first));
    default:
      break;
  }
  uint32_t first = CopyOperand(from.first);
  uint32_t second = CopyOperand(from.second);
  return AddOperand(from.kind, first, second);
}

uint32_t TreeWriter::CopyCondition(uint32_t condition) {
  const ConditionSyntax& from = statement_.conditions[condition];
  const bool of_conditions =
      from.kind == ConditionKind::kAnd || from.kind == ConditionKind::kOr || from.kind == ConditionKind::kNot;
  std::vector<uint32_t> links;
  links.reserve(from.count);
  for (uint32_t i = from.first; i < from.first + from.count; ++i) {
    uint32_t link = statement_.links[i];
    links.push_back(of_conditions ? CopyCondition(link) : CopyOperand(link));
  }
  return AddCondition(from.kind, links);
}

void TreeWriter::CopyAction(const ActionSyntax& action) {
  ActionSyntax copy{.kind = action.kind, .path = CopyPath(action.path)};
  if (action.kind != UpdateActionKind::kRemove) copy.operand = CopyOperand(action.operand);
  tree_->actions.push_back(copy);
}

uint32_t TreeWriter::AddExistence(ConditionKind kind) {
  tree_->segments.push_back({.kind = SegmentSyntax::Kind::kName, .number = 0, .name = attribute_});
  tree_->paths.push_back({.first = static_cast<uint32_t>(tree_->segments.size() - 1), .count = 1});
  return AddCondition(kind, {AddOperand(OperandKind::kPath, static_cast<uint32_t>(tree_->paths.size() - 1))});
}

uint32_t TreeWriter::AddCondition(ConditionKind kind, const std::vector<uint32_t>& links) {
  tree_->conditions.push_back({.kind = kind,
                               .first = static_cast<uint32_t>(tree_->links.size()),
                               .count = static_cast<uint32_t>(links.size())});
  tree_->links.insert(tree_->links.end(), links.begin(), links.end());
  return static_cast<uint32_t>(tree_->conditions.size() - 1);
}

uint32_t TreeWriter::AddConjunction(const std::vector<uint32_t>& conditions) {
  return conditions.size() == 1 ? conditions[0] : AddCondition(ConditionKind::kAnd, conditions);
}

ValuedTree TreeWriter::Finish(uint32_t root) {
  tree_->root = root;
  return {std::move(tree_), std::move(values_)};
}

// ---- WHERE ---------------------------------------------------------------------------------------

namespace {

void CollectConjuncts(const Statement& statement, uint32_t position, std::vector<uint32_t>* conjuncts) {
  const ConditionSyntax& condition = statement.conditions[position];
  if (condition.kind != ConditionKind::kAnd) return conjuncts->push_back(position);
  for (uint32_t i = 0; i < condition.count; ++i)
    CollectConjuncts(statement, statement.links[condition.first + i], conjuncts);
}

const OperandSyntax& OperandAt(const Statement& statement, const ConditionSyntax& condition, uint32_t i) {
  return statement.operands[statement.links[condition.first + i]];
}

}  // namespace

std::vector<uint32_t> Conjuncts(const Statement& statement) {
  std::vector<uint32_t> conjuncts;
  if (statement.where.has_value()) CollectConjuncts(statement, *statement.where, &conjuncts);
  return conjuncts;
}

const std::string* AttributeAt(const Statement& statement, const ConditionSyntax& condition, uint32_t i) {
  const OperandSyntax& operand = OperandAt(statement, condition, i);
  if (operand.kind != OperandKind::kPath) return nullptr;
  const PathSyntax& path = statement.paths[operand.first];
  return path.count == 1 ? &statement.steps[path.first].name : nullptr;
}

const std::string* ValueAt(const Statement& statement, const ConditionSyntax& condition, uint32_t i) {
  const OperandSyntax& operand = OperandAt(statement, condition, i);
  return operand.kind == OperandKind::kValue ? &statement.values[operand.first] : nullptr;
}

const std::string* DemandedValue(const Statement& statement, const ConditionSyntax& condition,
                                 std::string_view name) {
  if (condition.kind != ConditionKind::kEqual) return nullptr;
  for (uint32_t i : {0u, 1u}) {
    const std::string* attribute = AttributeAt(statement, condition, i);
    if (attribute != nullptr && *attribute == name) return ValueAt(statement, condition, 1 - i);
  }
  return nullptr;
}

absl::Status CheckKeyType(const KeyAttribute& attribute, std::string_view value) {
  const ValueType type = ValueView(value).type();
  if (type == attribute.type) return absl::OkStatus();
  return DetailedError(
      "PQL-16",
      "Key attribute's data type should match its data type in table's schema: Key " + attribute.name,
      ": it is " + std::string(ValueTypeName(attribute.type)) + ", not " + std::string(ValueTypeName(type)));
}

absl::StatusOr<KeyAndRest> SplitKey(const Statement& statement, const Table& table) {
  KeyAndRest result;
  result.rest = Conjuncts(statement);
  std::vector<std::pair<std::string_view, std::string_view>> key;
  for (const auto* attributes : {&table.partition, &table.sort}) {
    for (const KeyAttribute& attribute : *attributes) {
      const std::string* value = nullptr;
      auto found = std::find_if(result.rest.begin(), result.rest.end(), [&](uint32_t position) {
        value = DemandedValue(statement, statement.conditions[position], attribute.name);
        return value != nullptr;
      });
      if (found == result.rest.end()) {
        return DetailedError("PQL-16",
                             "Where clause does not contain a mandatory equality on all key attributes",
                             ": " + attribute.name + " of table " + table.name + " has none");
      }
      result.key_error.Update(CheckKeyType(attribute, *value));
      key.emplace_back(attribute.name, *value);
      result.rest.erase(found);
      for (uint32_t position : result.rest) {
        const std::string* other = DemandedValue(statement, statement.conditions[position], attribute.name);
        if (other == nullptr || *other == *value) continue;
        result.key_error.Update(
            ValidationError("PQL-16", "Multiple conditions on same key " + attribute.name +
                                          ". Only single item Update/Insert/Delete are supported"));
      }
    }
  }
  for (const auto& [name, value] : key) AppendAttribute(name, value, &result.key);
  return result;
}

}  // namespace itemdb::storage::partiql
