// The metrics address of a real daemon: counters, health, access.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/http/raw_http_client.h"
#include "tests/support/await.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kScraperSecret[] = "a secret of sufficient length";
constexpr char kMakeBirds[] = R"({"TableName": "Birds", "BillingMode": "PAY_PER_REQUEST",
  "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
  "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]})";

class MetricsTest : public E2eTest {
 protected:
  void SetUp() override {}

  void Start(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--http-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"});
    const absl::Status started = daemon_.Start(more);
    ASSERT_TRUE(started.ok()) << started;
  }

  http::RawReply Get(const std::string& path, const std::string& headers = "") const {
    http::RawHttpClient client(daemon_.metrics_endpoint());
    EXPECT_TRUE(client.Send(absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: ", daemon_.metrics_endpoint(),
                                         "\r\n", headers, "\r\n")));
    return client.ReadReply().value_or(http::RawReply());
  }

  // The value of each series, by its name and labels as on the page.
  std::map<std::string, double> Scrape() const {
    const http::RawReply page = Get("/metrics");
    EXPECT_EQ(page.status, 200) << page.body;
    std::map<std::string, double> series;
    std::istringstream lines(page.body);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line[0] == '#') continue;
      const size_t space = line.rfind(' ');
      double value = 0;
      EXPECT_TRUE(absl::SimpleAtod(line.substr(space + 1), &value)) << line;
      EXPECT_TRUE(series.emplace(line.substr(0, space), value).second) << "twice: " << line;
    }
    return series;
  }

  int Post(const std::string& operation, const std::string& body) const {
    http::RawHttpClient client(daemon_.http_endpoint());
    EXPECT_TRUE(client.Send(http::PostRequest(operation, body)));
    return client.ReadReply().value_or(http::RawReply()).status;
  }

  // Prometheus' own checker; ./dev test installs it.
  static bool HasPromtool() { return RunProgram("/usr/bin/which", {"promtool"}).exit_code == 0; }

  static std::string Of(const std::string& operation, const std::string& protocol = "http") {
    return absl::StrCat("{protocol=\"", protocol, "\",operation=\"", operation, "\"");
  }
};

TEST_F(MetricsTest, CountRequestsFailuresItemsAndBytes) {
  Start();
  ASSERT_EQ(Post("CreateTable", kMakeBirds), 200);
  const auto put = [this](const std::string& id, const std::string& more = "") {
    return Post("PutItem", absl::StrCat("{\"TableName\": \"Birds\", \"Item\": {\"id\": {\"S\": \"", id,
                                        "\"}}", more, "}"));
  };
  for (const char* id : {"owl", "kite", "wren"}) ASSERT_EQ(put(id), 200);
  ASSERT_EQ(put("owl", ", \"ConditionExpression\": \"attribute_not_exists(id)\""), 400);
  ASSERT_EQ(Post("Scan", R"({"TableName": "Birds"})"), 200);
  ASSERT_EQ(Post("GetItem", R"({"TableName": "Absent", "Key": {"id": {"S": "owl"}}})"), 400);
  ASSERT_EQ(Itemctl({"item", "get", "Birds", R"({"id": "owl"})"}).exit_code, 0);

  std::map<std::string, double> series = Scrape();
  EXPECT_EQ(series["itemdb_request_duration_seconds_count" + Of("PutItem") + "}"], 4);
  EXPECT_GT(series["itemdb_request_duration_seconds_sum" + Of("PutItem") + "}"], 0);
  EXPECT_EQ(series["itemdb_request_duration_seconds_bucket" + Of("PutItem") + ",le=\"+Inf\"}"], 4);
  EXPECT_EQ(series["itemdb_request_failures_total" + Of("PutItem") + ",reason=\"CONDITIONAL_CHECK_FAILED\"}"],
            1);
  EXPECT_EQ(series["itemdb_request_failures_total" + Of("GetItem") + ",reason=\"RESOURCE_NOT_FOUND\"}"], 1);
  EXPECT_EQ(series["itemdb_returned_items_total" + Of("Scan") + "}"], 3);
  EXPECT_GT(series["itemdb_reply_bytes_total" + Of("Scan") + "}"], 50);
  EXPECT_GT(series["itemdb_request_bytes_total" + Of("PutItem") + "}"], 100);
  EXPECT_EQ(series["itemdb_request_duration_seconds_count" + Of("GetItem", "grpc") + "}"], 1);
  EXPECT_EQ(series["itemdb_table_request_duration_seconds_count{table=\"Birds\",operation=\"PutItem\"}"], 3);
  EXPECT_EQ(
      series["itemdb_table_request_failures_total{table=\"Birds\",operation=\"PutItem\",reason=\"CONDITIONAL_"
             "CHECK_FAILED\"}"],
      1);
  EXPECT_EQ(series["itemdb_table_items{table=\"Birds\"}"], 3);
  EXPECT_GT(series["itemdb_table_bytes{table=\"Birds\"}"], 0);
  EXPECT_EQ(series["itemdb_tables"], 1);
  EXPECT_EQ(series["itemdb_changes_total"], 4);
  EXPECT_GE(series["itemdb_commit_group_commits_count"], 4);
  EXPECT_GE(series["itemdb_commit_write_duration_seconds_count"], 4);
  EXPECT_GT(series["itemdb_commit_write_duration_seconds_sum"], 0);
  EXPECT_GT(series["itemdb_disk_free_bytes"], 0);
  EXPECT_GT(series["process_resident_memory_bytes"], 1e6);
  EXPECT_EQ(series["itemdb_ready"], 1);
  EXPECT_EQ(series["itemdb_damaged_blocks"], 0);
  for (const auto& [name, value] : series) EXPECT_THAT(name, Not(HasSubstr("Absent")));

  // What is gone is not shown, and a counter of a page is the same until something happens.
  ASSERT_EQ(Post("DeleteTable", R"({"TableName": "Birds"})"), 200);
  series = Scrape();
  for (const auto& [name, value] : series) EXPECT_THAT(name, Not(HasSubstr("Birds")));
  EXPECT_EQ(series["itemdb_request_duration_seconds_count" + Of("PutItem") + "}"], 4);
}

TEST_F(MetricsTest, CountPagesOfStreams) {
  Start();
  ASSERT_EQ(Post("CreateTable", kMakeBirds), 200);
  ASSERT_EQ(Post("PutItem", R"({"TableName": "Birds", "Item": {"id": {"S": "owl"}}})"), 200);
  EXPECT_EQ(Itemctl({"scan", "Birds"}).exit_code, 0);
  std::map<std::string, double> series = Scrape();
  double pages = 0;
  for (const auto& [name, value] : series) {
    if (name.starts_with("itemdb_returned_items_total{protocol=\"grpc\"")) pages += value;
  }
  EXPECT_EQ(pages, 1);
}

TEST_F(MetricsTest, ArePrometheusText) {
  Start();
  ASSERT_EQ(Post("CreateTable", kMakeBirds), 200);
  ASSERT_EQ(Post("GetItem", R"({"TableName": "Birds", "Key": {"id": {"N": "1"}}})"), 400);
  const http::RawReply page = Get("/metrics");
  EXPECT_THAT(page.headers.at("content-type"), StartsWith("text/plain; version=0.0.4"));
  const std::string file = directory_.path() + "/page";
  testing::WriteFile(file, page.body);
  if (!HasPromtool()) GTEST_SKIP() << "promtool is not installed";
  const CommandResult checked = RunProgram("/bin/sh", {"-c", "promtool check metrics <" + file + " 2>&1"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out;
  EXPECT_EQ(checked.out, "");
}

TEST_F(MetricsTest, AreAllInTheDocuments) {
  Start({"--audit-log", directory_.path() + "/audit.jsonl", "--backup-schedule", "0 3 * * *",
         "--backup-directory", directory_.path() + "/backups", "--archive-directory",
         directory_.path() + "/archive"});
  ASSERT_EQ(Post("CreateTable", kMakeBirds), 200);
  const std::string documents = testing::ReadFile(testing::SourcePath("docs/metrics.md"));
  std::istringstream lines(Get("/metrics").body);
  int families = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# TYPE ")) continue;
    const std::string name = line.substr(7, line.find(' ', 7) - 7);
    EXPECT_THAT(documents, HasSubstr("`" + name + "`"));
    ++families;
  }
  EXPECT_GT(families, 40);
}

TEST_F(MetricsTest, HaveAlertsThatPrometheusAccepts) {
  if (!HasPromtool()) GTEST_SKIP() << "promtool is not installed";
  const std::string alerts = testing::SourcePath("packaging/prometheus/itemdb-alerts.yml");
  const CommandResult checked = RunProgram("/bin/sh", {"-c", "promtool check rules " + alerts + " 2>&1"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out;
}

TEST_F(MetricsTest, TellWhetherTheDaemonIsReady) {
  Start();
  EXPECT_EQ(Get("/-/healthy").status, 200);
  EXPECT_EQ(Get("/-/ready").status, 200);
  EXPECT_EQ(Get("/").status, 200);
  EXPECT_EQ(Get("/nothing").status, 404);

  // A request that does not end keeps the daemon from stopping at once.
  http::RawHttpClient scraper(daemon_.metrics_endpoint());
  http::RawHttpClient slow(daemon_.http_endpoint());
  const std::string request = http::PostRequest("ListTables", "{}");
  ASSERT_TRUE(slow.Send(request.substr(0, request.size() - 1)));
  Client client = OpenClient();
  ASSERT_TRUE(client.GetStatus().ok());
  daemon_.Signal(SIGTERM);
  // From now on it is not ready, until its sockets close.
  bool said_no = false;
  EXPECT_TRUE(testing::Await([&] {
    if (!scraper.Send(
            absl::StrCat("GET /-/ready HTTP/1.1\r\nHost: ", daemon_.metrics_endpoint(), "\r\n\r\n")))
      return true;
    const std::optional<http::RawReply> reply = scraper.ReadReply();
    if (!reply.has_value()) return true;
    said_no = reply->status == 503;
    EXPECT_THAT(reply->body, said_no ? HasSubstr("stopping") : HasSubstr("ready"));
    return said_no;
  }));
  EXPECT_TRUE(said_no);
  EXPECT_EQ(daemon_.Wait(), 0);
}

TEST_F(MetricsTest, NeedAKeyWhereThereAreKeys) {
  const std::string keys = directory_.path() + "/keys.toml";
  testing::WriteFile(
      keys, absl::StrCat("[[key]]\nid = \"SCRAPER\"\nsecret = \"", kScraperSecret,
                         "\"\nrole = \"metrics\"\n[[key]]\nid = \"SOME\"\nsecret = \"", kScraperSecret,
                         "\"\n[[key.tables]]\nnames = [\"Birds\"]\nrole = \"admin\"\n"));
  ASSERT_EQ(chmod(keys.c_str(), 0600), 0);
  Start({"--access-keys", keys});
  const http::RawReply refused = Get("/metrics");
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.headers.at("www-authenticate"), "Basic realm=\"itemd\"");
  const auto basic = [](const std::string& credentials) {
    return "Authorization: Basic " + absl::Base64Escape(credentials) + "\r\n";
  };
  EXPECT_EQ(Get("/metrics", basic("SCRAPER:wrong")).status, 401);
  EXPECT_EQ(Get("/metrics", basic(absl::StrCat("SCRAPER:", kScraperSecret))).status, 200);
  EXPECT_EQ(Get("/metrics", absl::StrCat("Authorization: Bearer SCRAPER:", kScraperSecret, "\r\n")).status,
            200);
  EXPECT_EQ(Get("/metrics", "Authorization: Bearer SCRAPER:wrong\r\n").status, 401);
  EXPECT_EQ(Get("/metrics", basic(absl::StrCat("SCRAPER:", kScraperSecret)) +
                                absl::StrCat("Authorization: Bearer SCRAPER:", kScraperSecret, "\r\n"))
                .status,
            401);
  // The page names all tables.
  EXPECT_EQ(Get("/metrics", basic(absl::StrCat("SOME:", kScraperSecret))).status, 403);
  // And the role is for nothing else.
  const absl::StatusOr<Client> scraper = Client::Open(
      {.endpoint = daemon_.endpoint(), .access_key_id = "SCRAPER", .secret_access_key = kScraperSecret});
  ASSERT_TRUE(scraper.ok()) << scraper.status();
  EXPECT_EQ(Client(*scraper).GetStatus().status().code(), absl::StatusCode::kPermissionDenied);
  // Whoever starts and stops daemons need not know a key.
  EXPECT_EQ(Get("/-/ready").status, 200);
  EXPECT_THAT(daemon_.log(), HasSubstr("method=metrics"));
}

TEST_F(MetricsTest, AreNotForWebPagesFromElsewhere) {
  Start();
  http::RawHttpClient client(daemon_.metrics_endpoint());
  ASSERT_TRUE(client.Send("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
  EXPECT_EQ(client.ReadReply().value_or(http::RawReply()).status, 403);
}

TEST_F(MetricsTest, AddressOthersCanReachNeedsTlsAndKeys) {
  const CommandResult refused = daemon_.RunToEnd({"--metrics-listen", "0.0.0.0:0"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_THAT(refused.err, HasSubstr("--metrics-listen"));
  EXPECT_THAT(refused.err, HasSubstr("--tls-cert, --tls-key, --access-keys"));
}

TEST_F(MetricsTest, TakenAddressIsNamedBeforeTheDatabaseIsOpened) {
  Start();
  const CommandResult refused = RunProgram(
      testing::ProgramPath("itemd"), {"--data-dir", directory_.path() + "/other", "--listen", "127.0.0.1:0",
                                      "--metrics-listen", daemon_.metrics_endpoint()});
  EXPECT_EQ(refused.exit_code, 69);
  EXPECT_THAT(refused.err, HasSubstr(daemon_.metrics_endpoint()));
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/other"));
}

}  // namespace
}  // namespace itemdb::e2e
