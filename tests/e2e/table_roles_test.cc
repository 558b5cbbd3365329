// Access keys with roles for some tables: a real daemon, itemctl, signed HTTP requests, the audit log, and a
// key file that changes. All operations with all kinds of grants are in tests/http/table_access_test.cc and
// tests/daemon/table_access_test.cc.
#include <signal.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "daemon/http/signature/signature.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/http/raw_http_client.h"
#include "tests/support/await.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRoleSecret[] = "a secret of sufficient length";
constexpr char kCustomerName[] = "mehitabel";

constexpr char kCreateKeyed[] = R"({"TableName": "TABLE", "BillingMode": "PAY_PER_REQUEST",
  "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
  "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
  "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"}})";

class TableRolesTest : public E2eTest {
 protected:
  void SetUp() override {
    WriteGrants("write");
    const absl::Status started =
        daemon_.Start({"--access-keys", key_file_, "--audit-log", audit_, "--http-listen", "127.0.0.1:0",
                       "--tls-reload-interval", "24h"});
    ASSERT_TRUE(started.ok()) << started;
    for (const std::string table : {"Order", "Invoice-1", "Customer"}) {
      std::string create = kCreateKeyed;
      create.replace(create.find("TABLE"), 5, table);
      ASSERT_EQ(Signed("ADMIN", "DynamoDB_20120810.CreateTable", create).status, 200);
      ASSERT_EQ(Signed("ADMIN", "DynamoDB_20120810.PutItem",
                       absl::StrCat(R"({"TableName":")", table, R"(","Item":{"id":{"S":"1"},"name":{"S":")",
                                    kCustomerName, "\"}}}"))
                    .status,
                200);
    }
  }

  // The key REPORTS may read Order, and has the role `invoices` for Invoice* and its streams.
  void WriteGrants(const std::string& invoices) {
    const std::string made = key_file_ + ".new";
    const std::string secret = absl::StrCat("secret = \"", kRoleSecret, "\"\n");
    testing::WriteFile(
        made,
        absl::StrCat("[[key]]\nid = \"ADMIN\"\n", secret, "role = \"admin\"\n", "[[key]]\nid = \"REPORTS\"\n",
                     secret, "[[key.tables]]\nnames = [\"Order\"]\nrole = \"read\"\n",
                     "[[key.tables]]\nnames = [\"Invoice*\"]\nrole = \"", invoices, "\"\nstreams = true\n"));
    ASSERT_EQ(chmod(made.c_str(), 0600), 0);
    ASSERT_EQ(rename(made.c_str(), key_file_.c_str()), 0);
  }

  // A request signed as SDKs do.
  http::RawReply Signed(const std::string& id, const std::string& target, const std::string& body) const {
    const std::string time = absl::FormatTime("%E4Y%m%dT%H%M%SZ", absl::Now(), absl::UTCTimeZone());
    const std::string scope = absl::StrCat(time.substr(0, 8), "/us-east-1/dynamodb/aws4_request");
    const std::string authorization =
        absl::StrCat("AWS4-HMAC-SHA256 Credential=", id, "/", scope,
                     ", SignedHeaders=host;x-amz-date;x-amz-target, Signature=", std::string(64, '0'));
    const http::HttpHead head{.method = "POST",
                              .target = "/",
                              .headers = {{"Host", "localhost"},
                                          {"X-Amz-Date", time},
                                          {"X-Amz-Target", target},
                                          {"Authorization", authorization}}};
    http::Signature signature;
    EXPECT_FALSE(http::ReadSignature(head, signature).has_value());
    const std::string value =
        *http::Sign(head, body, signature, http::DeriveSigningKey(kRoleSecret, signature));
    http::RawHttpClient client(daemon_.http_endpoint());
    EXPECT_TRUE(client.Send(
        absl::StrCat("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
                     "X-Amz-Date: ",
                     time, "\r\nX-Amz-Target: ", target,
                     "\r\nAuthorization: ", authorization.substr(0, authorization.size() - 64), value,
                     "\r\nContent-Length: ", body.size(), "\r\n\r\n", body)));
    return client.ReadReply().value_or(http::RawReply());
  }
  http::RawReply AsReports(const std::string& operation, const std::string& body) const {
    return Signed("REPORTS", "DynamoDB_20120810." + operation, body);
  }
  static bool IsDenied(const http::RawReply& reply) {
    return reply.status == 400 && reply.body.find("AccessDeniedException") != std::string::npos &&
           reply.body.find(kCustomerName) == std::string::npos;
  }

  CommandResult ItemctlAs(const std::string& id, std::vector<std::string> arguments) const {
    testing::WriteFile(directory_.path() + "/secret", kRoleSecret);
    arguments.insert(arguments.begin(), {"--endpoint", daemon_.endpoint(), "--access-key-id", id,
                                         "--secret-access-key-file", directory_.path() + "/secret"});
    return RunProgram(testing::ProgramPath("itemctl"), arguments);
  }

  const std::string key_file_ = directory_.path() + "/keys.toml";
  const std::string audit_ = directory_.path() + "/audit.jsonl";
};

TEST_F(TableRolesTest, AKeyUsesItsTablesOverHttp) {
  const std::string key = R"("Key":{"id":{"S":"1"}}})";
  EXPECT_EQ(AsReports("GetItem", R"({"TableName":"Order",)" + key).status, 200);
  EXPECT_EQ(
      AsReports("GetItem", R"({"TableName":"arn:aws:dynamodb:local:000000000000:table/Order",)" + key).status,
      200);
  EXPECT_TRUE(IsDenied(AsReports("DeleteItem", R"({"TableName":"Order",)" + key)));
  EXPECT_EQ(AsReports("DeleteItem", R"({"TableName":"Invoice-1",)" + key).status, 200);
  for (const char* name : {"Customer", "Nobody", "arn:aws:dynamodb:local:000000000000:table/Customer"})
    EXPECT_TRUE(IsDenied(AsReports("GetItem", absl::StrCat(R"({"TableName":")", name, "\",", key)))) << name;
  EXPECT_TRUE(IsDenied(AsReports("ExecuteStatement", R"({"Statement":"SELECT * FROM Customer"})")));
  EXPECT_EQ(AsReports("ListTables", "{}").body, R"({"TableNames":["Invoice-1","Order"]})");
  EXPECT_TRUE(IsDenied(AsReports("DeleteTable", R"({"TableName":"Invoice-1"})")));

  std::string actions;
  for (int i = 0; i < 10; ++i) {
    actions += absl::StrCat(i == 0 ? "" : ",", R"({"Put":{"TableName":")", i == 7 ? "Customer" : "Invoice-1",
                            R"(","Item":{"id":{"S":")", i, "\"}}}}");
  }
  EXPECT_TRUE(IsDenied(AsReports("TransactWriteItems", R"({"TransactItems":[)" + actions + "]}")));
  EXPECT_THAT(AsReports("Scan", R"({"TableName":"Invoice-1","Select":"COUNT"})").body,
              HasSubstr(R"("Count":0)"));

  const auto streams_of = [&](const std::string& table) {
    return Signed("REPORTS", "DynamoDBStreams_20120810.ListStreams", R"({"TableName":")" + table + "\"}");
  };
  EXPECT_THAT(streams_of("Invoice-1").body, HasSubstr("table/Invoice-1/stream/"));
  EXPECT_TRUE(IsDenied(streams_of("Order")));
  EXPECT_TRUE(IsDenied(streams_of("Customer")));
}

TEST_F(TableRolesTest, AKeyUsesItsTablesWithItemctl) {
  EXPECT_EQ(ItemctlAs("REPORTS", {"-o", "jsonl", "table", "list"}).out,
            "{\"TableName\": \"Invoice-1\"}\n{\"TableName\": \"Order\"}\n");
  EXPECT_EQ(ItemctlAs("REPORTS", {"scan", "Order"}).exit_code, 0);
  EXPECT_EQ(ItemctlAs("REPORTS", {"item", "put", "Invoice-1", R"({"id": "2"})"}).exit_code, 0);
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"scan", "Customer"},
                                             {"item", "get", "Customer", R"({"id": "1"})"},
                                             {"item", "put", "Order", R"({"id": "2"})"},
                                             {"table", "describe", "Customer"},
                                             {"changes", "read"},

                                             {"status"},
                                             {"check"}}) {
    const CommandResult result = ItemctlAs("REPORTS", arguments);
    EXPECT_NE(result.exit_code, 0) << arguments[0];
    EXPECT_THAT(result.err, HasSubstr("User: REPORTS is not authorized to perform")) << arguments[0];
    EXPECT_THAT(result.out + result.err, Not(HasSubstr(kCustomerName))) << arguments[0];
  }
}

// A denial is in the audit log with its table, also if the request names granted tables before it.
TEST_F(TableRolesTest, DenialsAreAuditedAndGrantsAreReloaded) {
  const std::string batch = R"({"RequestItems":{"Order":{"Keys":[{"id":{"S":"1"}}]},)"
                            R"("Customer":{"Keys":[{"id":{"S":"1"}}]}}})";
  EXPECT_TRUE(IsDenied(AsReports("BatchGetItem", batch)));
  EXPECT_NE(ItemctlAs("REPORTS", {"scan", "Customer"}).exit_code, 0);
  const std::string put = R"({"TableName":"Invoice-1","Item":{"id":{"S":"3"}}})";
  EXPECT_EQ(AsReports("PutItem", put).status, 200);
  WriteGrants("read");
  daemon_.Signal(SIGHUP);
  EXPECT_TRUE(testing::Await([&] { return IsDenied(AsReports("PutItem", put)); }));
  EXPECT_EQ(AsReports("Scan", R"({"TableName":"Invoice-1"})").status, 200);
  ASSERT_EQ(daemon_.Terminate(), 0);
  std::vector<std::string> refused;
  for (const Json& record : ParseLines(testing::ReadFile(audit_))) {
    if (record["event"] != "refused") continue;
    refused.push_back(absl::StrCat(record["key_id"].get<std::string>(), " ",
                                   record["operation"].get<std::string>(), " ", record.value("table", "-")));
  }
  ASSERT_GE(refused.size(), 3u);
  EXPECT_EQ(refused[0], "REPORTS http/BatchGetItem Customer,...");
  EXPECT_THAT(refused[1], HasSubstr("REPORTS itemdb.v1.Data/Scan"));
  EXPECT_THAT(refused[1], HasSubstr(" Customer"));
  EXPECT_EQ(refused[2], "REPORTS http/PutItem Invoice-1");
}

}  // namespace
}  // namespace itemdb::e2e
