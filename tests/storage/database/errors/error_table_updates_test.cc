// Rows of the error table (error_table.h): UpdateItem and its update expression.

#include "tests/storage/database/errors/error_table.h"

namespace itemdb::testing::errors {
namespace {

std::vector<ErrorRow> UpdateErrors() {
  const std::string values = "One or more parameter values were invalid: ";
  const std::string update = "Invalid UpdateExpression: ";
  return {
      {"SEM-001", Update("SET one = :fat, two = :fat"),
       "Item size to update has exceeded the maximum allowed size"},
      {"SEM-017", Updating([](auto* r) {
         r->set_update_expression("SET v = :v");
         SetValue(r, ":v", Wrapped(32));
       }),
       Apart(
           "ExpressionAttributeValues contains invalid value: Nesting Levels have exceeded supported limits: "
           "Attributes in the item have nested levels beyond supported limit of 32 for key :v",
           "ExpressionAttributeValues contains invalid value: Nesting Levels have exceeded supported limits: "
           "Attributes in the item have nested levels beyond supported limit of 32 (attribute \"" +
               Times(32, "[0]") + "\") for key :v")},
      // The value fits, the item that it would be in does not.
      {"EXP-26", Update("SET mp.k = :deep, lst[0] = :deep, mp.k2 = :deeper"),
       Apart(
           "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond "
           "supported limit of 32",
           "Nesting Levels have exceeded supported limits: attributes may nest at most 32 levels deep")},
      {"SEM-019", Update(" "), update + "The expression can not be empty;"},
      {"SEM-023",
       Update("REMOVE Status"),
       {update + "Attribute name is a reserved keyword; reserved keyword: Status", "; name it by an #alias"}},
      {"SEM-025", Update("SET a = ((b + :n))"), update + "The expression has redundant parentheses;"},
      {"SEM-026", Updating([](auto* r) {
         r->set_condition_expression("attribute_exists(a)");
         r->set_update_expression("REMOVE a");
         r->add_expected()->set_name("a");
         r->add_attribute_updates()->set_name("a");
         r->set_conditional_operator(v1::CONDITIONAL_OPERATOR_AND);
       }),
       "Can not use both expression and non-expression parameters in the same request: Non-expression "
       "parameters: {AttributeUpdates, Expected, ConditionalOperator} Expression parameters: "
       "{UpdateExpression, ConditionExpression}"},
      {"EXP-01", Update("SET a"), update + "Syntax error; token: \"<EOF>\", near: \"a\""},
      {"EXP-01", Update("ADD a b"), update + "Syntax error; token: \"b\", near: \"a b\""},
      {"EXP-09", Update("SET a = :s SET b = :s"),
       update + "The \"SET\" section can only be used once in an update expression;"},
      {"EXP-10", Update("SET a = size(b)"),
       update + "The function is not allowed in an update expression; function: size"},
      {"EXP-10", Update("SET a = list_append(b, :s)"),
       update + "Incorrect operand type for operator or function; operator or function: list_append, operand "
                "type: S"},
      {"EXP-10", Update("SET a = list_append(txt, :l)"),
       "An operand in the update expression has an incorrect data type"},
      {"EXP-24", Update("SET mp = :s, mp.k = :s"),
       update + "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
                "one: [mp], path two: [mp, k]"},
      {"EXP-24", Update("SET mp.k = :s, mp[0] = :s"),
       update + "Two document paths conflict with each other; must remove or rewrite one of these paths; "
                "path one: [mp, k], path two: [mp, [0]]"},
      {"EXP-26",
       Update("SET gone.k = :s"),
       {"The document path provided in the update expression is invalid for update", ": [gone, k]"}},
      {"EXP-26",
       Update("SET txt[0] = :s"),
       {"The document path provided in the update expression is invalid for update", ": [txt, [0]]"}},
      // A missing parent is an error (EXP-27).
      {"EXP-26",
       Update("REMOVE gone.k"),
       {"The document path provided in the update expression is invalid for update", ": [gone, k]"}},
      {"EXP-28", Update("ADD a :s"),
       update + "Incorrect operand type for operator or function; operator: ADD, operand type: STRING, "
                "typeSet: ALLOWED_FOR_ADD_OPERAND"},
      {"EXP-28", Update("ADD txt :n"), "An operand in the update expression has an incorrect data type"},
      {"EXP-28", Update("ADD st :ns"), "An operand in the update expression has an incorrect data type"},
      {"EXP-29", Update("DELETE st :s"),
       update + "Incorrect operand type for operator or function; operator: DELETE, operand type: STRING, "
                "typeSet: ALLOWED_FOR_DELETE_OPERAND"},
      {"EXP-29", Update("DELETE st :ns"), "An operand in the update expression has an incorrect data type"},
      {"EXP-30",
       Update("SET a = gone + :n"),
       {"The provided expression refers to an attribute that does not exist in the item", ": [gone]"}},
      {"EXP-30", Update("SET a = txt + :n"),
       "An operand in the update expression has an incorrect data type"},
      {"EXP-30", Update("SET a = n - :s"),
       update + "Incorrect operand type for operator or function; operator or function: -, operand type: S"},
      {"EXP-30", Update("ADD huge :big"),
       Apart("Number overflow. Attempting to store a number with magnitude larger than supported range",
             "Attempting to store more than 38 significant digits in a Number")},
      {"EXP-30", Update("SET a = huge + :one"),
       Apart("Number overflow. Attempting to store a number with magnitude larger than supported range",
             "Attempting to store more than 38 significant digits in a Number")},
      // The operand of if_not_exists may not be a sum (EXP-31).
      {"EXP-01", Update("SET a = if_not_exists(a, b + :n)"),
       update + "Syntax error; token: \"+\", near: \"b + :n\""},
      {"EXP-32", Update("SET pk = :s"),
       values + "Cannot update attribute pk. This attribute is part of the key"},
      {"EXP-32", Update("REMOVE sk.x"),
       values + "Cannot update attribute sk. This attribute is part of the key"},
      // Mixed parameters are found before errors in expressions (SEM-115).
      {"SEM-026", Updating([](auto* r) {
         r->set_table_name("Missing");
         r->set_update_expression("SET");
         r->add_attribute_updates()->set_name("a");
       }),
       "Can not use both expression and non-expression parameters in the same request: Non-expression "
       "parameters: {AttributeUpdates} Expression parameters: {UpdateExpression}"},
      // Errors in expressions are found before the key is decoded (SEM-115).
      {"EXP-01", Updating([](auto* r) {
         r->set_table_name("Missing");
         r->set_update_expression("SET");
         r->set_key_or_item("no item");
       }),
       update + "Syntax error; token: \"<EOF>\", near: \"SET\""},
      // The key schema is checked before the attributes that the update changes (SEM-115).
      {"SEM-007",
       Updating([](auto* r) {
         r->set_key_or_item(Encode({{"pk", S("p")}}));
         r->set_update_expression("SET pk = :v");
         SetValue(r, ":v", S("x"));
       }),
       {"The provided key element does not match the schema",
        "; the key of table Things consists of: pk (S), sk (S)"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Updates, ErrorTable, ::testing::ValuesIn(UpdateErrors()), RuleAndPlace);

}  // namespace
}  // namespace itemdb::testing::errors
