#include "storage/expressions/legacy.h"

#include <algorithm>
#include <optional>

#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/expressions/compare.h"
#include "storage/expressions/grammar.h"
#include "storage/expressions/syntax.h"
#include "storage/values/canonical.h"
#include "storage/values/utf8.h"

namespace itemdb::storage {
namespace {

absl::Status Invalid(std::initializer_list<std::string_view> message) {
  return ValidationError("SEM-112", Concat({"One or more parameter values were invalid: ", Concat(message)}));
}

// Returns the name of the operator without the enumeration's prefix: "EQ".
std::string OperatorName(v1::ComparisonOperator comparison) {
  constexpr std::string_view kPrefix = "COMPARISON_OPERATOR_";
  return v1::ComparisonOperator_Name(comparison).substr(kPrefix.size());
}

std::string_view NameOf(const std::string& attribute) { return attribute; }
std::string_view NameOf(const auto& entry) { return entry.name(); }

// Returns the entries sorted by attribute name, so that equal requests make equal trees.
template <typename Element>
absl::StatusOr<std::vector<const Element*>> SortedEntries(std::string_view parameter,
                                                          const LegacyEntries<Element>& entries,
                                                          int max_entries) {
  if (entries.size() > max_entries) {
    return Invalid({parameter, " has ", std::to_string(entries.size()), " entries; at most ",
                    std::to_string(max_entries), " are allowed"});
  }
  std::vector<const Element*> sorted(entries.pointer_begin(), entries.pointer_end());
  std::sort(sorted.begin(), sorted.end(),
            [](const Element* a, const Element* b) { return NameOf(*a) < NameOf(*b); });
  for (size_t i = 0; i < sorted.size(); ++i) {
    std::string_view name = NameOf(*sorted[i]);
    if (name.empty()) return Invalid({"Empty attribute name in ", parameter});
    if (name.size() > kMaxAttributeNameBytes || !IsValidUtf8(name)) {
      return Invalid({"An attribute name in ", parameter, " is not UTF-8 of at most ",
                      std::to_string(kMaxAttributeNameBytes), " bytes"});
    }
    if (i > 0 && NameOf(*sorted[i - 1]) == name)
      return Invalid({"Duplicate value in attribute name: ", name});
  }
  return sorted;
}

// Builds a tree over some attributes. Attribute i has segment i, path i and operand i of the tree.
class TreeBuilder {
 public:
  template <typename Element>
  explicit TreeBuilder(const std::vector<const Element*>& entries) {
    std::string names;
    for (const Element* entry : entries) names += NameOf(*entry);
    tree_ = std::make_shared<Tree>(names);
    std::string_view rest = tree_->text;
    for (const Element* entry : entries) {
      auto position = static_cast<uint32_t>(tree_->paths.size());
      size_t length = NameOf(*entry).size();
      tree_->segments.push_back(
          {.kind = SegmentSyntax::Kind::kName, .number = 0, .name = rest.substr(0, length)});
      tree_->paths.push_back({.first = position, .count = 1});
      AddOperand(OperandKind::kPath, position);
      rest.remove_prefix(length);
    }
  }

  uint32_t AddOperand(OperandKind kind, uint32_t first, uint32_t second = 0) {
    tree_->operands.push_back({kind, first, second});
    return static_cast<uint32_t>(tree_->operands.size() - 1);
  }

  // `value` is canonical.
  uint32_t AddValue(std::string value) {
    values_.push_back(std::move(value));
    return AddOperand(OperandKind::kValue, static_cast<uint32_t>(values_.size() - 1));
  }

  uint32_t AddCondition(ConditionKind kind, const std::vector<uint32_t>& links) {
    tree_->conditions.push_back({.kind = kind,
                                 .first = static_cast<uint32_t>(tree_->links.size()),
                                 .count = static_cast<uint32_t>(links.size())});
    tree_->links.insert(tree_->links.end(), links.begin(), links.end());
    return static_cast<uint32_t>(tree_->conditions.size() - 1);
  }

  void AddAction(UpdateActionKind kind, uint32_t attribute, uint32_t operand = 0) {
    tree_->actions.push_back({.kind = kind, .path = attribute, .operand = operand});
  }

  // INVALID_ARGUMENT: `parameter` has more values than an expression may have operands, or one condition that
  // ConditionalOperator would join.
  absl::StatusOr<ValuedTree> FinishConditions(std::string_view parameter, v1::ConditionalOperator joined_by,
                                              const std::vector<uint32_t>& terms) {
    if (values_.size() > kMaxLegacyValues) {
      return Invalid({parameter, " has ", std::to_string(values_.size()), " values; at most ",
                      std::to_string(kMaxLegacyValues), " are allowed"});
    }
    if (joined_by != v1::CONDITIONAL_OPERATOR_UNSPECIFIED && terms.size() == 1) {
      return ValidationError(
          "SEM-112", "ConditionalOperator can only be used when Filter or Expected has two or more elements");
    }
    bool any = joined_by == v1::CONDITIONAL_OPERATOR_OR;
    tree_->root =
        terms.size() == 1 ? terms[0] : AddCondition(any ? ConditionKind::kOr : ConditionKind::kAnd, terms);
    return Finish();
  }

  ValuedTree Finish() { return {std::move(tree_), std::move(values_)}; }

 private:
  std::shared_ptr<Tree> tree_;
  std::vector<std::string> values_;
};

absl::StatusOr<std::string> CanonicalOf(std::string_view attribute, const std::string& value) {
  absl::StatusOr<std::string> canonical = CanonicalizeValue(value);
  if (canonical.ok()) return canonical;
  return Reworded(canonical.status(), {.addition = Concat({" (attribute \"", attribute, "\")"})});
}

// ---- conditions ----------------------------------------------------------------------------------

// The arguments that a comparison takes, and the kind of its condition in expressions.
struct Comparison {
  size_t min_arguments;
  size_t max_arguments;
  bool (*takes)(ValueType);
  ConditionKind kind;
};

bool TakesAll(ValueType) { return true; }
bool TakesPart(ValueType type) { return !IsSet(type) && type != ValueType::kL && type != ValueType::kM; }
bool TakesPrefix(ValueType type) { return type == ValueType::kS || type == ValueType::kB; }

// Returns std::nullopt for an unknown value and for UNSPECIFIED.
std::optional<Comparison> FindComparison(v1::ComparisonOperator comparison) {
  switch (comparison) {
    case v1::COMPARISON_OPERATOR_EQ:
      return Comparison{1, 1, TakesAll, ConditionKind::kEqual};
    case v1::COMPARISON_OPERATOR_NE:
      return Comparison{1, 1, TakesAll, ConditionKind::kNotEqual};
    case v1::COMPARISON_OPERATOR_IN:
      return Comparison{1, kMaxInOperands, IsScalar, ConditionKind::kIn};
    case v1::COMPARISON_OPERATOR_LE:
      return Comparison{1, 1, IsScalar, ConditionKind::kLessEqual};
    case v1::COMPARISON_OPERATOR_LT:
      return Comparison{1, 1, IsScalar, ConditionKind::kLess};
    case v1::COMPARISON_OPERATOR_GE:
      return Comparison{1, 1, IsScalar, ConditionKind::kGreaterEqual};
    case v1::COMPARISON_OPERATOR_GT:
      return Comparison{1, 1, IsScalar, ConditionKind::kGreater};
    case v1::COMPARISON_OPERATOR_BETWEEN:
      return Comparison{2, 2, IsScalar, ConditionKind::kBetween};
    case v1::COMPARISON_OPERATOR_NOT_NULL:
      return Comparison{0, 0, TakesAll, ConditionKind::kAttributeExists};
    case v1::COMPARISON_OPERATOR_NULL:
      return Comparison{0, 0, TakesAll, ConditionKind::kAttributeNotExists};
    case v1::COMPARISON_OPERATOR_CONTAINS:
    case v1::COMPARISON_OPERATOR_NOT_CONTAINS:
      return Comparison{1, 1, TakesPart, ConditionKind::kContains};
    case v1::COMPARISON_OPERATOR_BEGINS_WITH:
      return Comparison{1, 1, TakesPrefix, ConditionKind::kBeginsWith};
    default:
      return std::nullopt;
  }
}

absl::Status UnknownComparison(std::string_view attribute) {
  return Invalid({"the condition on attribute ", attribute,
                  " needs a ComparisonOperator: one of EQ, NE, IN, LE, LT, GE, GT, BETWEEN, NOT_NULL, NULL, "
                  "CONTAINS, NOT_CONTAINS, BEGINS_WITH"});
}

// Adds `attribute comparison arguments` and returns the condition's position in Tree::conditions.
absl::StatusOr<uint32_t> AddComparison(TreeBuilder& builder, uint32_t attribute, std::string_view name,
                                       v1::ComparisonOperator comparison,
                                       const std::vector<const std::string*>& arguments) {
  std::optional<Comparison> wanted = FindComparison(comparison);
  if (!wanted.has_value()) return UnknownComparison(name);
  std::vector<std::string> values;
  for (const std::string* argument : arguments) {
    ITEMDB_ASSIGN_OR_RETURN(values.emplace_back(), CanonicalOf(name, *argument));
  }
  if (values.size() < wanted->min_arguments || values.size() > wanted->max_arguments) {
    return Invalid(
        {"Invalid number of argument(s) for the ", OperatorName(comparison), " ComparisonOperator"});
  }
  for (const std::string& value : values) {
    ValueType type = ValueView(value).type();
    if (type != ValueView(values[0]).type())
      return Invalid({"AttributeValues inside AttributeValueList must be of same type"});
    if (!wanted->takes(type)) {
      return Invalid({"ComparisonOperator ", OperatorName(comparison), " is not valid for ",
                      ValueTypeName(type), " AttributeValue type"});
    }
  }
  if (wanted->kind == ConditionKind::kBetween &&
      CompareScalars(ValueView(values[0]), ValueView(values[1])) > 0) {
    return ValidationError(
        "SEM-112",
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound");
  }
  std::vector<uint32_t> links = {attribute};
  for (std::string& value : values) links.push_back(builder.AddValue(std::move(value)));
  uint32_t condition = builder.AddCondition(wanted->kind, links);
  if (comparison != v1::COMPARISON_OPERATOR_NOT_CONTAINS) return condition;
  // For a missing attribute both CONTAINS and NOT_CONTAINS are false.
  uint32_t exists = builder.AddCondition(ConditionKind::kAttributeExists, {attribute});
  return builder.AddCondition(ConditionKind::kAnd,
                              {exists, builder.AddCondition(ConditionKind::kNot, {condition})});
}

std::vector<const std::string*> Pointers(const LegacyEntries<std::string>& values) {
  return {values.pointer_begin(), values.pointer_end()};
}

absl::StatusOr<ValuedTree> ConditionsTree(std::string_view parameter,
                                          const LegacyEntries<wire::NamedCondition>& conditions,
                                          v1::ConditionalOperator joined_by) {
  ITEMDB_ASSIGN_OR_RETURN(auto entries, SortedEntries(parameter, conditions, kMaxLegacyConditions));
  TreeBuilder builder(entries);
  std::vector<uint32_t> terms;
  for (const wire::NamedCondition* entry : entries) {
    const wire::AttributeCondition& condition = entry->value();
    ITEMDB_ASSIGN_OR_RETURN(
        terms.emplace_back(),
        AddComparison(builder, static_cast<uint32_t>(terms.size()), entry->name(),
                      condition.comparison_operator(), Pointers(condition.attribute_value_list())));
  }
  return builder.FinishConditions(parameter, joined_by, terms);
}

// ---- Expected ------------------------------------------------------------------------------------

// Accepts the form with a ComparisonOperator, and the older form with Value and Exists.
absl::StatusOr<uint32_t> AddExpectation(TreeBuilder& builder, uint32_t attribute, const std::string& name,
                                        const wire::ExpectedAttributeValue& expected) {
  bool has_list = !expected.attribute_value_list().empty();
  if (has_list && expected.has_value())
    return Invalid({"Value and AttributeValueList cannot be used together for Attribute: ", name});
  std::vector<const std::string*> arguments = Pointers(expected.attribute_value_list());
  if (expected.has_value()) arguments.push_back(&expected.value());

  v1::ComparisonOperator comparison = expected.comparison_operator();
  if (comparison != v1::COMPARISON_OPERATOR_UNSPECIFIED) {
    if (expected.has_exists())
      return Invalid({"Exists and ComparisonOperator cannot be used together for Attribute: ", name});
    std::optional<Comparison> wanted = FindComparison(comparison);
    if (!wanted.has_value()) return UnknownComparison(name);
    if (wanted->min_arguments > 0 && arguments.empty()) {
      return Invalid({"Value or AttributeValueList must be used with ComparisonOperator: ",
                      OperatorName(comparison), " for Attribute: ", name});
    }
    return AddComparison(builder, attribute, name, comparison, arguments);
  }
  if (has_list)
    return Invalid({"AttributeValueList can only be used with a ComparisonOperator for Attribute: ", name});
  bool exists = !expected.has_exists() || expected.exists();
  if (exists && !expected.has_value()) {
    return Invalid({"Value must be provided when Exists is ", expected.has_exists() ? "true" : "null",
                    " for Attribute: ", name});
  }
  if (!exists && expected.has_value())
    return Invalid({"Value cannot be used when Exists is false for Attribute: ", name});
  return AddComparison(builder, attribute, name,
                       exists ? v1::COMPARISON_OPERATOR_EQ : v1::COMPARISON_OPERATOR_NULL, arguments);
}

// ---- AttributeUpdates ----------------------------------------------------------------------------

absl::Status AddUpdate(TreeBuilder& builder, uint32_t attribute, const std::string& name,
                       const wire::AttributeValueUpdate& update) {
  v1::AttributeAction action = update.action();
  if (!v1::AttributeAction_IsValid(action)) {
    return Invalid({"the action ", std::to_string(action), " for attribute ", name,
                    " is unknown; it must be PUT, ADD or DELETE"});
  }
  if (!update.has_value()) {
    if (action != v1::ATTRIBUTE_ACTION_DELETE)
      return Invalid({"Only DELETE action is allowed when no attribute value is specified"});
    builder.AddAction(UpdateActionKind::kRemove, attribute);
    return absl::OkStatus();
  }
  ITEMDB_ASSIGN_OR_RETURN(std::string value, CanonicalOf(name, update.value()));
  ValueType type = ValueView(value).type();
  switch (action) {
    case v1::ATTRIBUTE_ACTION_DELETE:
      if (!IsSet(type))
        return Invalid({"DELETE action with value is not supported for the type ", ValueTypeName(type)});
      builder.AddAction(UpdateActionKind::kDelete, attribute, builder.AddValue(std::move(value)));
      break;
    case v1::ATTRIBUTE_ACTION_ADD:
      if (type == ValueType::kL) {
        // ADD of expressions takes no lists, so this becomes SET a = list_append(if_not_exists(a, []), :v).
        uint32_t empty = builder.AddValue(EncodeValue(ValueType::kL, ""));
        uint32_t old = builder.AddOperand(OperandKind::kIfNotExists, attribute, empty);
        uint32_t added = builder.AddValue(std::move(value));
        builder.AddAction(UpdateActionKind::kSet, attribute,
                          builder.AddOperand(OperandKind::kListAppend, old, added));
        break;
      }
      if (type != ValueType::kN && !IsSet(type))
        return Invalid({"ADD action is not supported for the type ", ValueTypeName(type)});
      builder.AddAction(UpdateActionKind::kAdd, attribute, builder.AddValue(std::move(value)));
      break;
    default:
      builder.AddAction(UpdateActionKind::kSet, attribute, builder.AddValue(std::move(value)));
      break;
  }
  return absl::OkStatus();
}

std::string GivenNames(std::initializer_list<GivenParameter> parameters) {
  std::string names;
  for (const GivenParameter& parameter : parameters) {
    if (!parameter.given) continue;
    if (!names.empty()) names += ", ";
    names += parameter.name;
  }
  return names;
}

}  // namespace

absl::StatusOr<ValuedTree> ExpectedTree(const LegacyEntries<wire::NamedExpectation>& expected,
                                        v1::ConditionalOperator joined_by) {
  ITEMDB_ASSIGN_OR_RETURN(auto entries, SortedEntries("Expected", expected, kMaxLegacyConditions));
  TreeBuilder builder(entries);
  std::vector<uint32_t> terms;
  for (const wire::NamedExpectation* entry : entries) {
    ITEMDB_ASSIGN_OR_RETURN(terms.emplace_back(), AddExpectation(builder, static_cast<uint32_t>(terms.size()),
                                                                 entry->name(), entry->value()));
  }
  return builder.FinishConditions("Expected", joined_by, terms);
}

absl::StatusOr<ValuedTree> FilterTree(const LegacyEntries<wire::NamedCondition>& conditions,
                                      v1::ConditionalOperator joined_by) {
  return ConditionsTree("the filter", conditions, joined_by);
}

absl::StatusOr<ValuedTree> KeyConditionsTree(const LegacyEntries<wire::NamedCondition>& conditions) {
  for (const wire::NamedCondition& condition : conditions) {
    switch (condition.value().comparison_operator()) {
      case v1::COMPARISON_OPERATOR_NE:
      case v1::COMPARISON_OPERATOR_IN:
      case v1::COMPARISON_OPERATOR_NOT_NULL:
      case v1::COMPARISON_OPERATOR_NULL:
      case v1::COMPARISON_OPERATOR_CONTAINS:
      case v1::COMPARISON_OPERATOR_NOT_CONTAINS:
        return ValidationError("SEM-112", "Attempted conditional constraint is not an indexable operation");
      default:
        break;
    }
  }
  return ConditionsTree("KeyConditions", conditions, v1::CONDITIONAL_OPERATOR_UNSPECIFIED);
}

absl::StatusOr<ValuedTree> UpdatesTree(const LegacyEntries<wire::NamedUpdate>& updates) {
  ITEMDB_ASSIGN_OR_RETURN(auto entries, SortedEntries("AttributeUpdates", updates, kMaxLegacyEntries));
  TreeBuilder builder(entries);
  for (uint32_t i = 0; i < entries.size(); ++i) {
    ITEMDB_RETURN_IF_ERROR(AddUpdate(builder, i, entries[i]->name(), entries[i]->value()));
  }
  return builder.Finish();
}

absl::StatusOr<ValuedTree> AttributesTree(const LegacyEntries<std::string>& attributes) {
  ITEMDB_ASSIGN_OR_RETURN(auto entries, SortedEntries("AttributesToGet", attributes, kMaxLegacyEntries));
  return TreeBuilder(entries).Finish();
}

absl::Status CheckNotMixed(std::initializer_list<GivenParameter> legacy,
                           std::initializer_list<GivenParameter> expressions) {
  std::string legacy_names = GivenNames(legacy);
  std::string expression_names = GivenNames(expressions);
  if (legacy_names.empty() || expression_names.empty()) return absl::OkStatus();
  return ValidationError(
      "SEM-026", Concat({"Can not use both expression and non-expression parameters in the same request: "
                         "Non-expression parameters: {",
                         legacy_names, "} Expression parameters: {", expression_names, "}"}));
}

absl::Status CheckConditionalOperator(v1::ConditionalOperator joined_by, bool has_conditions) {
  if (!v1::ConditionalOperator_IsValid(joined_by)) {
    return Invalid({"ConditionalOperator ", std::to_string(joined_by), " is unknown; it must be AND or OR"});
  }
  if (joined_by != v1::CONDITIONAL_OPERATOR_UNSPECIFIED && !has_conditions)
    return ValidationError("SEM-112", "ConditionalOperator cannot be used without Filter or Expected");
  return absl::OkStatus();
}

}  // namespace itemdb::storage
