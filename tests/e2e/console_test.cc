// The console of a real daemon: its page and policy, sessions over sockets, access, the audit log.
#include <sys/stat.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tests/e2e/e2e_fixture.h"
#include "tests/http/raw_http_client.h"
#include "tests/support/await.h"
#include "tests/support/files.h"

namespace itemdb::e2e {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kConsoleSecret[] = "a secret of all these keys";
constexpr char kMakeTrees[] = R"({"TableName": "Trees", "BillingMode": "PAY_PER_REQUEST",
  "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
  "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]})";

class ConsoleTest : public E2eTest {
 protected:
  void SetUp() override {}

  void StartWithKeys(std::vector<std::string> more = {}) {
    const std::string keys = directory_.path() + "/keys.toml";
    testing::WriteFile(
        keys, absl::StrCat("[[key]]\nid = \"ADMIN\"\nsecret = \"", kConsoleSecret,
                           "\"\nrole = \"admin\"\n[[key]]\nid = \"TREES\"\nsecret = \"", kConsoleSecret,
                           "\"\n[[key.tables]]\nnames = [\"Trees\"]\nrole = \"write\"\n"));
    ASSERT_EQ(chmod(keys.c_str(), 0600), 0);
    more.insert(more.end(), {"--metrics-listen", "127.0.0.1:0", "--access-keys", keys});
    const absl::Status started = daemon_.Start(more);
    ASSERT_TRUE(started.ok()) << started;
  }

  http::RawReply Ask(const std::string& method, const std::string& path, const std::string& headers = "",
                     const std::string& body = "") const {
    http::RawHttpClient client(daemon_.metrics_endpoint());
    const std::string host =
        headers.find("Host:") != std::string::npos ? "" : "Host: " + daemon_.metrics_endpoint() + "\r\n";
    EXPECT_TRUE(client.Send(absl::StrCat(method, " ", path, " HTTP/1.1\r\n", host,
                                         "Content-Length: ", body.size(), "\r\n", headers, "\r\n", body)));
    return client.ReadReply(/*head_only=*/method == "HEAD").value_or(http::RawReply());
  }
  std::string Own(const std::string& token = "") const {
    return absl::StrCat("Origin: http://", daemon_.metrics_endpoint(), "\r\nX-Itemdb-Session: ", token,
                        "\r\n");
  }
  http::RawReply SignIn(const std::string& id, const std::string& secret = kConsoleSecret) const {
    return Ask("POST", "/api/sign-in",
               absl::StrCat(Own(), "Authorization: Basic ", absl::Base64Escape(absl::StrCat(id, ":", secret)),
                            "\r\n"));
  }
  // The headers of a session of `id`.
  std::string Session(const std::string& id) const {
    const http::RawReply reply = SignIn(id);
    EXPECT_EQ(reply.status, 200) << reply.body;
    const std::string cookie = reply.headers.at("set-cookie");
    return absl::StrCat(Own(nlohmann::json::parse(reply.body)["token"].get<std::string>()),
                        "Cookie: ", cookie.substr(0, cookie.find(';')), "\r\n");
  }
  http::RawReply Call(const std::string& session, const std::string& target,
                      const std::string& body = "{}") const {
    return Ask("POST", "/api", absl::StrCat(session, "X-Amz-Target: ", target, "\r\n"), body);
  }
};

TEST_F(ConsoleTest, ServesItsPageWithAStrictPolicy) {
  StartWithKeys();
  const http::RawReply page = Ask("GET", "/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, AnyOf(HasSubstr("src=\"/console-"), HasSubstr("built without the console")));
  EXPECT_THAT(page.headers.at("content-security-policy"),
              HasSubstr("default-src 'none'; script-src 'self';"));
  EXPECT_EQ(page.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(Ask("HEAD", "/").status, 200);
  // A page of another origin gets no permission, neither before nor after.
  const std::string other =
      "Origin: http://127.0.0.1:1\r\nAccess-Control-Request-Headers: x-itemdb-session\r\n";
  const http::RawReply preflight = Ask("OPTIONS", "/api", other);
  EXPECT_EQ(preflight.status, 405);
  EXPECT_EQ(preflight.headers.count("access-control-allow-origin"), 0u);
  EXPECT_EQ(Ask("POST", "/api/session", other).headers.count("access-control-allow-origin"), 0u);
}

TEST_F(ConsoleTest, DoesWhatTheKeyOfTheSessionMay) {
  StartWithKeys({"--audit-log", directory_.path() + "/audit.jsonl"});
  EXPECT_EQ(SignIn("ADMIN", "wrong").status, 401);
  const std::string admin = Session("ADMIN");
  EXPECT_EQ(Call(admin, "DynamoDB_20120810.CreateTable", kMakeTrees).status, 403);
  EXPECT_EQ(Ask("POST", "/api/editing/on", admin).status, 200);
  EXPECT_EQ(Call(admin, "DynamoDB_20120810.CreateTable", kMakeTrees).status, 200);
  EXPECT_EQ(Call(admin, "DynamoDB_20120810.PutItem",
                 R"({"TableName": "Trees", "Item": {"id": {"S": "oak"}, "age": {"N": "300"}}})")
                .status,
            200);

  const nlohmann::json scan = nlohmann::json::parse(
      Call(admin, "itemdb.v1.Data/Scan", R"({"table_name": "Trees", "explain": true})").body);
  EXPECT_EQ(scan["items"].size(), 1u);
  EXPECT_EQ(scan["scanned_count"], "1");
  EXPECT_TRUE(scan.contains("plan"));
  const http::RawReply status = Call(admin, "itemdb.v1.Admin/GetStatus", R"({"with_tables": true})");
  EXPECT_EQ(nlohmann::json::parse(status.body)["tables"][0]["item_count"], "1");
  EXPECT_THAT(Call(admin, "console.GetMetrics").body, HasSubstr("itemdb_table_items{table=\"Trees\"} 1"));
  EXPECT_EQ(Call(admin, "console.ListSlowRequests").status, 200);
  EXPECT_EQ(Call(admin, "itemdb.v1.Data/Scan", R"({"tablename": "Trees"})").status, 400);
  EXPECT_EQ(Call(admin, "itemdb.v1.Data/Scan", "[").status, 400);

  // A key with roles for some tables: neither another table nor the whole database.
  const std::string trees = Session("TREES");
  EXPECT_EQ(Call(trees, "itemdb.v1.Data/Scan", R"({"table_name": "Trees"})").status, 200);
  EXPECT_EQ(Call(trees, "itemdb.v1.Data/Scan", R"({"table_name": "Other"})").status, 400);
  EXPECT_EQ(Call(trees, "DynamoDB_20120810.Scan", R"({"TableName": "Other"})").status, 400);
  for (const char* target : {"itemdb.v1.Admin/GetStatus", "console.ListAuditedCalls", "console.GetMetrics"})
    EXPECT_THAT(Call(trees, target).body, HasSubstr("AccessDeniedException")) << target;
  // A storage id would let it watch a table whose name it does not say.
  EXPECT_THAT(
      Call(trees, "itemdb.v1.Changes/Watch", R"({"table_storage_id": "1", "after_sequence": "0"})").body,
      HasSubstr("AccessDeniedException"));
  // A statement that writes is judged by the session too.
  const std::string statement = R"({"Statement": "DELETE FROM Trees WHERE id = 'oak'"})";
  EXPECT_THAT(Call(trees, "DynamoDB_20120810.ExecuteStatement", statement).body,
              HasSubstr("AccessDeniedException"));
  EXPECT_EQ(Ask("POST", "/api/editing/on", trees).status, 200);
  EXPECT_EQ(Call(trees, "DynamoDB_20120810.ExecuteStatement", statement).status, 200);

  EXPECT_THAT(Call(admin, "console.ListAuditedCalls").body, HasSubstr("console/CreateTable"));
  ASSERT_EQ(daemon_.Terminate(), 0);
  const std::string audit = testing::ReadFile(directory_.path() + "/audit.jsonl");
  EXPECT_THAT(audit, HasSubstr("\"operation\":\"console/sign-in\",\"outcome\":\"UNAUTHENTICATED\""));
  EXPECT_THAT(audit, HasSubstr("\"key_id\":\"ADMIN\",\"peer\":\"ipv4:127.0.0.1:"));
  EXPECT_THAT(audit,
              HasSubstr("\"operation\":\"console/CreateTable\",\"table\":\"Trees\",\"outcome\":\"OK\""));
  EXPECT_THAT(audit, HasSubstr("\"operation\":\"console/itemdb.v1.Data/Scan\",\"table\":\"Other\""));
  EXPECT_THAT(audit + daemon_.log(), Not(HasSubstr(kConsoleSecret)));
}

TEST_F(ConsoleTest, StopsAlthoughAPageWaitsForChanges) {
  StartWithKeys();
  const std::string session = Session("ADMIN");
  http::RawHttpClient waiting(daemon_.metrics_endpoint());
  const std::string body = R"({"progress_interval_ms": 60000, "after_sequence": "0"})";
  ASSERT_TRUE(waiting.Send(absl::StrCat(
      "POST /api HTTP/1.1\r\nHost: ", daemon_.metrics_endpoint(), "\r\n", session,
      "X-Amz-Target: itemdb.v1.Changes/Watch\r\nContent-Length: ", body.size(), "\r\n\r\n", body)));
  // The metrics address has one thread: when this is answered, the other request was read.
  EXPECT_EQ(Ask("GET", "/-/ready").status, 200);
  EXPECT_EQ(daemon_.Terminate(), 0);
}

TEST_F(ConsoleTest, WithoutKeysReadsOnlyAndOnlyFromThisMachine) {
  const absl::Status started = daemon_.Start({"--metrics-listen", "127.0.0.1:0"});
  ASSERT_TRUE(started.ok()) << started;
  EXPECT_EQ(Call(Own(), "DynamoDB_20120810.ListTables").status, 200);
  EXPECT_EQ(Call(Own(), "DynamoDB_20120810.CreateTable", kMakeTrees).status, 403);
  EXPECT_EQ(Call(Own(), "DynamoDB_20120810.ExecuteStatement",
                 R"({"Statement": "DELETE FROM Trees WHERE id = 'a'"})")
                .status,
            400);
  EXPECT_EQ(Ask("POST", "/api/session",
                "Host: evil.example\r\nOrigin: http://evil.example\r\nX-Itemdb-Session: \r\n")
                .status,
            403);
  EXPECT_EQ(Ask("GET", "/", "Host: evil.example\r\nReferer: http://evil.example/\r\n").status, 403);
}

}  // namespace
}  // namespace itemdb::e2e
