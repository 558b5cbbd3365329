// Rows of the error table (error_table.h): conditions and projection expressions, and their placeholders.

#include "tests/storage/database/errors/error_table.h"

namespace itemdb::testing::errors {
namespace {

std::vector<ErrorRow> ExpressionErrors() {
  const std::string condition = "Invalid ConditionExpression: ";
  return {
      {"SEM-017",
       Condition("a" + Times(32, "[0]") + " = :s"),
       {condition + "The document path has too many nesting elements; nesting levels: 33", ", maximum: 32"}},
      {"SEM-019", Condition(" "), condition + "The expression can not be empty;"},
      {"SEM-019",
       Condition("a = :s" + std::string(4'091, ' ')),
       {condition + "Expression size has exceeded the maximum allowed size;",
        " expression size: 4097, maximum: 4096"}},
      {"SEM-019",
       Scanning([](auto* r) { r->set_filter_expression("a = b" + std::string(4'092, ' ')); }),
       {"Invalid FilterExpression: Expression size has exceeded the maximum allowed size; expression size: "
        "4097",
        ", maximum: 4096"}},
      {"SEM-020", Condition(Times(150, "a = :s", " OR ") + " OR a = :s"),
       condition + "The expression contains too many operators; operator count: 301"},
      {"SEM-021", Condition("a IN (" + Times(101, ":s", ", ") + ")"),
       condition + "The IN operator is provided with too many operands; number of operands: 101"},
      {"SEM-022",
       Deleting([](auto* r) {
         r->set_condition_expression("a = :" + Long(255));
         SetValue(r, ":" + Long(255), S("x"));
       }),
       {"ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is "
        "too "
        "long",
        "; maximum length: 255"}},
      {"SEM-022",
       Deleting([](auto* r) {
         r->set_condition_expression("#" + Long(255) + " = a");
         SetName(r, "#" + Long(255), "x");
       }),
       {"ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is "
        "too "
        "long",
        "; maximum length: 255"}},
      {"SEM-022", Deleting([](auto* r) {
         r->set_condition_expression("a = :s");
         SetValue(r, "s", S("x"));
       }),
       "ExpressionAttributeValues contains invalid key: Syntax error; key: \"s\""},
      {"SEM-022",
       Deleting([](auto* r) {
         r->set_condition_expression("a = :v");
         SetValue(r, ":v", S(Long(2'097'151)));
       }),
       {"ExpressionAttributeNames and ExpressionAttributeValues have exceeded the maximum allowed size",
        "; size in bytes: 2097157, maximum: 2097152"}},
      {"SEM-022", Deleting([](auto* r) {
         r->set_condition_expression("a = :v");
         SetValue(r, ":v", S("x"));
         SetValue(r, ":v", S("y"));
       }),
       "ExpressionAttributeValues contains a duplicate key: :v"},
      {"SEM-009", Deleting([](auto* r) {
         r->set_condition_expression("#a = b");
         SetName(r, "#a", "");
       }),
       "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"},
      {"SEM-009", Deleting([](auto* r) {
         r->set_condition_expression("#a = b");
         SetName(r, "#a", Long(65'536));
       }),
       "ExpressionAttributeNames contains invalid value: Attribute name exceeds the maximum of 65535 bytes "
       "for key #a"},
      {"SEM-011", Deleting([](auto* r) {
         r->set_condition_expression("a = :v");
         SetValue(r, ":v", N("x"));
       }),
       "ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric "
       "value: x for key :v"},
      {"SEM-023",
       Condition("a.Name = :s"),
       {condition + "Attribute name is a reserved keyword; reserved keyword: Name",
        "; name it by an #alias"}},
      {"SEM-023",
       Project("size"),
       {"Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: size",
        "; name it by an #alias"}},
      {"SEM-024", Condition("a = :undefined"),
       condition +
           "An expression attribute value used in expression is not defined; attribute value: :undefined"},
      {"SEM-024", Condition("#undefined = :s OR attribute_exists(pk)"),
       condition + "An expression attribute name used in the document path is not defined; attribute name: "
                   "#undefined"},
      {"SEM-024", Deleting([](auto* r) {
         r->set_condition_expression("a = b");
         SetValue(r, ":v", S("x"));
       }),
       "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"},
      {"SEM-024", Deleting([](auto* r) {
         r->set_condition_expression("a = b");
         SetName(r, "#n", "x");
         SetName(r, "#m", "x");
       }),
       "Value provided in ExpressionAttributeNames unused in expressions: keys: {#m, #n}"},
      {"SEM-025", Condition("((a = :s))"), condition + "The expression has redundant parentheses;"},
      {"SEM-025", Condition("((a)) = :s"), condition + "The expression has redundant parentheses;"},
      {"SEM-026", Deleting([](auto* r) { SetValue(r, ":v", S("x")); }),
       "ExpressionAttributeValues can only be specified when using expressions"},
      {"SEM-026", Getting([](auto* r) { SetName(r, "#n", "x"); }),
       "ExpressionAttributeNames can only be specified when using expressions"},
      {"SEM-026", Getting([](auto* r) {
         r->set_projection_expression("a");
         r->add_attributes_to_get("a");
       }),
       "Can not use both expression and non-expression parameters in the same request: Non-expression "
       "parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"},
      {"EXP-01", Condition("a ="), condition + "Syntax error; token: \"<EOF>\", near: \"=\""},
      {"EXP-01", Condition("a ! b"), condition + "Syntax error; token: \"!\", near: \"a ! b\""},
      {"EXP-01", Condition("a = 1"), condition + "Syntax error; token: \"1\", near: \"= 1\""},
      {"EXP-01", Project("a,,b"), "Invalid ProjectionExpression: Syntax error; token: \",\", near: \",,b\""},
      {"EXP-02", Condition("a[9999999999] = :s"),
       condition + "List index is not within the allowable range; index: [9999999999]"},
      {"EXP-04", Condition("attribute_exists(a, b)"),
       condition + "Incorrect number of operands for operator or function; operator or function: "
                   "attribute_exists, number of operands: 2"},
      {"EXP-04", Condition("attribute_exists(:s)"),
       condition + "Operator or function requires a document path; operator or function: attribute_exists"},
      {"EXP-04", Condition("ATTRIBUTE_EXISTS(a)"),
       condition + "Invalid function name; function: ATTRIBUTE_EXISTS"},
      {"EXP-04", Condition("if_not_exists(a, b) = :s"),
       condition + "The function is not allowed in a condition expression; function: if_not_exists"},
      {"EXP-05", Condition("size(a)"),
       condition + "The function is not allowed to be used this way in an expression; function: size"},
      {"EXP-05", Condition("a = attribute_exists(b)"),
       condition +
           "The function is not allowed to be used this way in an expression; function: attribute_exists"},
      {"EXP-05", Condition("contains(a, size(b))"),
       condition + "The function is not allowed to be used this way in an expression; function: size"},
      {"EXP-13", Condition("a < :t"),
       condition +
           "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"},
      {"EXP-15", Condition("attribute_type(a, :type)"),
       condition + "Invalid attribute type name found; type: STRING, valid types: "
                   "{B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
      {"EXP-15", Condition("attribute_type(a, :n)"),
       condition + "Incorrect operand type for operator or function; operator or function: attribute_type, "
                   "operand type: N"},
      {"EXP-15", Condition("attribute_type(a, b)"),
       condition + "Incorrect operand type for operator or function; operator or function: attribute_type, "
                   "operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}"},
      {"EXP-16", Condition("begins_with(a, :n)"),
       condition + "Incorrect operand type for operator or function; operator or function: begins_with, "
                   "operand type: N"},
      {"EXP-16", Condition("begins_with(:t, a)"),
       condition + "Incorrect operand type for operator or function; operator or function: begins_with, "
                   "operand type: BOOL"},
      {"EXP-17", Condition("contains(a, a)"),
       condition + "The first operand must be distinct from the remaining operands for this operator or "
                   "function; operator: contains, first operand: [a]"},
      {"EXP-18", Condition("size(:n) = a"),
       condition +
           "Incorrect operand type for operator or function; operator or function: size, operand type: N"},
      {"EXP-19", Condition("a BETWEEN :two AND :n"),
       condition + "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
                   "lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}"},
      {"EXP-19", Condition("a BETWEEN :n AND :s"),
       condition + "The BETWEEN operator requires same data type for lower and upper bounds; lower bound "
                   "operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:x}"},
      {"EXP-19", Condition("a BETWEEN :l AND :s"),
       condition +
           "Incorrect operand type for operator or function; operator or function: BETWEEN, operand type: L"},
      {"EXP-24", Project("a.b, a"),
       "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one "
       "of these paths; path one: [a, b], path two: [a]"},
      // Overlap is an error in projections too (EXP-34).
      {"EXP-24", Project("a[0], a[0]"),
       "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one "
       "of these paths; path one: [a, [0]], path two: [a, [0]]"},
  };
}

INSTANTIATE_TEST_SUITE_P(Expressions, ErrorTable, ::testing::ValuesIn(ExpressionErrors()), RuleAndPlace);

}  // namespace
}  // namespace itemdb::testing::errors
