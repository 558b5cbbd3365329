// Rows of the error table (error_table.h): batches and transactions.

#include "tests/storage/database/errors/error_table.h"

namespace itemdb::testing::errors {
namespace {

// Pads the request to `bytes` bytes, more than half of them in a table's name.
void PadTo(size_t bytes, wire::TransactWriteItemsRequest* request) {
  std::string* name = request->mutable_transact_items(0)->mutable_put()->mutable_table_name();
  *name = Long(bytes - request->ByteSizeLong());
  name->resize(name->size() - (request->ByteSizeLong() - bytes));
}

Provoke TransactGetting(std::function<void(wire::TransactGetItemsRequest*)> change) {
  return [change](TestDatabase& database) {
    wire::TransactGetItemsRequest request;
    auto* get = request.add_transact_items();
    get->set_table_name("Things");
    get->set_key(Encode({{"pk", S("p")}, {"sk", S("s")}}));
    change(&request);
    return Await<wire::TransactGetItemsReply>(
               [&](auto done) { database->TransactGetItems(request, std::move(done)); })
        .status();
  };
}

std::vector<ErrorRow> BatchErrors() {
  const std::string values = "One or more parameter values were invalid: ";
  const std::string condition = "Invalid ConditionExpression: ";
  return {
      {"SEM-039", BatchWriting([](auto* r) { r->mutable_request_items(0)->set_table_name("Missing"); }),
       "Requested resource not found: Table: Missing not found", absl::StatusCode::kNotFound,
       kReasonResourceNotFound},
      {"SEM-039",
       Transacting([](auto* r) { r->mutable_transact_items(0)->mutable_put()->set_table_name("Missing"); }),
       "Requested resource not found: Table: Missing not found", absl::StatusCode::kNotFound,
       kReasonResourceNotFound},
      {"SEM-043", BatchGetting([](auto* r) {
         for (int i = 0; i < 100; ++i)
           r->mutable_request_items(0)->add_keys(Encode({{"pk", S(std::to_string(i))}, {"sk", S("s")}}));
       }),
       Apart("Too many items requested for the BatchGetItem call",
             "a batch must contain 1 to 100 keys; this one has 101")},
      {"SEM-043", BatchGetting([](auto* r) { r->mutable_request_items(0)->clear_keys(); }),
       "the list of keys for table 'Things' is empty"},
      {"SEM-043", BatchGetting([](auto* r) { *r->add_request_items() = r->request_items(0); }),
       "table 'Things' is named twice; put all its keys into one entry"},
      {"SEM-043", BatchGetting([](auto* r) { r->set_max_reply_bytes(0); }),
       "max_reply_bytes must be 1 to 16777216; it is 0"},
      {"SEM-044",
       BatchGetting([](auto* r) { r->mutable_request_items(0)->add_keys(r->request_items(0).keys(0)); }),
       "Provided list of item keys contains duplicates"},
      {"SEM-045", BatchWriting([](auto* r) {
         for (int i = 0; i < 25; ++i)
           r->mutable_request_items(0)->add_write_requests()->mutable_delete_request()->set_key(
               Encode({{"pk", S(std::to_string(i))}, {"sk", S("s")}}));
       }),
       Apart("Too many items requested for the BatchWriteItem call",
             "a batch must contain 1 to 25 write requests; this one has 26")},
      {"SEM-045", BatchWriting([](auto* r) { r->mutable_request_items(0)->add_write_requests(); }),
       Apart("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
             "each write request must contain a PutRequest or a DeleteRequest")},
      {"SEM-045", BatchWriting([](auto* r) { r->mutable_request_items(0)->clear_write_requests(); }),
       "the list of write requests for table 'Things' is empty"},
      {"SEM-046", BatchWriting([](auto* r) {
         r->mutable_request_items(0)->add_write_requests()->mutable_delete_request()->set_key(
             Encode({{"pk", S("batch")}, {"sk", S("s")}}));
       }),
       "Provided list of item keys contains duplicates"},
      {"SEM-001",
       BatchWriting([](auto* r) {
         r->mutable_request_items(0)->add_write_requests()->mutable_put_request()->set_item(
             Encode({{"pk", S("p")}, {"sk", S("s")}, {"fat", S(Long(409'600))}}));
       }),
       {"Item size has exceeded the maximum allowed size", " of 409600 bytes"}},
      {"SEM-070", BatchWriting([](auto* r) {
         r->mutable_request_items(0)->add_write_requests()->mutable_put_request()->set_item(
             Encode({{"pk", S("p")}, {"sk", S("s")}, {"a", N("1")}}));
       }),
       values + "Type mismatch for Index Key a Expected: S Actual: N IndexName: ByA"},
      {"SEM-026",
       [](TestDatabase& database) {
         wire::BatchGetItemRequest request;
         for (const char* table : {"Things", "Single"}) {
           auto* keys = request.add_request_items();
           keys->set_table_name(table);
           keys->add_keys(Encode({{"pk", S("p")}}));
         }
         request.mutable_request_items(0)->add_attributes_to_get("a");
         request.mutable_request_items(1)->set_projection_expression("a");
         return Await<wire::BatchGetItemReply>(
                    [&](auto done) { database->BatchGetItem(request, std::move(done)); })
             .status();
       },
       "Can not use both expression and non-expression parameters in the same request: Non-expression "
       "parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"},
      {"SEM-047", Transacting([](auto* r) { r->clear_transact_items(); }),
       "a transaction must contain 1 to 100 actions; this one has 0"},
      {"SEM-047", Transacting([](auto* r) {
         for (int i = 0; i < 100; ++i)
           *r->add_transact_items()->mutable_delete_() =
               WriteRequest("Things", {{"pk", S(std::to_string(i))}, {"sk", S("s")}});
       }),
       "a transaction must contain 1 to 100 actions; this one has 101"},
      {"SEM-047", Transacting([](auto* r) { PadTo(4'194'305, r); }),
       "a transaction may be at most 4194304 bytes long; this one has 4194305"},
      {"SEM-047", Transacting([](auto* r) {
         r->set_large(true);
         PadTo(17'825'793, r);
       }),
       "a transaction may be at most 17825792 bytes long; this one has 17825793"},
      {"SEM-047", Transacting([](auto* r) { r->add_transact_items(); }),
       Apart("TransactItems can only contain one of Check, Put, Update or Delete",
             "each action of a transaction must be a Put, Update, Delete or ConditionCheck")},
      {"SEM-047", Transacting([](auto* r) {
         *r->add_transact_items()->mutable_update() =
             WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}});
       }),
       "an Update in a transaction needs an UpdateExpression"},
      {"SEM-048",
       Transacting([](auto* r) { *r->add_transact_items()->mutable_delete_() = r->transact_items(0).put(); }),
       "Transaction request cannot include multiple operations on one item"},
      {"SEM-050", Transacting([](auto* r) { r->set_client_request_token(Long(37)); }),
       "ClientRequestToken must be 1 to 36 characters long; it has 37"},
      // The next four are errors of the request, not reasons of a cancellation (SEM-053).
      {"EXP-01", Transacting([](auto* r) {
         r->mutable_transact_items(0)->mutable_put()->set_condition_expression("a b");
       }),
       condition + "Syntax error; token: \"b\", near: \"a b\""},
      {"SEM-024", Transacting([](auto* r) {
         r->mutable_transact_items(0)->mutable_put()->set_condition_expression("a = :v");
       }),
       condition + "An expression attribute value used in expression is not defined; attribute value: :v"},
      {"SEM-001",
       Transacting([](auto* r) {
         r->mutable_transact_items(0)->mutable_put()->set_key_or_item(
             Encode({{"pk", S("p")}, {"sk", S("s")}, {"fat", S(Long(409'600))}}));
       }),
       {"Item size has exceeded the maximum allowed size", " of 409600 bytes"}},
      {"SEM-060", Transacting([](auto* r) {
         r->mutable_transact_items(0)->mutable_put()->set_return_values_on_condition_check_failure(
             static_cast<v1::ReturnValuesOnConditionCheckFailure>(9));
       }),
       "ReturnValuesOnConditionCheckFailure 9 is unknown"},
      // An empty key is an error of the request too (SEM-005).
      {"SEM-007", Transacting([](auto* r) {
         r->mutable_transact_items(0)->mutable_put()->set_key_or_item(
             Encode({{"pk", S("")}, {"sk", S("s")}}));
       }),
       "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
       "empty string value. Key: pk"},
      {"SEM-054", Transacting([](auto* r) {
         *r->add_transact_items()->mutable_condition_check() =
             WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}});
       }),
       "a ConditionCheck needs a ConditionExpression"},
      // What is wrong with the request itself comes before a missing table (SEM-115).
      {"EXP-01", Transacting([](auto* r) {
         r->mutable_transact_items(0)->mutable_put()->set_table_name("Nothing");
         *r->add_transact_items()->mutable_delete_() =
             If(WriteRequest("Things", {{"pk", S("q")}, {"sk", S("s")}}), "a b");
       }),
       condition + "Syntax error; token: \"b\", near: \"a b\""},
      {"SEM-001",
       Transacting([](auto* r) {
         r->mutable_transact_items(0)->mutable_put()->set_table_name("Nothing");
         *r->add_transact_items()->mutable_put() =
             WriteRequest("Nothing", {{"pk", S("p")}, {"sk", S("s")}, {"fat", S(Long(409'600))}});
       }),
       {"Item size has exceeded the maximum allowed size", " of 409600 bytes"}},
      {"SEM-048", Transacting([](auto* r) {
         r->mutable_transact_items(0)->mutable_put()->set_table_name("Nothing");
         *r->add_transact_items()->mutable_delete_() = r->transact_items(0).put();
       }),
       "Transaction request cannot include multiple operations on one item"},
      {"SEM-024", TransactGetting([](auto* r) {
         r->mutable_transact_items(0)->set_table_name("Nothing");
         r->add_transact_items()->set_table_name("Things");
         r->mutable_transact_items(1)->set_projection_expression("#undefined");
       }),
       "Invalid ProjectionExpression: An expression attribute name used in the document path is not defined; "
       "attribute name: #undefined"},
      {"SEM-048", TransactGetting([](auto* r) {
         r->mutable_transact_items(0)->set_table_name("Nothing");
         *r->add_transact_items() = r->transact_items(0);
       }),
       "Transaction request cannot include multiple operations on one item"},
      {"SEM-044",
       [](TestDatabase& database) {
         wire::BatchGetItemRequest request;
         request.add_request_items()->set_table_name("Nothing");
         for (int i = 0; i < 2; ++i) request.mutable_request_items(0)->add_keys(Encode({{"pk", S("p")}}));
         return Await<wire::BatchGetItemReply>(
                    [&](auto done) { database->BatchGetItem(request, std::move(done)); })
             .status();
       },
       "Provided list of item keys contains duplicates"},
      {"SEM-046",
       [](TestDatabase& database) {
         wire::BatchWriteItemRequest request;
         request.add_request_items()->set_table_name("Nothing");
         for (int i = 0; i < 2; ++i) {
           request.mutable_request_items(0)->add_write_requests()->mutable_delete_request()->set_key(
               Encode({{"pk", S("p")}}));
         }
         return Await<wire::BatchWriteItemReply>(
                    [&](auto done) { database->BatchWriteItem(request, std::move(done)); })
             .status();
       },
       "Provided list of item keys contains duplicates"},
      {"SEM-001",
       Put(Item({{"pk", S("p")}, {"sk", S("s")}, {"fat", S(Long(409'600))}}), "Nothing"),
       {"Item size has exceeded the maximum allowed size", " of 409600 bytes"}},
      {"SEM-001",
       BatchWriting([](auto* r) {
         r->mutable_request_items(0)->set_table_name("Nothing");
         r->mutable_request_items(0)->add_write_requests()->mutable_put_request()->set_item(
             Encode({{"pk", S("p")}, {"sk", S("s")}, {"fat", S(Long(409'600))}}));
       }),
       {"Item size has exceeded the maximum allowed size", " of 409600 bytes"}},
      {"SEM-056", TransactGetting([](auto* r) { r->clear_transact_items(); }),
       "a transaction must contain 1 to 100 gets; this one has 0"},
      {"SEM-048", TransactGetting([](auto* r) { *r->add_transact_items() = r->transact_items(0); }),
       "Transaction request cannot include multiple operations on one item"},
  };
}

INSTANTIATE_TEST_SUITE_P(Batches, ErrorTable, ::testing::ValuesIn(BatchErrors()), RuleAndPlace);

// A key that is too long: an error of a single request, but a cancellation reason in a transaction (SEM-005).
TEST(Errors, AKeyThatIsTooLongCancelsItsTransaction) {
  TestDatabase database;
  database.CreateTable(TableRequest("Things"));
  const auto long_key = WriteRequest("Things", {{"pk", S("p")}, {"sk", S(Long(1'025))}});
  wire::TransactWriteItemsRequest request;
  *request.add_transact_items()->mutable_put() = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}});
  for (int kind = 0; kind < 4; ++kind) {
    SCOPED_TRACE(kind);
    wire::TransactWriteItemsRequest transaction = request;
    auto* action = transaction.add_transact_items();
    if (kind == 0) *action->mutable_put() = long_key;
    if (kind == 1) *action->mutable_delete_() = long_key;
    if (kind == 2) *action->mutable_update() = long_key;
    if (kind == 2) action->mutable_update()->set_update_expression("REMOVE a");
    if (kind == 3) *action->mutable_condition_check() = If(long_key, "attribute_not_exists(pk)");
    auto reply = database.Transact(transaction);
    ASSERT_TRUE(reply.ok()) << reply.status();
    ASSERT_EQ(reply->cancelled().reasons_size(), 2);
    EXPECT_EQ(reply->cancelled().reasons(0).code(), v1::CANCELLATION_CODE_NONE);
    EXPECT_EQ(reply->cancelled().reasons(1).code(), v1::CANCELLATION_CODE_VALIDATION_ERROR);
    EXPECT_EQ(reply->cancelled().reasons(1).message(),
              "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the "
              "size limit of 1024 bytes");
  }
  EXPECT_EQ(database.Get("Things", {{"pk", S("p")}, {"sk", S("s")}}), "");
}

// BatchGetItem compares number keys by value here; the service compares their texts (SEM-013).
TEST(Errors, EqualNumbersAreOneKeyInABatchOfGets) {
  TestDatabase database;
  auto table = TableRequest("Numbers", /*sorted=*/false);
  table.mutable_attribute_definitions(0)->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_N);
  database.CreateTable(table);
  wire::BatchGetItemRequest request;
  auto* keys = request.add_request_items();
  keys->set_table_name("Numbers");
  keys->add_keys(Encode({{"pk", N("1000")}}));
  keys->add_keys(Encode({{"pk", N("1e3")}}));
  auto reply =
      Await<wire::BatchGetItemReply>([&](auto done) { database->BatchGetItem(request, std::move(done)); });
  EXPECT_EQ(RuleOf(reply.status()), "SEM-044");
}

}  // namespace
}  // namespace itemdb::testing::errors
