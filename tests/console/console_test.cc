// What the console answers to the head of a request: files, policy, cookies, origins, roles.
#include "daemon/console/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "daemon/console/console_files.h"

namespace itemdb::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr size_t kMaxPageBytes = 150 << 10;
constexpr char kSecret[] = "a secret of all these keys";

class ConsolePageTest : public ::testing::Test {
 protected:
  explicit ConsolePageTest(bool tls = false, bool keys = true, bool data_is_open = true)
      : serving_(1 << 20, absl::ZeroDuration(),
                 std::make_shared<spdlog::logger>("null", std::make_shared<spdlog::sinks::null_sink_mt>())),
        console_(serving_, {.tls = tls, .version = "1.2.3", .data_is_open = data_is_open}) {
    if (!keys) return;
    auto made = AccessKeys::Make({{.id = "ADMIN", .secret = kSecret, .role = Role::kAdmin},
                                  {.id = "READER", .secret = kSecret, .role = Role::kRead},
                                  {.id = "SCRAPER", .secret = kSecret, .role = Role::kMetrics}});
    serving_.authorizer.SetKeys(*made);
    console_.SetKeys(*made);
  }

  struct Request {
    std::string method = "POST";
    std::string path = "/api";
    std::vector<std::pair<std::string, std::string>> headers = {};
  };
  http::HttpPage Send(const Request& request) const {
    http::HttpHead head{.method = request.method, .target = request.path, .headers = {}};
    for (const auto& [name, value] : request.headers) head.headers.push_back({name, value});
    std::optional<http::HttpPage> page = console_.Page(head);
    EXPECT_TRUE(page.has_value()) << request.path;
    return page.value_or(http::HttpPage());
  }

  using Headers = std::vector<std::pair<std::string, std::string>>;
  static Headers Own(Headers more = {}) {
    Headers headers = {{"Host", "127.0.0.1:7421"}, {"Origin", "http://127.0.0.1:7421"}};
    headers.insert(headers.end(), more.begin(), more.end());
    return headers;
  }
  static std::pair<std::string, std::string> Basic(const std::string& id,
                                                   const std::string& secret = kSecret) {
    return {"Authorization", "Basic " + absl::Base64Escape(absl::StrCat(id, ":", secret))};
  }
  static int Status(const http::HttpPage& page) { return static_cast<int>(page.answer.reply.http_status); }

  // The headers of a session that was begun with `id`.
  Headers SignIn(const std::string& id) {
    const http::HttpPage page =
        Send({.path = "/api/sign-in", .headers = Own({Basic(id), {"X-Itemdb-Session", ""}})});
    EXPECT_EQ(Status(page), 200) << page.answer.reply.body;
    const std::string& headers = page.answer.headers;
    const size_t name = headers.find("Set-Cookie: ") + 12;
    const std::string cookie = headers.substr(name, headers.find(';', name) - name);
    const std::string& body = page.answer.reply.body;
    const size_t token = body.find("\"token\":\"") + 9;
    return Own({{"Cookie", "other=1; " + cookie},
                {"X-Itemdb-Session", body.substr(token, body.find('"', token) - token)}});
  }
  http::HttpPage Call(Headers headers, const std::string& target) const {
    headers.emplace_back("X-Amz-Target", target);
    return Send({.headers = headers});
  }

  ServingContext serving_;
  Console console_;
};

class ConsoleOverTlsTest : public ConsolePageTest {
 protected:
  ConsoleOverTlsTest() : ConsolePageTest(true) {}
};
class ConsoleWithoutKeysTest : public ConsolePageTest {
 protected:
  ConsoleWithoutKeysTest() : ConsolePageTest(false, false) {}
};

class ConsoleBesideUnixSocketsTest : public ConsolePageTest {
 protected:
  ConsoleBesideUnixSocketsTest() : ConsolePageTest(false, false, false) {}
};

// The permissions of the sockets say who may read the data; a TCP address would go around them.
TEST_F(ConsoleBesideUnixSocketsTest, ShowsNoDataWithoutKeys) {
  const http::HttpPage page = Call(Own({{"X-Itemdb-Session", ""}}), "DynamoDB_20120810.Scan");
  EXPECT_EQ(Status(page), 403);
  EXPECT_FALSE(page.operation.has_value());
  EXPECT_THAT(page.answer.reply.body, HasSubstr("--listen or --http-listen has a HOST:PORT"));
}

TEST_F(ConsolePageTest, IsSmallAndHasAStrictPolicy) {
  if (ConsoleFiles().empty()) {
    const http::HttpPage page = Send({.method = "GET", .path = "/", .headers = {}});
    EXPECT_THAT(page.answer.reply.body, HasSubstr("built without the console"));
    GTEST_SKIP() << WhyNoConsole();
  }
  size_t bytes = 0;
  for (const ConsoleFile& file : ConsoleFiles()) {
    SCOPED_TRACE(file.path);
    bytes += file.gzip.size();
    for (const char* accepted : {"gzip, deflate, br", ""}) {
      const http::HttpPage page =
          Send({.method = "GET", .path = std::string(file.path), .headers = {{"Accept-Encoding", accepted}}});
      EXPECT_EQ(Status(page), 200);
      EXPECT_EQ(page.answer.reply.content_encoding, *accepted != '\0' ? "gzip" : "");
      EXPECT_EQ(page.answer.content_type, file.content_type);
      EXPECT_THAT(page.answer.headers,
                  HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'; "
                            "style-src 'self'; img-src 'self'; connect-src 'self'; "));
      EXPECT_THAT(page.answer.headers, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
      EXPECT_THAT(page.answer.headers, HasSubstr("frame-ancestors 'none'"));
      EXPECT_THAT(page.answer.headers, HasSubstr(file.path == "/" ? "no-cache" : "immutable"));
      EXPECT_FALSE(page.for_other_origins);
      if (file.path == "/" && *accepted == '\0') {
        // Everything is in files of its own.
        EXPECT_THAT(page.answer.reply.body, Not(HasSubstr("<style")));
        EXPECT_THAT(page.answer.reply.body, Not(HasSubstr("http")));
        EXPECT_THAT(page.answer.reply.body, HasSubstr("<script type=\"module\" src=\"/console-"));
      }
    }
  }
  EXPECT_GT(bytes, 20'000u);
  EXPECT_LE(bytes, kMaxPageBytes);
}

TEST_F(ConsolePageTest, OtherPathsAreNotItsOwn) {
  for (const char* path : {"/metrics", "/-/ready", "/console.js", "/apis"}) {
    EXPECT_FALSE(console_.Page({.method = "GET", .target = path, .headers = {}}).has_value()) << path;
  }
  EXPECT_EQ(Status(Send({.method = "GET", .path = "/api", .headers = Own()})), 405);
  EXPECT_EQ(Status(Send({.method = "OPTIONS", .path = "/api", .headers = Own()})), 405) << "no preflight";
}

TEST_F(ConsolePageTest, OnlyItsOwnPageMayCall) {
  const Headers session = SignIn("ADMIN");
  EXPECT_EQ(Status(Send({.path = "/api/session", .headers = session})), 200);
  struct Case {
    const char* what;
    const char* host;
    const char* origin;
  };
  for (const Case& one : {Case{"another port", "127.0.0.1:7421", "http://127.0.0.1:3000"},
                          Case{"another name", "127.0.0.1:7421", "http://localhost:7421"},
                          Case{"elsewhere", "127.0.0.1:7421", "https://evil.example"},
                          Case{"no page", "127.0.0.1:7421", ""}, Case{"a sandbox", "127.0.0.1:7421", "null"},
                          Case{"a longer name", "127.0.0.1:7421", "http://127.0.0.1:7421.evil.example"}}) {
    SCOPED_TRACE(one.what);
    Headers headers = session;
    headers[0].second = one.host;
    headers[1].second = one.origin;
    EXPECT_EQ(Status(Send({.path = "/api/session", .headers = headers})), 403);
    EXPECT_EQ(Status(Send({.path = "/api/sign-in", .headers = headers})), 403);
    EXPECT_EQ(Status(Call(headers, "DynamoDB_20120810.ListTables")), 403);
  }
  // A form and an image cannot send the header.
  Headers headers = session;
  headers.pop_back();
  EXPECT_EQ(Status(Call(headers, "DynamoDB_20120810.ListTables")), 403);
  headers.emplace_back("X-Itemdb-Session", "");
  EXPECT_EQ(Status(Call(headers, "DynamoDB_20120810.ListTables")), 401);
  headers = session;
  headers[2].second = "other=1";
  EXPECT_EQ(Status(Call(headers, "DynamoDB_20120810.ListTables")), 401);
}

TEST_F(ConsolePageTest, CookieIsForThisServerOnly) {
  const http::HttpPage page =
      Send({.path = "/api/sign-in", .headers = Own({Basic("ADMIN"), {"X-Itemdb-Session", ""}})});
  EXPECT_THAT(page.answer.headers, HasSubstr("; Path=/api; HttpOnly; SameSite=Strict\r\n"));
  EXPECT_THAT(page.answer.headers, HasSubstr("Set-Cookie: itemdb_session_7421="));
  EXPECT_THAT(page.answer.headers, HasSubstr("Cache-Control: no-store\r\n"));
  EXPECT_THAT(page.answer.reply.body, HasSubstr("\"role\":\"admin\""));
  EXPECT_THAT(page.answer.reply.body, HasSubstr("\"editing\":false"));
  ASSERT_TRUE(page.audited.has_value());
  EXPECT_EQ(page.audited->outcome, "OK");
  EXPECT_EQ(page.audited->key_id, "ADMIN");
}

TEST_F(ConsoleOverTlsTest, CookieIsSentOverTlsOnly) {
  const http::HttpPage page =
      Send({.path = "/api/sign-in", .headers = Own({Basic("ADMIN"), {"X-Itemdb-Session", ""}})});
  EXPECT_THAT(page.answer.headers, HasSubstr("; Path=/api; HttpOnly; SameSite=Strict; Secure\r\n"));
}

TEST_F(ConsolePageTest, WrongKeysAreRefusedAndRecorded) {
  for (const auto& credentials : {Basic("ADMIN", "wrong"), Basic("NOBODY"), Basic(""),
                                  std::pair<std::string, std::string>{"Authorization", "Bearer ADMIN:x"}}) {
    const http::HttpPage page =
        Send({.path = "/api/sign-in", .headers = Own({credentials, {"X-Itemdb-Session", ""}})});
    EXPECT_EQ(Status(page), 401);
    EXPECT_THAT(page.answer.headers, Not(HasSubstr("Set-Cookie")));
    ASSERT_TRUE(page.audited.has_value());
    EXPECT_EQ(page.audited->outcome, "UNAUTHENTICATED");
    EXPECT_EQ(page.audited->operation, "console/sign-in");
    EXPECT_THAT(page.audited->reason, Not(HasSubstr("wrong")));
  }
  const http::HttpPage scraper =
      Send({.path = "/api/sign-in", .headers = Own({Basic("SCRAPER"), {"X-Itemdb-Session", ""}})});
  EXPECT_EQ(Status(scraper), 403) << "the role metrics is for /metrics only";
}

TEST_F(ConsolePageTest, SessionWritesOnlyWhenAsked) {
  const Headers admin = SignIn("ADMIN");
  for (const char* target :
       {"DynamoDB_20120810.PutItem", "DynamoDB_20120810.DeleteTable", "itemdb.v1.Admin/CheckDatabase",
        "itemdb.v1.Changes/UndoChanges", "DynamoDB_20120810.UpdateContinuousBackups"}) {
    SCOPED_TRACE(target);
    const http::HttpPage page = Call(admin, target);
    EXPECT_EQ(Status(page), 403);
    EXPECT_THAT(page.answer.reply.body, HasSubstr("turn on editing"));
    EXPECT_FALSE(page.operation.has_value());
  }
  // There is no database in this test.
  EXPECT_EQ(Status(Call(admin, "DynamoDB_20120810.ListTables")), 503);
  EXPECT_EQ(Status(Send({.path = "/api/editing/on", .headers = admin})), 200);
  EXPECT_EQ(Status(Call(admin, "DynamoDB_20120810.PutItem")), 503);
  EXPECT_EQ(Status(Send({.path = "/api/editing/off", .headers = admin})), 200);
  EXPECT_EQ(Status(Call(admin, "DynamoDB_20120810.PutItem")), 403);

  const Headers reader = SignIn("READER");
  const http::HttpPage refused = Send({.path = "/api/editing/on", .headers = reader});
  EXPECT_EQ(Status(refused), 403);
  EXPECT_THAT(refused.answer.reply.body, HasSubstr("READER may only read"));
  EXPECT_EQ(Status(Call(reader, "DynamoDB_20120810.Nonsense")), 400);
  EXPECT_EQ(Status(Call(reader, "itemdb.v1.Admin/Promote")), 400) << "not offered here";
}

TEST_F(ConsolePageTest, SigningOutEndsTheSession) {
  const Headers session = SignIn("READER");
  const http::HttpPage page = Send({.path = "/api/sign-out", .headers = session});
  EXPECT_EQ(Status(page), 200);
  EXPECT_THAT(page.answer.headers, HasSubstr("Max-Age=0"));
  EXPECT_EQ(Status(Call(session, "DynamoDB_20120810.ListTables")), 401);
  EXPECT_EQ(console_.sessions().size(), 0u);
}

TEST_F(ConsoleWithoutKeysTest, EverybodyReadsAndNobodyWrites) {
  const Headers page = Own({{"X-Itemdb-Session", ""}});
  EXPECT_THAT(Send({.path = "/api/session", .headers = page}).answer.reply.body,
              HasSubstr("\"keys\":false,\"signed_in\":true"));
  EXPECT_EQ(Status(Call(page, "DynamoDB_20120810.ListTables")), 503);
  EXPECT_EQ(Status(Call(page, "DynamoDB_20120810.PutItem")), 403);
  EXPECT_EQ(Status(Send({.path = "/api/editing/on", .headers = page})), 403);
  EXPECT_EQ(Status(Send({.path = "/api/sign-in", .headers = page})), 400);
}

}  // namespace
}  // namespace itemdb::daemon
