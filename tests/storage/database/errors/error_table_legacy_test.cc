// Rows of the error table (error_table.h): the legacy parameters that are older than expressions, such as
// Expected and AttributeUpdates (SEM-112).

#include "tests/storage/database/errors/error_table.h"

namespace itemdb::testing::errors {
namespace {

Provoke Expecting(std::function<void(wire::ExpectedAttributeValue*)> change) {
  return Deleting([change](auto* request) {
    auto* entry = request->add_expected();
    entry->set_name("a");
    change(entry->mutable_value());
  });
}

Provoke Comparing(v1::ComparisonOperator comparison, const std::vector<v1::AttributeValue>& values) {
  return Scanning([comparison, values](auto* request) {
    auto* entry = request->add_legacy_filter();
    entry->set_name("a");
    entry->mutable_value()->set_comparison_operator(comparison);
    for (const auto& value : values)
      entry->mutable_value()->add_attribute_value_list(value.SerializeAsString());
  });
}

Provoke KeyComparing(v1::ComparisonOperator comparison, const std::vector<v1::AttributeValue>& values,
                     const std::string& name = "pk") {
  return Querying([=](auto* request) {
    request->clear_key_condition_expression();
    request->clear_expression_attribute_values();
    auto* entry = request->add_key_conditions();
    entry->set_name(name);
    entry->mutable_value()->set_comparison_operator(comparison);
    for (const auto& value : values)
      entry->mutable_value()->add_attribute_value_list(value.SerializeAsString());
  });
}

Provoke Acting(v1::AttributeAction action, std::optional<v1::AttributeValue> value,
               const std::string& name = "a") {
  return Updating([=](auto* request) {
    auto* entry = request->add_attribute_updates();
    entry->set_name(name);
    entry->mutable_value()->set_action(action);
    if (value.has_value()) entry->mutable_value()->set_value(value->SerializeAsString());
  });
}

std::vector<ErrorRow> LegacyErrors() {
  const std::string values = "One or more parameter values were invalid: ";
  return {
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_BETWEEN, {N("1")}),
       values + "Invalid number of argument(s) for the BETWEEN ComparisonOperator"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_NULL, {N("1")}),
       values + "Invalid number of argument(s) for the NULL ComparisonOperator"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_EQ, {}),
       values + "Invalid number of argument(s) for the EQ ComparisonOperator"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_IN, {}),
       values + "Invalid number of argument(s) for the IN ComparisonOperator"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_IN, std::vector<v1::AttributeValue>(101, N("1"))),
       values + "Invalid number of argument(s) for the IN ComparisonOperator"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_IN, {N("1"), S("x")}),
       values + "AttributeValues inside AttributeValueList must be of same type"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_LT, {True()}),
       values + "ComparisonOperator LT is not valid for BOOL AttributeValue type"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_CONTAINS, {Strings({"x"})}),
       values + "ComparisonOperator CONTAINS is not valid for SS AttributeValue type"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_BEGINS_WITH, {N("1")}),
       values + "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_BETWEEN, {N("2"), N("1")}),
       "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"},
      {"SEM-112", Comparing(v1::COMPARISON_OPERATOR_UNSPECIFIED, {N("1")}),
       values + "the condition on attribute a needs a ComparisonOperator: one of EQ, NE, IN, LE, LT, GE, GT, "
                "BETWEEN, NOT_NULL, NULL, CONTAINS, NOT_CONTAINS, BEGINS_WITH"},
      // The rule also holds for the legacy parameters (SEM-112).
      {"SEM-016",
       Comparing(v1::COMPARISON_OPERATOR_EQ, {Strings({})}),
       {values + "An string set  may not be empty", " (attribute \"a\")"}},
      {"SEM-112", Expecting([](auto* e) {
         e->set_value(N("1").SerializeAsString());
         e->add_attribute_value_list(N("1").SerializeAsString());
       }),
       values + "Value and AttributeValueList cannot be used together for Attribute: a"},
      {"SEM-112", Expecting([](auto* e) {
         e->set_exists(true);
         e->set_comparison_operator(v1::COMPARISON_OPERATOR_NULL);
       }),
       values + "Exists and ComparisonOperator cannot be used together for Attribute: a"},
      {"SEM-112", Expecting([](auto* e) { e->set_comparison_operator(v1::COMPARISON_OPERATOR_GE); }),
       values + "Value or AttributeValueList must be used with ComparisonOperator: GE for Attribute: a"},
      {"SEM-112", Expecting([](auto* e) { e->add_attribute_value_list(N("1").SerializeAsString()); }),
       values + "AttributeValueList can only be used with a ComparisonOperator for Attribute: a"},
      {"SEM-112", Expecting([](auto*) {}),
       values + "Value must be provided when Exists is null for Attribute: a"},
      {"SEM-112", Expecting([](auto* e) { e->set_exists(true); }),
       values + "Value must be provided when Exists is true for Attribute: a"},
      {"SEM-112", Expecting([](auto* e) {
         e->set_exists(false);
         e->set_value(N("1").SerializeAsString());
       }),
       values + "Value cannot be used when Exists is false for Attribute: a"},
      {"SEM-112", Deleting([](auto* r) { r->set_conditional_operator(v1::CONDITIONAL_OPERATOR_OR); }),
       "ConditionalOperator cannot be used without Filter or Expected"},
      {"SEM-112", Deleting([](auto* r) {
         r->set_conditional_operator(v1::CONDITIONAL_OPERATOR_OR);
         auto* entry = r->add_expected();
         entry->set_name("a");
         entry->mutable_value()->set_exists(false);
       }),
       "ConditionalOperator can only be used when Filter or Expected has two or more elements"},
      {"SEM-112",
       Deleting([](auto* r) { r->set_conditional_operator(static_cast<v1::ConditionalOperator>(9)); }),
       values + "ConditionalOperator 9 is unknown; it must be AND or OR"},
      {"SEM-112", Acting(v1::ATTRIBUTE_ACTION_PUT, std::nullopt),
       values + "Only DELETE action is allowed when no attribute value is specified"},
      {"SEM-112", Acting(v1::ATTRIBUTE_ACTION_ADD, S("x")),
       values + "ADD action is not supported for the type S"},
      {"SEM-112", Acting(v1::ATTRIBUTE_ACTION_DELETE, N("1")),
       values + "DELETE action with value is not supported for the type N"},
      {"SEM-112", Acting(static_cast<v1::AttributeAction>(9), N("1")),
       values + "the action 9 for attribute a is unknown; it must be PUT, ADD or DELETE"},
      // The rule also holds for the legacy parameters (SEM-112).
      {"EXP-28", Acting(v1::ATTRIBUTE_ACTION_ADD, N("1"), "txt"), "Type mismatch for attribute to update"},
      // The rule also holds for the legacy parameters (SEM-112).
      {"EXP-10", Acting(v1::ATTRIBUTE_ACTION_ADD, Wrapped(1), "txt"),
       "Type mismatch for attribute to update"},
      // The rule also holds for the legacy parameters (SEM-112).
      {"EXP-32", Acting(v1::ATTRIBUTE_ACTION_PUT, S("x"), "pk"),
       values + "Cannot update attribute pk. This attribute is part of the key"},
      {"SEM-112", Acting(v1::ATTRIBUTE_ACTION_PUT, S("x"), ""),
       values + "Empty attribute name in AttributeUpdates"},
      {"SEM-112", Getting([](auto* r) {
         r->add_attributes_to_get("a");
         r->add_attributes_to_get("a");
       }),
       values + "Duplicate value in attribute name: a"},
      {"SEM-112", KeyComparing(v1::COMPARISON_OPERATOR_NE, {S("p")}),
       "Attempted conditional constraint is not an indexable operation"},
      // The rule also holds for the legacy parameters (SEM-112).
      {"EXP-21",
       KeyComparing(v1::COMPARISON_OPERATOR_GT, {S("p")}),
       {"Query key condition not supported", ": partition key attribute pk allows only ="}},
      // The rule also holds for the legacy parameters (SEM-112).
      {"EXP-21", KeyComparing(v1::COMPARISON_OPERATOR_EQ, {S("p")}, "sk"),
       "Query condition missed key schema element: pk"},
      // The rule also holds for the legacy parameters (SEM-112).
      {"SEM-040", Querying([](auto* r) {
         r->clear_key_condition_expression();
         r->clear_expression_attribute_values();
         auto* k = r->add_key_conditions();
         k->set_name("pk");
         k->mutable_value()->set_comparison_operator(v1::COMPARISON_OPERATOR_EQ);
         k->mutable_value()->add_attribute_value_list(S("p").SerializeAsString());
         auto* f = r->add_legacy_filter();
         f->set_name("sk");
         f->mutable_value()->set_comparison_operator(v1::COMPARISON_OPERATOR_NOT_NULL);
       }),
       "QueryFilter can only contain non-primary key attributes: Primary key attribute: sk"},
  };
}

INSTANTIATE_TEST_SUITE_P(Legacy, ErrorTable, ::testing::ValuesIn(LegacyErrors()), RuleAndPlace);

}  // namespace
}  // namespace itemdb::testing::errors
