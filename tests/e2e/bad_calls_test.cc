// Calls that the client library never makes, directly over gRPC. Each call is refused with a status, a reason
// and a message, changes nothing, and the daemon continues to serve.
#include <string_view>

#include "google/protobuf/text_format.h"
#include "itemdb/v1/data.pb.h"
#include "itemdb/v1/tables.pb.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/processes/raw_client.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;

struct Row {
  const char* method;  // In the package itemdb.v1.
  std::string request;
  std::vector<std::string> says;
  grpc::StatusCode code = grpc::StatusCode::INVALID_ARGUMENT;
  const char* reason = "VALIDATION";
};

// The bytes of a message that is given as text.
template <typename Message>
std::string Bytes(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message.SerializeAsString();
}

std::string Put(const std::string& item, const std::string& more = "") {
  return Bytes<v1::PutItemRequest>("table_name: 'Product' item { " + item + " } " + more);
}

// The key attributes of a stock item, and one more attribute.
std::string ItemWith(const std::string& value) {
  return "attributes { name: 'product_id' value { s: 'p' } } attributes { name: 'warehouse_id' value { s: "
         "'w' } } "
         "attributes { name: 'v' " +
         value + " }";
}

std::string Key(const std::string& id) {
  return "{ attributes { name: 'product_id' value { s: '" + id +
         "' } } attributes { name: 'warehouse_id' value { s: 'w' } } }";
}

// A length-delimited field around `bytes`.
std::string Field(int number, const std::string& bytes) {
  std::string field(1, static_cast<char>(number << 3 | 2));
  size_t length = bytes.size();
  for (; length >= 0x80; length >>= 7) field.push_back(static_cast<char>(length | 0x80));
  field.push_back(static_cast<char>(length));
  return field + bytes;
}

class BadCallsTest : public E2eTest {
 protected:
  void SetUp() override {
    E2eTest::SetUp();
    LoadOrderEntry();
  }

  void ExpectRefused(const std::vector<Row>& rows) {
    const uint64_t before = ChangeSequence();
    const RawClient client(daemon_.endpoint());
    for (size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[i];
      SCOPED_TRACE("row " + std::to_string(i) + ": " + row.method);
      const std::string method = std::string("itemdb.v1.") + row.method;
      const bool exchanges = std::string_view(row.method) == "Data/BulkWrite";
      const RawReply reply =
          exchanges ? client.Exchange(method, row.request) : client.Call(method, row.request);
      EXPECT_EQ(reply.status.error_code(), row.code) << reply.status.error_message();
      EXPECT_EQ(reply.reason, row.reason);
      const std::string message = reply.status.error_message();
      // gRPC itself answers UNIMPLEMENTED, without a message.
      EXPECT_EQ(message.empty(), row.code == grpc::StatusCode::UNIMPLEMENTED);
      EXPECT_LT(message.size(), 4'096u);
      for (const std::string& part : row.says) EXPECT_THAT(message, HasSubstr(part));
    }
    EXPECT_EQ(ChangeSequence(), before);
    ExpectCheckIsClean();
  }
};

TEST_F(BadCallsTest, BytesThatAreNoRequest) {
  std::vector<Row> rows;
  for (const char* method : {"Data/PutItem",
                             "Data/GetItem",
                             "Data/UpdateItem",
                             "Data/DeleteItem",
                             "Data/BatchWriteItem",
                             "Data/TransactWriteItems",
                             "Data/Query",
                             "Data/Scan",
                             "Data/SearchVectors",
                             "Data/BatchGetItem",
                             "Data/TransactGetItems",
                             "Data/QueryStream",
                             "Data/ScanStream",
                             "Data/BulkWrite",
                             "Data/ExecuteStatement",
                             "Data/ExecuteTransaction",
                             "Data/BatchExecuteStatement",
                             "Tables/CreateTable",
                             "Tables/DescribeTable",
                             "Tables/ListTables",
                             "Tables/DeleteTable",
                             "Tables/UpdateContributorInsights",
                             "Tables/DescribeContributorInsights",
                             "Tables/ListContributorInsights",
                             "Changes/ReadChanges",
                             "Changes/HoldChanges",
                             "Changes/ReleaseChanges",
                             "Changes/UndoChanges",
                             "Admin/GetStatus",
                             "Admin/CheckDatabase",
                             "Admin/GetAccessPatterns",
                             "Admin/GetTopKeys"}) {
    // A field that is longer than the message, the wire types of groups, and text that is not UTF-8 (if field
    // 1 is text).
    rows.push_back({method, std::string("\x0a\xff", 2), {"request message", method}});
    rows.push_back({method, "\x0b\x0b\x0b\x0b", {"request message", method}});
  }
  rows.push_back({"Data/GetItem", std::string("\x0a\x04\xff\xfe\xfd\xfc", 6), {}});
  ExpectRefused(rows);
}

TEST_F(BadCallsTest, EmptyRequests) {
  ExpectRefused({
      {"Data/PutItem", "", {"TableName"}},
      {"Data/GetItem", "", {"TableName"}},
      {"Data/UpdateItem", "", {"TableName"}},
      {"Data/DeleteItem", "", {"TableName"}},
      {"Data/Query", "", {}},
      {"Data/Scan", "", {"TableName"}},
      {"Data/SearchVectors", "", {"TopK", "1", "100"}},
      {"Data/SearchVectors", Bytes<v1::SearchVectorsRequest>("table_name: 'Product' top_k: 1"), {"index"}},
      {"Data/SearchVectors",
       Bytes<v1::SearchVectorsRequest>("table_name: 'Product' top_k: 1 search_vector { s: '1' }"),
       {"32-bit floating-point"}},
      {"Data/SearchVectors",
       Bytes<v1::SearchVectorsRequest>("table_name: 'Product' top_k: 1 search_vector { n: 'NaN' }"),
       {"32-bit floating-point"}},
      {"Data/BatchWriteItem", "", {"1", "25"}},
      {"Data/TransactWriteItems", "", {"1", "100"}},
      {"Data/ExecuteStatement", "", {"a statement", "1", "8192"}},
      {"Data/BatchExecuteStatement", "", {"1", "25"}},
      {"Data/ExecuteTransaction", "", {"1", "100"}},
      {"Tables/CreateTable", "", {}},
      {"Tables/DescribeTable", "", {"TableName"}},
      {"Tables/DeleteTable", "", {"TableName"}},
      {"Data/Query", Bytes<v1::QueryRequest>("table_name: 'Product'"), {"KeyConditionExpression"}},
      {"Data/PutItem", Bytes<v1::PutItemRequest>("table_name: 'Product'"), {"product_id"}},
      {"Data/GetItem",
       Bytes<v1::GetItemRequest>("table_name: 'Product'"),
       {"product_id (S), warehouse_id (S)"}},
  });
}

// Values that the C++ types of the client library cannot express.
TEST_F(BadCallsTest, ValuesThatAreNone) {
  std::string deep = "s: 'x'";
  for (int i = 0; i < 40; ++i) deep = "l { values { " + deep + " } }";
  // Deeper than protobuf's own limit.
  std::string deeper;
  for (int i = 0; i < 5'000; ++i) deeper = Field(7, Field(1, deeper));
  const std::string deeper_item = Field(1, Field(1, "v") + Field(2, deeper));
  ExpectRefused({
      {"Data/PutItem", Put(ItemWith("")), {"\"v\""}},
      {"Data/PutItem", Put(ItemWith("value { }")), {"\"v\""}},
      {"Data/PutItem", Put(ItemWith("value { null: false }")), {"\"v\"", "Null", "true"}},
      {"Data/PutItem", Put(ItemWith("value { n: '' }")), {"\"v\""}},
      {"Data/PutItem", Put(ItemWith("value { n: '0x10' }")), {"\"v\""}},
      {"Data/PutItem", Put(ItemWith("value { n: '1e999999999999999999' }")), {"\"v\""}},
      {"Data/PutItem", Put(ItemWith("value { ns { values: '1' values: '1.0' } }")), {"\"v\"", "duplicates"}},
      {"Data/PutItem", Put(ItemWith("value { ss { } }")), {"\"v\"", "empty"}},
      {"Data/PutItem", Put(ItemWith("value { l { values { } } }")), {"v[0]"}},
      {"Data/PutItem", Put(ItemWith("value { m { attributes { value { s: 'x' } } } }")), {"attribute name"}},
      {"Data/PutItem",
       Put(ItemWith("value { s: 'x' }") + " attributes { name: 'v' value { s: 'y' } }"),
       {"v"}},
      {"Data/PutItem",
       Put(ItemWith(
           "value { m { attributes { name: 'd' value { n: '1' } } attributes { name: 'd' value { n: '2' } } "
           "} }")),
       {"d"}},
      {"Data/PutItem", Put(ItemWith("value { " + deep + " }")), {"32"}},
      {"Data/PutItem", Field(1, "Product") + Field(2, deeper_item), {}},
      {"Data/PutItem",
       Put("attributes { name: 'product_id' value { ss { values: 'p' } } } attributes { name: 'warehouse_id' "
           "value "
           "{ s: 'w' } }"),
       {"product_id", "S", "SS"}},
  });
}

TEST_F(BadCallsTest, EnumsAndLimits) {
  ExpectRefused({
      {"Data/PutItem",
       Put(ItemWith("value { n: '1' }"), "return_values: RETURN_VALUES_ALL_NEW"),
       {"NONE", "ALL_OLD"}},
      {"Data/PutItem", Put(ItemWith("value { n: '1' }")) + "\x30\x63", {"ReturnValues", "99"}},
      {"Data/PutItem",
       Put(ItemWith("value { n: '1' }")) + "\x38\x63",
       {"ReturnValuesOnConditionCheckFailure"}},
      {"Data/Query",
       Bytes<v1::QueryRequest>("table_name: 'Product' key_condition_expression: 'product_id = :p' limit: 0 "
                               "expression_attribute_values { key: ':p' value { s: 'x' } }"),
       {"Limit"}},
      {"Data/Scan", Bytes<v1::ScanRequest>("table_name: 'Product' limit: -5"), {"Limit"}},
      {"Tables/ListTables", Bytes<v1::ListTablesRequest>("limit: 101"), {"Limit", "100"}},
      {"Tables/ListTables", Bytes<v1::ListTablesRequest>("limit: 0"), {"Limit"}},
  });
}

// Limits of batches and transactions (SEM-045 to SEM-048); a ConditionCheck needs a condition (SEM-054).
TEST_F(BadCallsTest, BatchesAndTransactions) {
  std::string puts;
  std::string actions;
  for (int i = 0; i <= 100; ++i) {
    const std::string id = std::to_string(i);
    if (i <= 25) puts += " write_requests { put_request { item " + Key(id) + " } }";
    actions += " transact_items { put { table_name: 'Product' item " + Key(id) + " } }";
  }
  const auto batch = [](const std::string& writes) {
    return Bytes<v1::BatchWriteItemRequest>("request_items { table_name: 'Product' " + writes + " }");
  };
  const auto transact = [](const std::string& items) { return Bytes<v1::TransactWriteItemsRequest>(items); };
  // Twelve actions, more than 4 MiB together; no single item is too large.
  std::string large;
  for (int i = 0; i < 12; ++i) {
    large +=
        " transact_items { put { table_name: 'Product' item { attributes { name: 'product_id' value { s: 'p" +
        std::to_string(i) +
        "' } } attributes { name: 'warehouse_id' value { s: 'w' } } attributes { name: 't' "
        "value { s: '" +
        std::string(380'000, 'x') + "' } } } } }";
  }
  ExpectRefused({
      {"Data/BatchWriteItem", batch(puts), {"25"}},
      {"Data/BatchWriteItem", batch(""), {}},
      {"Data/BatchWriteItem", batch("write_requests { }"), {}},
      {"Data/BatchWriteItem",
       batch("write_requests { put_request { item " + Key("p") +
             " } } write_requests { delete_request { key " + Key("p") + " } }"),
       {"duplicates"}},
      // One bad item refuses the whole batch (SEM-046).
      {"Data/BatchWriteItem",
       batch("write_requests { put_request { item " + Key("good") +
             " } } write_requests { put_request { item { attributes { name: 'product_id' value { s: 'p' } } "
             "} } }"),
       {"warehouse_id"}},
      {"Data/TransactWriteItems", transact(actions), {"100"}},
      {"Data/TransactWriteItems", transact("transact_items { }"), {}},
      {"Data/TransactWriteItems",
       transact("transact_items { put { table_name: 'Product' item " + Key("p") +
                " } } transact_items { delete { table_name: 'Product' key " + Key("p") + " } }"),
       {"multiple operations on one item"}},
      {"Data/TransactWriteItems",
       transact("transact_items { condition_check { table_name: 'Product' key " + Key("p") + " } }"),
       {"ConditionExpression"}},
      {"Data/TransactWriteItems",
       transact("transact_items { update { table_name: 'Product' key " + Key("p") + " } }"),
       {"UpdateExpression"}},
      {"Data/TransactWriteItems", transact(large), {"4194304"}},
      {"Data/TransactWriteItems",
       transact("transact_items { put { table_name: 'nope' item " + Key("p") + " } }"),
       {"nope"},
       grpc::StatusCode::NOT_FOUND,
       "RESOURCE_NOT_FOUND"},
  });
}

v1::ExecuteStatementRequest Statement(const std::string& text) {
  v1::ExecuteStatementRequest request;
  request.set_statement(text);
  return request;
}

// Malformed PartiQL statements, and statements over a limit (PQL-06 to PQL-18).
TEST_F(BadCallsTest, StatementsThatAreNone) {
  const auto execute = [](const std::string& text) { return Statement(text).SerializeAsString(); };
  v1::ExecuteStatementRequest unused = Statement("SELECT * FROM Product WHERE product_id = 'p'");
  unused.add_parameters()->set_s("x");
  v1::ExecuteStatementRequest empty = Statement("SELECT * FROM Product WHERE product_id = ?");
  empty.add_parameters();
  v1::ExecuteStatementRequest no_number = empty;
  no_number.mutable_parameters(0)->set_n("many");
  v1::ExecuteStatementRequest limited = Statement("SELECT * FROM Product");
  limited.set_limit(0);
  v1::ExecuteStatementRequest elsewhere = Statement("SELECT * FROM Product");
  elsewhere.set_next_token("not a token");
  v1::ExecuteStatementRequest limited_write =
      Statement("DELETE FROM Product WHERE product_id = 'p' AND warehouse_id = 'w'");
  limited_write.set_limit(1);
  const std::string well_formed = "Statement wasn't well formed";
  ExpectRefused({
      {"Data/ExecuteStatement", execute(" "), {well_formed, "SELECT", "character 2"}},
      {"Data/ExecuteStatement",
       execute("SELECT * FROM Product WHERE"),
       {well_formed, "end of the statement"}},
      {"Data/ExecuteStatement", execute(std::string("SELECT\0*", 8)), {well_formed}},
      {"Data/ExecuteStatement",
       execute("SELECT * FROM Product WHERE a = " + std::string(8'000, '[')),
       {"32"}},
      {"Data/ExecuteStatement", execute("SELECT * FROM Product WHERE " + std::string(8'000, '(')), {"100"}},
      {"Data/ExecuteStatement", execute(std::string(8'193, 'x')), {"8192"}},
      {"Data/ExecuteStatement", execute("SELECT COUNT(*) FROM Product"), {"Aggregate"}},
      {"Data/ExecuteStatement",
       execute("SELECT * FROM nope"),
       {"nope"},
       grpc::StatusCode::NOT_FOUND,
       "RESOURCE_NOT_FOUND"},
      {"Data/ExecuteStatement", execute("SELECT * FROM Product.nope"), {"nope"}},
      {"Data/ExecuteStatement",
       execute("SELECT * FROM Product WHERE product_id = ?"),
       {"Number of parameters"}},
      {"Data/ExecuteStatement", unused.SerializeAsString(), {"Number of parameters"}},
      {"Data/ExecuteStatement", empty.SerializeAsString(), {"AttributeValue is empty"}},
      {"Data/ExecuteStatement", no_number.SerializeAsString(), {"numeric"}},
      {"Data/ExecuteStatement", limited.SerializeAsString(), {"Limit"}},
      {"Data/ExecuteStatement", limited_write.SerializeAsString(), {"Limit"}},
      {"Data/ExecuteStatement", elsewhere.SerializeAsString(), {"NextToken"}},
      {"Data/ExecuteStatement", execute("INSERT INTO Product VALUE {'product_id': 'p'}"), {"warehouse_id"}},
      {"Data/ExecuteStatement",
       execute("UPDATE Product SET a = 1 WHERE product_id = 'p'"),
       {"all key attributes"}},
      {"Data/ExecuteStatement",
       execute("DELETE FROM Product WHERE product_id = 'p'"),
       {"all key attributes"}},
      {"Data/ExecuteStatement",
       execute("UPDATE Product SET product_id = 'q' WHERE product_id = 'p' AND warehouse_id = 'w'"),
       {"product_id"}},
      {"Data/ExecuteStatement",
       execute("EXISTS(SELECT * FROM Product WHERE product_id = 'p' AND warehouse_id = 'w' AND a = 1)"),
       {"EXISTS"}},
  });
}

// Errors that refuse all statements of a request: limits (PQL-12), of batches (PQL-14) and of transactions
// (PQL-15).
TEST_F(BadCallsTest, SeveralStatements) {
  const std::string read = "SELECT * FROM Product WHERE product_id = 'p' AND warehouse_id = 'w'";
  const std::string write = "DELETE FROM Product WHERE product_id = 'p' AND warehouse_id = 'w'";
  const auto batch = [](const std::vector<std::string>& texts) {
    v1::BatchExecuteStatementRequest request;
    for (const std::string& text : texts) request.add_statements()->set_statement(text);
    return request.SerializeAsString();
  };
  const auto transaction = [](const std::vector<std::string>& texts, const std::string& token = "") {
    v1::ExecuteTransactionRequest request;
    for (const std::string& text : texts) request.add_transact_statements()->set_statement(text);
    request.set_client_request_token(token);
    return request.SerializeAsString();
  };
  ExpectRefused({
      {"Data/BatchExecuteStatement", batch(std::vector<std::string>(26, read)), {"25", "26"}},
      {"Data/BatchExecuteStatement", batch({read, write}), {"read", "write"}},
      {"Data/ExecuteTransaction", transaction(std::vector<std::string>(101, write)), {"100", "101"}},
      {"Data/ExecuteTransaction", transaction({read, write}), {"read", "write"}},
      {"Data/ExecuteTransaction", transaction({write, write}), {"one item"}},
      {"Data/ExecuteTransaction", transaction({write + " RETURNING ALL OLD *"}), {"RETURNING"}},
      {"Data/ExecuteTransaction", transaction({"DELETE"}), {"Statement wasn't well formed"}},
      {"Data/ExecuteTransaction", transaction({write}, std::string(37, 't')), {"ClientRequestToken", "37"}},
  });
}

// Streams of pages (EXT-01) are refused like single calls.
TEST_F(BadCallsTest, StreamsOfPagesThatCannotBegin) {
  const auto query = [](const std::string& text) {
    return Bytes<v1::QueryStreamRequest>("query { table_name: 'Product' " + text + " }");
  };
  const std::string condition =
      "key_condition_expression: 'product_id = :p' expression_attribute_values { key: ':p' value { s: 'p' } "
      "} ";
  const auto scan = [](const std::string& text) {
    return Bytes<v1::ScanStreamRequest>("scan { " + text + " }");
  };
  ExpectRefused({
      {"Data/QueryStream", "", {"KeyConditionExpression"}},
      {"Data/QueryStream", query(""), {"KeyConditionExpression"}},
      {"Data/QueryStream",
       query("key_condition_expression: 'warehouse_id = :p' "
             "expression_attribute_values { key: ':p' value { s: 'p' } }"),
       {"product_id"}},
      {"Data/QueryStream", query(condition + "limit: 0"), {"Limit"}},
      {"Data/QueryStream", query(condition + "limit: -1"), {"Limit"}},
      {"Data/QueryStream", query(condition + "filter_expression: 'a ='"), {"Invalid FilterExpression"}},
      {"Data/QueryStream", query(condition + "index_name: 'nope'"), {"nope"}},
      {"Data/QueryStream", query(condition + "exclusive_start_key " + Key("another")), {"starting key"}},
      {"Data/QueryStream", query(condition + "select: 9"), {"Select"}},
      {"Data/ScanStream", "", {"TableName"}},
      {"Data/ScanStream",
       scan("table_name: 'nope'"),
       {"nope"},
       grpc::StatusCode::NOT_FOUND,
       "RESOURCE_NOT_FOUND"},
      {"Data/ScanStream", scan("table_name: 'Product' segment: 1"), {"TotalSegments"}},
      {"Data/ScanStream", scan("table_name: 'Product' segment: 2 total_segments: 2"), {"Segment"}},
      {"Data/ScanStream", scan("table_name: 'Product' exclusive_start_key { }"), {"starting key"}},
      {"Data/ScanStream", scan("table_name: 'Product' limit: 0") + std::string("\x10\x01"), {"Limit"}},
  });
}

// A chunk out of order, too long or empty ends the stream (EXT-03).
TEST_F(BadCallsTest, ChunksThatAreRefusedAsAWhole) {
  const auto chunk = [](const std::string& text) { return Bytes<v1::BulkWriteChunk>(text); };
  const std::string put =
      "request_items { table_name: 'Product' write_requests { put_request { item " + Key("p") + " } } } ";
  std::string many = "chunk_number: 1 request_items { table_name: 'Product' ";
  for (int i = 0; i < 1'001; ++i)
    many += "write_requests { delete_request { key " + Key("p" + std::to_string(i)) + " } } ";
  std::string large = "chunk_number: 1 request_items { table_name: 'Product' ";
  for (int i = 0; i < 11; ++i)
    large += "write_requests { put_request { item { attributes { name: 'v' value { s: '" +
             std::string(390'000, 'x') + "' } } } } } ";
  ExpectRefused({
      {"Data/BulkWrite", "", {"chunk 0 came where chunk 1"}},
      {"Data/BulkWrite", chunk("chunk_number: 1"), {"chunk 1 has 0"}},
      {"Data/BulkWrite", chunk(put), {"chunk 0 came where chunk 1"}},
      {"Data/BulkWrite", chunk("chunk_number: 2 " + put), {"chunk 2 came where chunk 1"}},
      {"Data/BulkWrite", chunk(many + "}"), {"chunk 1 has 1001"}},
      {"Data/BulkWrite", chunk(large + "}"), {"at most 4194304 bytes"}},
      {"Data/BulkWrite",
       chunk("chunk_number: 1 client_request_token: '" + std::string(37, 'x') + "' " + put),
       {"ClientRequestToken", "37"}},
  });
}

// Writes that can never be applied are named in the answer and change nothing (EXT-03).
TEST_F(BadCallsTest, WritesOfAChunkThatCannotBeAppliedAreNamed) {
  const uint64_t before = ChangeSequence();
  const RawReply reply =
      RawClient(daemon_.endpoint())
          .Exchange("itemdb.v1.Data/BulkWrite",
                    Bytes<v1::BulkWriteChunk>(
                        "chunk_number: 1 request_items { table_name: 'Product' "
                        "write_requests { put_request { item { " +
                        ItemWith("value { n: 'x' }") +
                        " } } } write_requests { } write_requests { delete_request { key { } } } "
                        "} request_items { table_name: 'nope' write_requests { delete_request { "
                        "key " +
                        Key("p") + " } } }"));
  ASSERT_TRUE(reply.status.ok()) << reply.status.error_message();
  v1::BulkWriteReply answer;
  ASSERT_TRUE(answer.ParseFromString(reply.bytes));
  EXPECT_EQ(answer.chunk_number(), 1u);
  ASSERT_EQ(answer.rejected_size(), 4);
  const struct {
    const char* reason;
    const char* says;
  } expected[] = {{"VALIDATION", "\"v\""},
                  {"VALIDATION", "PutRequest or a DeleteRequest"},
                  {"VALIDATION", "product_id (S), warehouse_id (S)"},
                  {"RESOURCE_NOT_FOUND", "nope"}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(answer.rejected(i).index(), i);
    EXPECT_EQ(answer.rejected(i).reason(), expected[i].reason);
    EXPECT_THAT(answer.rejected(i).message(), HasSubstr(expected[i].says));
  }
  EXPECT_EQ(ChangeSequence(), before);
  ExpectCheckIsClean();
}

// The limit of an item's size (SEM-001) holds for updates too.
TEST_F(BadCallsTest, AnUpdateThatMakesAnItemTooLarge) {
  const std::string value = std::string(300'000, 'x');
  const auto update = [&value](const char* name) {
    return Bytes<v1::UpdateItemRequest>(
        "table_name: 'Product' key " + Key("p") + " update_expression: 'SET " + name +
        " = :v' expression_attribute_values { key: ':v' value { s: '" + value + "' } }");
  };
  ASSERT_TRUE(RawClient(daemon_.endpoint()).Call("itemdb.v1.Data/UpdateItem", update("a")).status.ok());
  ExpectRefused({{"Data/UpdateItem", update("b"), {"Item size", "409600"}}});
}

TEST_F(BadCallsTest, UnknownMethodsAndServices) {
  ExpectRefused({
      {"Data/Frobnicate", "", {}, grpc::StatusCode::UNIMPLEMENTED, ""},
      {"Nothing/PutItem", "", {}, grpc::StatusCode::UNIMPLEMENTED, ""},
  });
}

// Unknown fields of a newer client are ignored, as usual in protobuf. Inside items they are refused, because
// items are stored as they are.
TEST_F(BadCallsTest, UnknownFieldsOfARequestAreIgnored) {
  const RawClient client(daemon_.endpoint());
  const std::string unknown =
      "\xfa\x3f\x03"
      "new";  // Field 1023.
  const std::string get = Bytes<v1::GetItemRequest>("table_name: 'Product' key " + Key("p")) + unknown;
  EXPECT_TRUE(client.Call("itemdb.v1.Data/GetItem", get).status.ok());
  ASSERT_TRUE(client.Call("itemdb.v1.Data/PutItem", Put(ItemWith("value { n: '1' }")) + unknown).status.ok());
  const RawReply reply = client.Call("itemdb.v1.Data/GetItem",
                                     Bytes<v1::GetItemRequest>("table_name: 'Product' key " + Key("p")));
  EXPECT_EQ(reply.bytes.find("new"), std::string::npos);
}

}  // namespace
}  // namespace itemdb::e2e
