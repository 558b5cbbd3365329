// Rows of the error table (error_table.h): one item; its keys, values, size and index keys, and the members
// of requests that read or write it.

#include "tests/storage/database/errors/error_table.h"

namespace itemdb::testing::errors {
namespace {

std::vector<ErrorRow> ItemErrors() {
  const std::string values = "One or more parameter values were invalid: ";
  const std::string scalars =
      "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ";
  const std::string here = " (attribute \"v\")";
  const Words kWrongKey = {"The provided key element does not match the schema",
                           "; the key of table Things consists of: pk (S), sk (S)"};
  return {
      {"SEM-001",
       PutValue("fat", S(Long(409'600))),
       {"Item size has exceeded the maximum allowed size", " of 409600 bytes"}},
      {"SEM-006", Put(Item({{"pk", S(Long(2'049))}, {"sk", S("s")}})),
       values + "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
      {"SEM-006", Put(Item({{"pk", S("p")}, {"sk", S(Long(1'025))}})),
       values + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"},
      {"SEM-006", Getting([](auto* r) {
         r->set_key(Encode({{"pk", S(Long(2'049))}, {"sk", S("s")}}));
       }),
       values + "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
      {"SEM-006", Deleting([](auto* r) {
         r->set_key_or_item(Encode({{"pk", S("p")}, {"sk", S(Long(1'025))}}));
       }),
       values + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"},
      {"SEM-007", Put(Item({{"pk", S("p")}})), values + "Missing the key sk in the item"},
      {"SEM-007", Put(Item({{"pk", N("1")}, {"sk", S("s")}})),
       values + "Type mismatch for key pk expected: S actual: N"},
      {"SEM-007", Put(Item({{"pk", S("p")}, {"sk", Strings({"s"})}})),
       values + "Type mismatch for key sk expected: S actual: SS"},
      {"SEM-007", Put(Item({{"pk", S("")}, {"sk", S("s")}})),
       "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
       "empty string value. Key: pk"},
      {"SEM-007", Getting([](auto* r) {
         r->set_key(Encode({{"pk", S("p")}}));
       }),
       kWrongKey},
      {"SEM-007", Getting([](auto* r) {
         r->set_key(Encode({{"pk", S("p")}, {"sk", S("s")}, {"a", S("x")}}));
       }),
       kWrongKey},
      {"SEM-007", Updating([](auto* r) {
         r->set_key_or_item(Encode({{"pk", S("p")}, {"other", S("s")}}));
       }),
       kWrongKey},
      {"SEM-007", Deleting([](auto* r) {
         r->set_key_or_item(Encode({{"pk", S("p")}, {"sk", N("1")}}));
       }),
       kWrongKey},
      {"SEM-007", Deleting([](auto* r) {
         r->set_key_or_item(Encode({{"pk", S("p")}, {"sk", S("")}}));
       }),
       "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
       "empty string value. Key: sk"},
      {"SEM-008", Getting([](auto* r) { r->set_table_name("ab"); }),
       "TableName 'ab' is invalid: it must be 3 to 255 characters of a-z, A-Z, 0-9, '_', '.' and '-'"},
      {"SEM-008", Getting([](auto* r) { r->set_table_name("no spaces"); }),
       "TableName 'no spaces' is invalid: it must be 3 to 255 characters of a-z, A-Z, 0-9, '_', '.' and '-'"},
      {"SEM-008",
       Getting([](auto* r) { r->set_table_name("arn:aws:dynamodb:eu-west-1:000000000000:stream/Things"); }),
       "TableName 'arn:aws:dynamodb:eu-west-1:000000000000:stream/Things' is invalid: it must be 3 to 255 "
       "characters of a-z, A-Z, 0-9, '_', '.' and '-'"},
      {"SEM-009", PutValue("", S("x")), values + "Empty attribute name"},
      {"SEM-009",
       PutValue(Long(65'536), S("x")),
       {"Attribute name is too large, must be at most 65535 bytes", ", has 65536"}},
      {"SEM-009", Put([] {
         v1::Item item = Item({{"pk", S("p")}, {"sk", S("s")}});
         *item.add_attributes() = item.attributes(0);
         return item;
       }()),
       "Duplicate attribute name: \"pk\""},
      {"SEM-010",
       PutValue("v", v1::AttributeValue()),
       {"Supplied AttributeValue is empty, must contain exactly one of the supported datatypes", here}},
      {"SEM-010",
       PutValue("v", Null(false)),
       {values + "Null attribute value types must have the value of true", here}},
      {"SEM-011",
       PutValue("v", N("123456789012345678901234567890123456789")),
       {"Attempting to store more than 38 significant digits in a Number", here}},
      {"SEM-011",
       PutValue("v", N("1e126")),
       {"Number overflow. Attempting to store a number with magnitude larger than supported range", here}},
      {"SEM-011",
       PutValue("v", N("1e-131")),
       {"Number underflow. Attempting to store a number with magnitude smaller than supported range", here}},
      {"SEM-011",
       PutValue("v", N("one")),
       {"The parameter cannot be converted to a numeric value: one", here}},
      {"SEM-011",
       PutValue("v", Numbers({"1e999999999999"})),
       {"Number overflow. Attempting to store a number with magnitude larger than supported range", here}},
      {"SEM-015",
       PutValue("v", Strings({"x", "y", "x"})),
       {values + "Input collection [x, y, x] contains duplicates.", here}},
      {"SEM-015",
       PutValue("v", Numbers({"1", "1.0"})),
       {"Input collection contains duplicates", ": 1 is there more than once" + here}},
      {"SEM-015",
       PutValue("v", Binaries({"x", "x"})),
       {values + "Input collection [eA==, eA==]of type BS contains duplicates.", here}},
      {"SEM-016", PutValue("v", Strings({})), {values + "An string set  may not be empty", here}},
      {"SEM-016", PutValue("v", Numbers({})), {values + "An number set  may not be empty", here}},
      {"SEM-016", PutValue("v", Binaries({})), {values + "Binary sets should not be empty", here}},
      {"SEM-017",
       PutValue("v", Wrapped(32)),
       {"Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond "
        "supported limit of 32",
        " (attribute \"v" + Times(32, "[0]") + "\")"}},
      {"SEM-039",
       Getting([](auto* r) { r->set_table_name("arn:aws:dynamodb:eu-west-1:000000000000:table/Missing"); }),
       "Requested resource not found: Table: Missing not found", absl::StatusCode::kNotFound,
       kReasonResourceNotFound},
      {"ERR-08", Write(&Database::PutItem, [](auto* r) { r->set_client_request_token("used"); }),
       "the client request token used was used for a request with other parameters in the last 10 minutes",
       absl::StatusCode::kInvalidArgument, kReasonIdempotentParameterMismatch},
      {"SEM-058", Deleting([](auto* r) { r->set_return_values(v1::RETURN_VALUES_ALL_NEW); }),
       Apart("ReturnValues can only be ALL_OLD or NONE",
             "Return values set to invalid value: only NONE and ALL_OLD are allowed here")},
      {"SEM-058", Updating([](auto* r) { r->set_return_values(static_cast<v1::ReturnValues>(9)); }),
       "ReturnValues 9 is unknown"},
      {"SEM-060", Updating([](auto* r) {
         r->set_return_values_on_condition_check_failure(
             static_cast<v1::ReturnValuesOnConditionCheckFailure>(9));
       }),
       "ReturnValuesOnConditionCheckFailure 9 is unknown"},
      {"SEM-061",
       Getting([](auto* r) { r->set_return_consumed_capacity(static_cast<v1::ReturnConsumedCapacity>(9)); }),
       "ReturnConsumedCapacity 9 is unknown; it must be NONE, TOTAL or INDEXES"},
      {"SEM-070", PutValue("a", N("1")),
       values + "Type mismatch for Index Key a Expected: S Actual: N IndexName: ByA"},
      {"SEM-070", PutValue("a", Null()),
       values + "Type mismatch for Index Key a Expected: S Actual: NULL IndexName: ByA"},
      {"SEM-070", PutValue("a", S("")),
       "One or more parameter values are not valid. A value specified for a secondary index key is not "
       "supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: "
       "ByA, IndexKey: a"},
      {"SEM-070", Update("SET a = :e"),
       Apart("One or more parameter values are not valid. The update expression attempted to update a "
             "secondary "
             "index key to a value that is not supported. The AttributeValue for a key attribute cannot "
             "contain "
             "an empty string value.",
             "One or more parameter values are not valid. A value specified for a secondary index key is not "
             "supported. The AttributeValue for a key attribute cannot contain an empty string value. "
             "IndexName: "
             "ByA, IndexKey: a")},
      {"SEM-070", Update("SET b = :s"),
       values + "Type mismatch for Index Key b Expected: N Actual: S IndexName: ByMany"},
      {"SEM-070", PutValue("a", S(Long(2'049))),
       values + "Size limit exceeded for Index Key a Actual Size: 2049 bytes Max Size: 2048 bytes IndexName: "
                "ByA"},
      {"SEM-084", Put(Item({{"pk", S("p")}, {"sk", S("s")}, {"c", S(Long(600))}, {"d", S(Long(600))}})),
       values + "Aggregate size for RANGE key attributes [c, d] of index ByMany has exceeded limit 1024 "
                "bytes, with actual size 1200 bytes"},
      {"SEM-071", Update("SET a.x = :s"), scalars + "IndexKey: a"},
      {"SEM-071", Update("REMOVE c[0]"), scalars + "IndexKey: c"},
      // The same holds for every path that is read, and for the table's own key.
      {"SEM-071", Update("SET x = a.y"), scalars + "IndexKey: a"},
      {"SEM-071", Update("SET x = if_not_exists(pk[0], :n)"), scalars + "Key: pk"},
      {"SEM-071", Condition("attribute_not_exists(sk.x)"), scalars + "Key: sk"},
      {"SEM-071", Condition("x = :n OR size(d.x) = :n"), scalars + "IndexKey: d"},
      {"SEM-071", Project("x, pk.y"), scalars + "Key: pk"},
      {"SEM-071", Scanning([](auto* r) { r->set_filter_expression("attribute_exists(b[1])"); }),
       scalars + "IndexKey: b"},
      {"SEM-071", Scanning([](auto* r) { r->set_projection_expression("c.x"); }), scalars + "IndexKey: c"},
      {"SEM-071", Querying([](auto* r) { r->set_projection_expression("sk[3]"); }), scalars + "Key: sk"},
      {"SEM-071",
       BatchGetting([](auto* r) { r->mutable_request_items(0)->set_projection_expression("a.x"); }),
       scalars + "IndexKey: a"},
      {"SEM-071", Transacting([](auto* r) {
         r->mutable_transact_items(0)->mutable_put()->set_condition_expression("attribute_exists(pk.x)");
       }),
       scalars + "Key: pk"},
      // What is wrong with the item is told before a condition that fails.
      {"SEM-070",
       [](TestDatabase& database) {
         auto request = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}, {"a", N("1")}});
         request.set_condition_expression("attribute_not_exists(pk)");
         return PutItem(database, request).status();
       },
       values + "Type mismatch for Index Key a Expected: S Actual: N IndexName: ByA"},
      // An attribute name is checked before the table is looked up (SEM-115).
      {"SEM-009", Put(Item({{"", S("p")}}), "Missing"), values + "Empty attribute name"},
      // The table is looked up before the key is checked against its key schema (SEM-115).
      {"SEM-039", Put(Item({{"pk", N("1")}}), "Missing"),
       "Requested resource not found: Table: Missing not found", absl::StatusCode::kNotFound,
       kReasonResourceNotFound},
      {"SEM-066", Deleting([](auto* r) {
         r->set_return_item_collection_metrics(static_cast<v1::ReturnItemCollectionMetrics>(9));
       }),
       "ReturnItemCollectionMetrics 9 is unknown; it must be NONE or SIZE"},
  };
}

INSTANTIATE_TEST_SUITE_P(Items, ErrorTable, ::testing::ValuesIn(ItemErrors()), RuleAndPlace);

// The size limit of item collections (SEM-092). The texts of QUEUE_FULL and DISK_FULL are tested in
// tests/storage/engine/failed_sync_test.cc, because they need a failing disk.
TEST(Errors, AnItemCollectionThatIsTooLargeIsRefusedInItsWords) {
  TemporaryDirectory directory;
  DatabaseOptions options = TestDatabase::DefaultOptions(directory.path() + "/data");
  options.max_item_collection_bytes = 100;
  TestDatabase database(options);
  auto table = TableRequest("Things");
  AddLocalIndex(&table, "ByA", "a:S", v1::PROJECTION_TYPE_KEYS_ONLY);
  database.CreateTable(table);
  // The item has 2 + 1 + 2 + 1 + 1 + 93 bytes, and no entry in the index.
  EXPECT_EQ(PutItem(database, WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}, {"b", S(Long(93))}}))
                .status(),
            absl::OkStatus());
  const absl::Status status =
      PutItem(database, WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}, {"b", S(Long(94))}}))
          .status();
  EXPECT_EQ(
      MessageOf(status),
      "nothing was written: the items of table Things with one partition key and their entries in local "
      "indexes would have 101 bytes; at most 100 are allowed");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(status), kReasonItemCollectionSizeLimitExceeded);
  EXPECT_EQ(RuleOf(status), "SEM-092");
}

}  // namespace
}  // namespace itemdb::testing::errors
