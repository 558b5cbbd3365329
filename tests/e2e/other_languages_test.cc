// Replies parsed by generated classes of another language. A Python client makes every call; it must parse
// the same values as C++, and no byte may be unknown to either. The daemon encodes items in replies by hand;
// this test shows that its replies are valid messages of the contract.
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <filesystem>

#include "absl/strings/escaping.h"
#include "itemdb/v1/admin.pb.h"
#include "itemdb/v1/changes.pb.h"
#include "itemdb/v1/data.pb.h"
#include "itemdb/v1/tables.pb.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/processes/raw_client.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

using google::protobuf::Message;

constexpr char kPython[] = "/usr/bin/python3";
constexpr char kGo[] = "/usr/bin/go";
// Where Debian installs Go's gRPC library.
constexpr char kGoPath[] = "/usr/share/gocode";

std::string ToHex(const std::string& bytes) { return std::string(absl::BytesToHexString(bytes)); }

struct Call {
  std::string method;
  std::string request;
  std::shared_ptr<Message> reply;  // Parsed by C++; null for an error.
  RawReply raw;
};

class OtherLanguagesTest : public E2eTest {
 protected:
  void SetUp() override {
    if (RunProgram(kPython, {"-c", "import grpc, google.protobuf"}).exit_code != 0) {
      GTEST_SKIP() << "needs python3-grpcio and python3-protobuf";
    }
    E2eTest::SetUp();
    LoadOrderEntry();
    raw_ = std::make_unique<RawClient>(daemon_.endpoint());
  }

  // Makes a call from C++ and keeps it, so that Python makes the same call. No call may change the database.
  template <typename Request, typename Reply>
  void Add(const std::string& method, const std::string& request_text) {
    Request request;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(request_text, &request)) << request_text;
    Call call{
        .method = "itemdb.v1." + method, .request = request.SerializeAsString(), .reply = nullptr, .raw = {}};
    call.raw = raw_->Call(call.method, call.request);
    if (call.raw.status.ok()) {
      auto reply = std::make_shared<Reply>();
      ASSERT_TRUE(reply->ParseFromString(call.raw.bytes)) << method;
      call.reply = reply;
    }
    calls_.push_back(std::move(call));
  }

  static std::string AsJson(const google::protobuf::Message& message) {
    std::string json;
    google::protobuf::util::JsonPrintOptions options;
    options.preserve_proto_field_names = true;
    EXPECT_TRUE(google::protobuf::util::MessageToJsonString(message, &json, options).ok());
    return json;
  }

  // All calls, as clients of other languages read them from stdin.
  std::string CallsAsLines() const {
    std::string lines;
    for (const Call& call : calls_) lines += call.method + " " + ToHex(call.request) + "\n";
    return lines;
  }

  // Makes all calls from Python and compares the replies.
  void CompareWithPython() {
    const CommandResult python = RunProgram(kPython,
                                            {testing::SourcePath("tests/e2e/python_client.py"),
                                             testing::BuildPath("tests/e2e/python"), daemon_.endpoint()},
                                            CallsAsLines());
    ASSERT_EQ(python.exit_code, 0) << python.err;
    const std::vector<Json> lines = ParseLines(python.out);
    ASSERT_EQ(lines.size(), calls_.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      const Call& call = calls_[i];
      SCOPED_TRACE(call.method + " (call " + std::to_string(i) + ")");
      if (call.reply == nullptr) {
        EXPECT_EQ(lines[i]["code"], static_cast<int>(call.raw.status.error_code()));
        EXPECT_EQ(lines[i]["message"], call.raw.status.error_message());
        const Json& status = lines[i]["status"];
        EXPECT_EQ(status["code"], lines[i]["code"]);
        EXPECT_EQ(status["message"], lines[i]["message"]);
        ASSERT_GE(status["details"].size(), 1u) << status;
        EXPECT_EQ(status["details"][0]["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
        EXPECT_EQ(status["details"][0]["reason"], call.raw.reason);
        EXPECT_EQ(status["details"][0]["domain"], "itemdb");
        continue;
      }
      // The statistics of the daemon differ from call to call; Python only has to parse them.
      if (call.method == "itemdb.v1.Admin/GetStatus") {
        EXPECT_TRUE(lines[i].contains("json")) << lines[i];
        EXPECT_EQ(lines[i]["json"].size(), Json::parse(AsJson(*call.reply)).size());
        continue;
      }
      // C++ and Python know all fields of the reply, and serialize the same bytes. (The bytes on the wire may
      // have the fields in another order.)
      const std::string cpp = call.reply->SerializeAsString();
      call.reply->DiscardUnknownFields();
      EXPECT_EQ(call.reply->ByteSizeLong(), call.raw.bytes.size());
      EXPECT_TRUE(lines[i]["bytes"] == ToHex(cpp)) << lines[i]["bytes"] << "\n" << ToHex(cpp);
      // The values are equal too.
      EXPECT_EQ(lines[i]["json"], Json::parse(AsJson(*call.reply)));
    }
  }

  std::unique_ptr<RawClient> raw_;
  std::vector<Call> calls_;
};

// Items of all ten types, in every part of a reply that can have an item.
TEST_F(OtherLanguagesTest, PythonAndCppReadTheSameReplies) {
  const std::string key =
      "{ attributes { name: 'product_id' value { s: 'p' } } attributes { name: 'warehouse_id' value { s: 'w' "
      "} } }";
  const std::string every_type = R"({
      attributes { name: 'product_id' value { s: 'p' } } attributes { name: 'warehouse_id' value { s: 'w' } }
      attributes { name: 'n' value { n: '-12345678901234567890123456789012345678' } }
      attributes { name: 'b' value { b: '\000\377\200' } } attributes { name: 'empty' value { s: '' } }
      attributes { name: 'ss' value { ss { values: 'b' values: 'a' } } }
      attributes { name: 'ns' value { ns { values: '10' values: '9.50' } } }
      attributes { name: 'bs' value { bs { values: '\001' values: '' } } }
      attributes { name: 'l' value { l { values { s: 'x' } values { l { } } values { null: true } } } }
      attributes { name: 'm' value { m { attributes { name: 'k' value { m { } } } } } }
      attributes { name: 't' value { bool: true } } attributes { name: 'f' value { bool: false } }
      attributes { name: 'null' value { null: true } } attributes { name: '\303\251' value { s: '\346\227\245' } } })";
  const std::string put =
      "table_name: 'Product' item " + every_type + " return_values: RETURN_VALUES_ALL_OLD";
  v1::PutItemRequest first;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(put, &first));
  ASSERT_TRUE(raw_->Call("itemdb.v1.Data/PutItem", first.SerializeAsString()).status.ok());
  const uint64_t before = ChangeSequence();

  // Writes that change nothing write no change record, so both languages get the same reply.
  Add<v1::PutItemRequest, v1::PutItemReply>("Data/PutItem", put);
  Add<v1::PutItemRequest, v1::PutItemReply>("Data/PutItem",
                                            "table_name: 'Product' item " + key +
                                                " condition_expression: 'attribute_not_exists(product_id)' "
                                                "return_values_on_condition_check_failure: "
                                                "RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD");
  Add<v1::UpdateItemRequest, v1::UpdateItemReply>(
      "Data/UpdateItem", "table_name: 'Product' key " + key +
                             " update_expression: 'REMOVE nothing' return_values: RETURN_VALUES_ALL_NEW");
  Add<v1::DeleteItemRequest, v1::DeleteItemReply>(
      "Data/DeleteItem",
      "table_name: 'Product' key { attributes { name: 'product_id' value { s: 'no' } } attributes "
      "{ name: 'warehouse_id' value { s: 'no' } } } return_values: RETURN_VALUES_ALL_OLD");
  Add<v1::BatchWriteItemRequest, v1::BatchWriteItemReply>(
      "Data/BatchWriteItem",
      "request_items { table_name: 'Product' write_requests { put_request { item " + every_type + " } } }");
  Add<v1::TransactWriteItemsRequest, v1::TransactWriteItemsReply>(
      "Data/TransactWriteItems", "transact_items { put { table_name: 'Product' item " + every_type + " } }");
  Add<v1::TransactWriteItemsRequest, v1::TransactWriteItemsReply>(
      "Data/TransactWriteItems", "transact_items { condition_check { table_name: 'Product' key " + key +
                                     " condition_expression: 'attribute_not_exists(product_id)' "
                                     "return_values_on_condition_check_failure: "
                                     "RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD } }");
  Add<v1::GetItemRequest, v1::GetItemReply>("Data/GetItem", "table_name: 'Product' key " + key);
  Add<v1::GetItemRequest, v1::GetItemReply>(
      "Data/GetItem", "table_name: 'Product' projection_expression: 'l[1], m.k, bs' key " + key);
  Add<v1::GetItemRequest, v1::GetItemReply>(
      "Data/GetItem", "table_name: 'Product' projection_expression: 'absent' key " + key);
  Add<v1::GetItemRequest, v1::GetItemReply>(
      "Data/GetItem",
      "table_name: 'Employee' key { attributes { name: 'employee_id' value { s: 'nobody' } } }");
  Add<v1::QueryRequest, v1::QueryReply>("Data/Query",
                                        "table_name: 'Order' index_name: 'OrderByAccountRep' "
                                        "key_condition_expression: 'account_rep_id = :r' limit: 2 "
                                        "expression_attribute_values { key: ':r' value { s: 'rep_001' } }");
  Add<v1::QueryRequest, v1::QueryReply>(
      "Data/Query",
      "table_name: 'Product' key_condition_expression: 'product_id = :p' scan_index_forward: false "
      "expression_attribute_values { key: ':p' value { s: 'prod_100' } }");
  for (const char* table : {"Employee", "Customer", "Order", "Product"}) {
    Add<v1::ScanRequest, v1::ScanReply>("Data/Scan", "table_name: '" + std::string(table) + "'");
    Add<v1::ScanRequest, v1::ScanReply>("Data/Scan", "limit: 1 table_name: '" + std::string(table) + "'");
    Add<v1::DescribeTableRequest, v1::DescribeTableReply>("Tables/DescribeTable",
                                                          "table_name: '" + std::string(table) + "'");
  }
  Add<v1::ListTablesRequest, v1::ListTablesReply>("Tables/ListTables", "limit: 3");
  Add<v1::ReadChangesRequest, v1::ReadChangesReply>("Changes/ReadChanges", "");
  Add<v1::GetStatusRequest, v1::GetStatusReply>("Admin/GetStatus", "");
  Add<v1::CheckDatabaseRequest, v1::CheckDatabaseReply>("Admin/CheckDatabase", "");
  for (const Call& call : calls_) EXPECT_TRUE(call.raw.status.ok()) << call.raw.status.error_message();

  // Errors.
  Add<v1::GetItemRequest, v1::GetItemReply>("Data/GetItem", "table_name: 'nope' key " + key);
  Add<v1::GetItemRequest, v1::GetItemReply>("Data/GetItem", "table_name: 'Product'");
  Add<v1::ReadChangesRequest, v1::ReadChangesReply>("Changes/ReadChanges", "limit: 1001");

  CompareWithPython();
  EXPECT_EQ(ChangeSequence(), before);
}

// Go's library decodes grpc-status-details-bin itself, with the messages of google.rpc that it brings, and
// makes an INTERNAL of every status whose details are something else.
TEST_F(OtherLanguagesTest, GoDecodesErrors) {
  if (!std::filesystem::exists(kGo) ||
      !std::filesystem::exists(std::string(kGoPath) + "/src/google.golang.org/grpc")) {
    GTEST_SKIP() << "needs golang-go and golang-google-grpc-dev";
  }
  Add<v1::GetItemRequest, v1::GetItemReply>("Data/GetItem", "table_name: 'nope'");
  Add<v1::GetItemRequest, v1::GetItemReply>("Data/GetItem", "table_name: 'Product'");
  Add<v1::CreateTableRequest, v1::CreateTableReply>("Tables/CreateTable", "table_name: '\303\251'");
  Add<v1::ListTablesRequest, v1::ListTablesReply>("Tables/ListTables", "");
  const CommandResult go = RunProgram(
      "/usr/bin/env",
      {"GO111MODULE=off", std::string("GOPATH=") + kGoPath, "GOCACHE=" + testing::BuildPath("tests/e2e/go"),
       kGo, "run", testing::SourcePath("tests/e2e/go_client.go"), daemon_.endpoint()},
      CallsAsLines());
  ASSERT_EQ(go.exit_code, 0) << go.err;
  const std::vector<Json> lines = ParseLines(go.out);
  ASSERT_EQ(lines.size(), calls_.size()) << go.err;
  for (size_t i = 0; i < lines.size(); ++i) {
    SCOPED_TRACE(lines[i].dump());
    EXPECT_EQ(lines[i]["code"], static_cast<int>(calls_[i].raw.status.error_code()));
    EXPECT_EQ(lines[i]["message"], calls_[i].raw.status.error_message());
    EXPECT_EQ(lines[i]["reason"], calls_[i].raw.reason);
    EXPECT_EQ(lines[i]["domain"], calls_[i].raw.status.ok() ? "" : "itemdb");
  }
}

}  // namespace
}  // namespace itemdb::e2e
