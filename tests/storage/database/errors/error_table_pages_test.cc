// Rows of the error table (error_table.h): Query and Scan; key conditions, filters, start keys, segments,
// Select.

#include "tests/storage/database/errors/error_table.h"

namespace itemdb::testing::errors {
namespace {

std::vector<ErrorRow> PageErrors() {
  const std::string values = "One or more parameter values were invalid: ";
  const std::string keys = "Invalid KeyConditionExpression: ";
  return {
      {"SEM-006", KeyCondition("pk = :long"),
       values + "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
      {"SEM-006", KeyCondition("pk = :p AND sk < :longer"),
       values + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"},
      {"SEM-026", Querying([](auto* r) {
         r->add_legacy_filter()->set_name("a");
         r->add_attributes_to_get("a");
         r->set_filter_expression("a = b");
       }),
       "Can not use both expression and non-expression parameters in the same request: Non-expression "
       "parameters: {AttributesToGet, QueryFilter} Expression parameters: {FilterExpression, "
       "KeyConditionExpression}"},
      {"SEM-026", Querying([](auto* r) { r->add_key_conditions()->set_name("pk"); }),
       "Can not use both expression and non-expression parameters in the same request: Non-expression "
       "parameters: {KeyConditions} Expression parameters: {KeyConditionExpression}"},
      {"SEM-026", Querying([](auto* r) {
         r->clear_key_condition_expression();
         r->add_key_conditions()->set_name("pk");
         r->add_attributes_to_get("a");
         r->set_filter_expression("a = b");
       }),
       "Can not use both expression and non-expression parameters in the same request: Non-expression "
       "parameters: {AttributesToGet} Expression parameters: {FilterExpression}"},
      {"SEM-026", Scanning([](auto* r) {
         r->add_legacy_filter()->set_name("a");
         r->set_projection_expression("a");
       }),
       "Can not use both expression and non-expression parameters in the same request: Non-expression "
       "parameters: {ScanFilter} Expression parameters: {ProjectionExpression}"},
      {"SEM-029", Querying([](auto* r) { r->set_limit(0); }), "Limit must be at least 1; it is 0"},
      {"SEM-029", Scanning([](auto* r) { r->set_limit(-1); }), "Limit must be at least 1; it is -1"},
      {"SEM-032", Querying([](auto* r) {
         r->set_exclusive_start_key(Encode({{"pk", S("p")}}));
       }),
       Apart("The provided starting key is invalid: The provided key element does not match the schema",
             "The provided starting key is invalid: it must consist of exactly these attributes: pk, sk")},
      {"SEM-032", Querying([](auto* r) {
         r->set_exclusive_start_key(Encode({{"pk", S("p")}, {"sk", N("1")}}));
       }),
       Apart("The provided starting key is invalid: The provided key element does not match the schema",
             "The provided starting key is invalid: One or more parameter values were invalid: Type mismatch "
             "for "
             "key sk expected: S actual: N")},
      {"SEM-032", Querying([](auto* r) {
         r->set_exclusive_start_key(Encode({{"pk", S("q")}, {"sk", S("s")}}));
       }),
       "The provided starting key is outside query boundaries based on provided conditions"},
      {"SEM-032", Querying([](auto* r) {
         r->set_key_condition_expression("pk = :p AND sk > :s");
         SetValue(r, ":s", S("m"));
         r->set_exclusive_start_key(Encode({{"pk", S("p")}, {"sk", S("a")}}));
       }),
       "The provided starting key does not match the range key predicate"},
      {"SEM-032",
       [](TestDatabase& database) {
         auto request = QueryRequest("Single", "pk = :p", {{":p", S("p")}});
         request.set_exclusive_start_key(Encode({{"pk", S("p")}}));
         return database.Query(request).status();
       },
       Apart("The query can return at most one row and cannot be restarted",
             "ExclusiveStartKey is not allowed in a Query on a table without a sort key: one partition key "
             "value has at most one item, so there is no second page")},
      {"SEM-032", Scanning([](auto* r) {
         r->set_index_name("ByA");
         r->set_exclusive_start_key(Encode({{"pk", S("p")}, {"sk", S("s")}}));
       }),
       Apart("The provided starting key is invalid: The provided key element does not match the schema",
             "The provided starting key is invalid: it must consist of exactly these attributes: a, pk, sk")},
      {"SEM-033", Scanning([](auto* r) { r->set_segment(0); }),
       "The TotalSegments parameter is required but was not present in the request when Segment parameter is "
       "present"},
      {"SEM-033", Scanning([](auto* r) { r->set_total_segments(1); }),
       "The Segment parameter is required but was not present in the request when parameter TotalSegments is "
       "present"},
      {"SEM-033", Scanning([](auto* r) {
         r->set_segment(2);
         r->set_total_segments(2);
       }),
       "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 2 is not "
       "less than TotalSegments: 2"},
      {"SEM-033", Scanning([](auto* r) {
         r->set_segment(0);
         r->set_total_segments(1'000'001);
       }),
       "TotalSegments must be 1 to 1000000; it is 1000001"},
      {"SEM-033", Scanning([](auto* r) {
         r->set_segment(-1);
         r->set_total_segments(2);
       }),
       "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: -1 is "
       "not less than TotalSegments: 2"},
      {"SEM-033", Querying([](auto* r) {
         r->set_segment(0);
         r->set_total_segments(2);
       }),
       "Query takes neither Segment nor TotalSegments; use Scan"},
      {"SEM-035", Scanning([](auto* r) { r->set_scan_index_forward(false); }),
       "Scan takes neither a key condition nor ScanIndexForward; use Query"},
      {"SEM-036", Scanning([](auto* r) { r->set_select(v1::SELECT_SPECIFIC_ATTRIBUTES); }),
       "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"},
      {"SEM-036", Scanning([](auto* r) { r->set_select(v1::SELECT_ALL_PROJECTED_ATTRIBUTES); }),
       "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"},
      {"SEM-036", Scanning([](auto* r) {
         r->set_select(v1::SELECT_ALL_ATTRIBUTES);
         r->set_index_name("ByA");
       }),
       values + "Select type ALL_ATTRIBUTES is not supported for global secondary index ByA because its "
                "projection type is not ALL"},
      {"SEM-036", Scanning([](auto* r) {
         r->set_select(v1::SELECT_ALL_ATTRIBUTES);
         r->set_projection_expression("a");
       }),
       "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES"},
      {"SEM-036", Scanning([](auto* r) {
         r->set_select(v1::SELECT_COUNT);
         r->add_attributes_to_get("a");
       }),
       "Cannot specify the AttributesToGet when choosing to get only the Count"},
      {"SEM-036", Scanning([](auto* r) { r->set_select(static_cast<v1::Select>(9)); }),
       "Select 9 is unknown; it must be ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES, SPECIFIC_ATTRIBUTES or "
       "COUNT"},
      {"SEM-036", Scanning([](auto* r) { r->set_count_all(true); }),
       "count_all counts a whole range: it needs Select COUNT and takes no Limit"},
      {"SEM-037", Scanning([](auto* r) {
         r->set_index_name("ByA");
         r->set_filter_expression("n = n2");
       }),
       values + "Secondary index ByA does not project one or more filter attributes: [n]"},
      {"SEM-037", Scanning([](auto* r) {
         r->set_index_name("ByA");
         r->set_projection_expression("pk, n");
       }),
       Apart(values + "Global secondary index ByA does not project [n]",
             values + "Secondary index ByA does not project one or more projected attributes: [n]")},
      {"SEM-039",
       Scanning([](auto* r) { r->set_index_name("Missing"); }),
       {"The table does not have the specified index: Missing", " (table Things)"}},
      {"SEM-039", Scanning([](auto* r) { r->set_table_name("Missing"); }),
       "Requested resource not found: Table: Missing not found", absl::StatusCode::kNotFound,
       kReasonResourceNotFound},
      {"SEM-040", Querying([](auto* r) { r->set_filter_expression("sk = n"); }),
       "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"},
      {"SEM-040", Querying([](auto* r) {
         r->set_filter_expression("n = #pk.x");
         SetName(r, "#pk", "pk");
       }),
       "Filter Expression can only contain non-primary key attributes: Primary key attribute: pk"},
      {"SEM-040",
       [](TestDatabase& database) {
         auto request = QueryRequest("Things", "a = :a AND b = :b", {{":a", S("x")}, {":b", N("1")}});
         request.set_index_name("ByMany");
         request.set_filter_expression("d = n");
         return database.Query(request).status();
       },
       "Filter Expression can only contain non-primary key attributes: Primary key attribute: d"},
      {"SEM-080", KeyCondition("a = :s", "ByMany"),
       "HASH key attributes a, b must have equality conditions specified in the query"},
      {"SEM-081", KeyCondition("a = :s AND b = :n AND d = :s", "ByMany"),
       "RANGE key attributes c must have equality conditions specified in the query because a condition is "
       "present on key attribute d"},
      {"SEM-081", KeyCondition("a = :s AND b = :n AND c > :s AND d = :s", "ByMany"),
       "RANGE key attributes c must have equality conditions specified in the query because a condition is "
       "present on key attribute d"},
      {"EXP-08", KeyCondition("pk <> :p"), "Invalid operator used in KeyConditionExpression: <>"},
      {"EXP-08", KeyCondition("pk = :p OR sk = :s"), "Invalid operator used in KeyConditionExpression: OR"},
      {"EXP-08", KeyCondition("NOT pk = :p"), "Invalid operator used in KeyConditionExpression: NOT"},
      {"EXP-08", KeyCondition("pk IN (:p)"), "Invalid operator used in KeyConditionExpression: IN"},
      {"EXP-08", KeyCondition("pk.x = :p"),
       "KeyConditionExpressions cannot have conditions on nested attributes"},
      {"EXP-08", KeyCondition("size(pk) = :n"), "KeyConditionExpressions cannot contain nested operations"},
      {"EXP-08", KeyCondition("pk = sk"),
       "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
      {"EXP-08", KeyCondition(":p = :s"),
       "Invalid condition in KeyConditionExpression: No key attribute specified"},
      {"EXP-19", KeyCondition("pk = :p AND sk BETWEEN :s AND :p"),
       keys + "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower "
              "bound operand: AttributeValue: {S:x}, upper bound operand: AttributeValue: {S:p}"},
      {"EXP-21", KeyCondition("sk = :s"), "Query condition missed key schema element: pk"},
      {"EXP-21",
       KeyCondition("pk > :p"),
       {"Query key condition not supported", ": partition key attribute pk allows only ="}},
      {"EXP-21", KeyCondition("pk = :p AND pk = :s"),
       "KeyConditionExpressions must only contain one condition per key"},
      {"EXP-21", KeyCondition("pk = :p AND n = :n"),
       Apart("Query condition missed key schema element: sk",
             "Query key condition not supported: attribute n is not in the key schema (pk, sk)")},
      {"EXP-21", KeyCondition("n = :n"),
       Apart("Query condition missed key schema element: pk",
             "Query key condition not supported: attribute n is not in the key schema (pk, sk)")},
      {"EXP-21",
       KeyCondition("pk = :p AND n = :n", "", "Single"),
       {"Query key condition not supported", ": attribute n is not in the key schema (pk)"}},
      {"EXP-21",
       KeyCondition("pk = :n"),
       {values + "Condition parameter type does not match schema type", "; key: pk, expected: S, actual: N"}},
      {"EXP-21", Querying([](auto* r) {
         r->clear_key_condition_expression();
         r->clear_expression_attribute_values();
       }),
       "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."},
      // Clauses are checked in the order of the text, and before the table is looked up (EXP-22).
      {"EXP-16", KeyCondition("pk = :p AND begins_with(sk, :n)", "", "Missing"),
       keys + "Incorrect operand type for operator or function; operator or function: begins_with, operand "
              "type: N"},
      // Clauses are checked in the order of the text, and before the table is looked up (EXP-22).
      {"EXP-08", KeyCondition("pk <> :p AND begins_with(sk, :n)"),
       "Invalid operator used in KeyConditionExpression: <>"},
  };
}

INSTANTIATE_TEST_SUITE_P(Pages, ErrorTable, ::testing::ValuesIn(PageErrors()), RuleAndPlace);

}  // namespace
}  // namespace itemdb::testing::errors
