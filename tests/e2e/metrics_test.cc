// The metrics address of a real daemon: counters, health, access.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/http/raw_http_client.h"
#include "tests/support/await.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;
using ::testing::StartsWith;

constexpr char kScraperSecret[] = "a secret of sufficient length";
constexpr char kMakeBirds[] = R"({"TableName": "Birds", "BillingMode": "PAY_PER_REQUEST",
  "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
  "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]})";

constexpr char kMakeIndexedBirds[] = R"({"TableName": "Birds", "BillingMode": "PAY_PER_REQUEST",
  "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
  "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"},
                           {"AttributeName": "kind", "AttributeType": "S"}],
  "GlobalSecondaryIndexes": [{"IndexName": "ByKind", "Projection": {"ProjectionType": "ALL"},
    "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}]}]})";

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

  // Puts the birds "0", "1" and so on.
  void PutBirds(int birds) const {
    constexpr int kAtOnce = 25;
    for (int first = 0; first < birds; first += kAtOnce) {
      std::vector<std::string> puts;
      for (int i = first; i < std::min(first + kAtOnce, birds); ++i)
        puts.push_back(absl::StrCat(R"({"PutRequest": {"Item": {"id": {"S": ")", i,
                                    R"("}, "kind": {"S": "raptor"}, "n": {"N": "1"}}}})"));
      ASSERT_EQ(Post("BatchWriteItem",
                     absl::StrCat(R"({"RequestItems": {"Birds": [)", absl::StrJoin(puts, ","), "]}}")),
                200);
    }
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

TEST_F(MetricsTest, CountConsumedUnitsOfTablesAndIndexes) {
  Start();
  ASSERT_EQ(Post("CreateTable", kMakeIndexedBirds), 200);
  const auto post = [this](const std::string& operation, const std::string& members) {
    return Post(operation, absl::StrCat("{\"TableName\": \"Birds\", ", members, "}"));
  };
  // Whether or not a request asks for its capacity.
  ASSERT_EQ(post("PutItem", R"("Item": {"id": {"S": "owl"}, "kind": {"S": "raptor"}})"), 200);
  ASSERT_EQ(post("UpdateItem", R"("Key": {"id": {"S": "owl"}}, "UpdateExpression": "SET n = :n",
      "ExpressionAttributeValues": {":n": {"N": "1"}}, "ReturnConsumedCapacity": "TOTAL")"),
            200);
  // 2,007 bytes, in no index.
  const std::string long_text(2'000, 'x');
  ASSERT_EQ(post("PutItem", R"("Item": {"id": {"S": "wren"}, "x": {"S": ")" + long_text + "\"}}"), 200);
  ASSERT_EQ(
      post("PutItem", R"x("Item": {"id": {"S": "owl"}}, "ConditionExpression": "attribute_not_exists(id)")x"),
      400);
  ASSERT_EQ(Post("TransactWriteItems", R"({"TransactItems": [{"Delete": {"TableName": "Birds",
      "Key": {"id": {"S": "owl"}}}}]})"),
            200);
  std::map<std::string, double> series = Scrape();
  EXPECT_EQ(series["itemdb_table_consumed_write_units_total{table=\"Birds\"}"], 1 + 1 + 2 + 1 + 2);
  EXPECT_EQ(series["itemdb_index_consumed_write_units_total{table=\"Birds\",index=\"ByKind\"}"], 3);
  EXPECT_EQ(series.count("itemdb_table_consumed_read_units_total{table=\"Birds\"}"), 0);

  const std::string key = R"("Key": {"id": {"S": "wren"}})";
  ASSERT_EQ(post("GetItem", key), 200);
  ASSERT_EQ(post("GetItem", key + R"(, "ConsistentRead": true)"), 200);
  ASSERT_EQ(post("Query", R"("IndexName": "ByKind", "KeyConditionExpression": "kind = :k",
      "ExpressionAttributeValues": {":k": {"S": "raptor"}})"),
            200);
  ASSERT_EQ(Post("BatchGetItem", R"({"RequestItems": {"Birds": {"Keys": [{"id": {"S": "wren"}},
      {"id": {"S": "owl"}}]}}})"),
            200);
  ASSERT_EQ(post("Scan", R"("ReturnConsumedCapacity": "INDEXES")"), 200);
  // A new descriptor of the table goes on counting.
  ASSERT_EQ(post("UpdateTable", R"("GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "ByKind"}}])"),
            200);
  ASSERT_EQ(Post("ExecuteStatement", R"({"Statement": "SELECT * FROM Birds WHERE id = 'wren'"})"), 200);
  series = Scrape();
  EXPECT_EQ(series["itemdb_table_consumed_read_units_total{table=\"Birds\"}"], 0.5 + 1 + 1 + 0.5 + 0.5);
  EXPECT_EQ(series["itemdb_table_consumed_write_units_total{table=\"Birds\"}"], 7);
  for (const auto& [name, value] : series) EXPECT_THAT(name, Not(HasSubstr("ByKind")));
}

TEST_F(MetricsTest, CountConsumedUnitsOfIndexReads) {
  Start();
  ASSERT_EQ(Post("CreateTable", kMakeIndexedBirds), 200);
  ASSERT_EQ(Post("Scan", R"({"TableName": "Birds", "IndexName": "ByKind"})"), 200);
  std::map<std::string, double> series = Scrape();
  EXPECT_EQ(series["itemdb_index_consumed_read_units_total{table=\"Birds\",index=\"ByKind\"}"], 0.5);
  EXPECT_EQ(series.count("itemdb_table_consumed_read_units_total{table=\"Birds\"}"), 0);
}

TEST_F(MetricsTest, CountItemsWhoseTimeIsOver) {
  Start();
  ASSERT_EQ(Post("CreateTable", kMakeBirds), 200);
  const std::string expired = R"(itemdb_table_expired_items_total{table="Birds"})";
  EXPECT_EQ(Scrape().count(expired), 0) << "the table has no time to live";
  for (const char* id : {"owl", "kite"}) {
    ASSERT_EQ(Post("PutItem", absl::StrCat(R"({"TableName": "Birds", "Item": {"id": {"S": ")", id,
                                           R"("}, "until": {"N": ")", time(nullptr) - 60, "\"}}}")),
              200);
  }
  ASSERT_EQ(Post("PutItem", R"({"TableName": "Birds", "Item": {"id": {"S": "wren"}}})"), 200);
  ASSERT_EQ(Post("UpdateTimeToLive", R"({"TableName": "Birds", "TimeToLiveSpecification":
      {"Enabled": true, "AttributeName": "until"}})"),
            200);
  EXPECT_TRUE(testing::Await([&] { return Scrape()[expired] == 2; }));
  std::map<std::string, double> series = Scrape();
  EXPECT_EQ(series["itemdb_table_items{table=\"Birds\"}"], 1);
  EXPECT_EQ(series["itemdb_table_consumed_write_units_total{table=\"Birds\"}"], 3) << "they cost nothing";
}

TEST_F(MetricsTest, ShowHowFarBuildsAndChecksAre) {
  Start();
  ASSERT_EQ(Post("CreateTable", kMakeBirds), 200);
  constexpr int kBirds = 10'000;
  PutBirds(kBirds);
  ASSERT_EQ(daemon_.Terminate(), 0);
  // So slow that the first round does not end.
  Start({"--background-check-rate", "100"});
  EXPECT_TRUE(testing::Await([&] { return Scrape()["itemdb_check_records{check=\"records\"}"] > 0; }));
  EXPECT_EQ(Scrape()["itemdb_check_estimated_records{check=\"records\"}"], kBirds);

  // A check or a build may end between two scrapes; then there is another one.
  const auto see = [this](const std::string& prefix, const std::function<void()>& act) {
    std::optional<double> seen;
    for (int i = 0; i < 100 && !seen.has_value(); ++i) {
      std::atomic<bool> ends = false;
      std::thread acting([&] {
        act();
        ends = true;
      });
      while (!ends && !seen.has_value()) {
        for (const auto& [name, value] : Scrape()) {
          if (name.starts_with(prefix) && value > 0) seen = value;
        }
      }
      acting.join();
    }
    return seen;
  };
  EXPECT_THAT(see("itemdb_check_estimated_records{check=\"requested\"}",
                  [this] { EXPECT_EQ(Itemctl({"check"}).exit_code, 0); }),
              Optional(kBirds));
  const auto build = [this] {
    EXPECT_EQ(Post("UpdateTable", R"({"TableName": "Birds",
        "AttributeDefinitions": [{"AttributeName": "kind", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "ByKind",
          "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
          "Projection": {"ProjectionType": "ALL"}}}]})"),
              200);
    Client client = OpenClient();
    EXPECT_TRUE(testing::Await([&] {
      const auto table = client.DescribeTable("Birds");
      return table.ok() && table->table.table_status == TableStatus::kActive;
    }));
    EXPECT_EQ(Post("UpdateTable", R"({"TableName": "Birds",
        "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "ByKind"}}]})"),
              200);
  };
  EXPECT_THAT(see("itemdb_index_build_estimated_records{table=\"Birds\",index=\"ByKind\",phase=\"", build),
              Optional(kBirds));
  for (const auto& [name, value] : Scrape()) EXPECT_THAT(name, Not(HasSubstr("index_build")));
}

TEST_F(MetricsTest, ShowTheSlowestWatch) {
  Start();
  ASSERT_EQ(Post("CreateTable",
                 R"({"TableName": "Birds", "BillingMode": "PAY_PER_REQUEST",
  "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
  "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
  "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"}})"),
            200);
  std::map<std::string, double> series = Scrape();
  EXPECT_EQ(series["itemdb_open_watches"], 0);
  EXPECT_EQ(series["itemdb_watch_lag_changes"], 0);
  constexpr int kChanges = 100;
  {
    ChangeRange changes = OpenClient().Watch({.after_sequence = ChangeSequence()});
    const std::string text(300'000, 'x');
    const auto put = [&](int i) {
      EXPECT_EQ(Post("PutItem", absl::StrCat(R"({"TableName": "Birds", "Item": {"id": {"S": ")", i,
                                             R"("}, "x": {"S": ")", text, "\"}}}")),
                200);
    };
    put(0);
    // The watch begins, and is not read any more.
    const auto first = changes.Next();
    ASSERT_TRUE(first.ok() && first->has_value()) << first.status();
    for (int i = 1; i < kChanges; ++i) put(i);
    EXPECT_TRUE(testing::Await([&] { return Scrape()["itemdb_watch_lag_seconds"] > 1; }));
    series = Scrape();
    EXPECT_EQ(series["itemdb_open_watches"], 1);
    EXPECT_GT(series["itemdb_watch_lag_changes"], kChanges / 10);
    EXPECT_LT(series["itemdb_watch_lag_changes"], kChanges);
    const std::string watcher = "{table=\"\",key=\"\",client=\"ipv4:127.0.0.1\"}";
    EXPECT_EQ(series["itemdb_watchers"], 1);
    EXPECT_EQ(series["itemdb_watcher_lag_changes" + watcher], series["itemdb_watch_lag_changes"]);
    EXPECT_EQ(series["itemdb_watcher_lag_seconds" + watcher], series["itemdb_watch_lag_seconds"]);
    const auto activity = OpenClient().GetActivity();
    ASSERT_TRUE(activity.ok()) << activity.status();
    EXPECT_EQ(activity->open_watches, 1);
    ASSERT_EQ(activity->watches.size(), 1u);
    EXPECT_EQ(activity->watches[0].table_name, "");
    EXPECT_TRUE(activity->watches[0].peer.starts_with("ipv4:127.0.0.1:")) << activity->watches[0].peer;
    EXPECT_GT(activity->watches[0].lag_changes, kChanges / 10);
    EXPECT_GT(activity->watches[0].lag, absl::Seconds(1));
    // It catches up when it is read.
    for (int i = 1; i < kChanges; ++i) {
      const auto next = changes.Next();
      ASSERT_TRUE(next.ok() && next->has_value()) << next.status();
    }
    EXPECT_TRUE(testing::Await([&] { return Scrape()["itemdb_watch_lag_changes"] == 0; }));
    series = Scrape();
    EXPECT_EQ(series["itemdb_watch_lag_seconds"], 0);
    EXPECT_EQ(series["itemdb_open_watches"], 1);
  }
  EXPECT_TRUE(testing::Await([&] { return Scrape()["itemdb_open_watches"] == 0; }));
}

// Watches of one client of one table are one series, and only the slowest 20 have one.
TEST_F(MetricsTest, BoundTheSeriesOfWatches) {
  Start();
  constexpr int kTables = 25;
  const Client client = OpenClient();
  std::vector<ChangeRange> watches;
  for (int i = 0; i < kTables; ++i) {
    const std::string table = absl::StrCat("Birds", i);
    std::string request = kMakeBirds;
    request.replace(request.find("Birds"), 5, table);
    ASSERT_EQ(Post("CreateTable", request), 200);
    for (int same = 0; same < 2; ++same) {
      watches.push_back(client.Watch({.after_sequence = 0, .table_name = table}));
      ASSERT_TRUE(watches.back().Next().ok()) << "the watch is open";
    }
  }
  EXPECT_TRUE(testing::Await([&] { return Scrape()["itemdb_open_watches"] == 2 * kTables; }));
  std::map<std::string, double> series = Scrape();
  EXPECT_EQ(series["itemdb_watchers"], kTables);
  int shown = 0;
  for (const auto& [name, value] : series) shown += name.starts_with("itemdb_watcher_lag_seconds{") ? 1 : 0;
  EXPECT_EQ(shown, 20);
}

TEST_F(MetricsTest, CountWhatTheStoreReadsAndWrites) {
  Start();
  ASSERT_EQ(Post("CreateTable", kMakeBirds), 200);
  PutBirds(200);
  ASSERT_EQ(daemon_.Terminate(), 0);
  Start({"--memory", absl::StrCat(kSmallMemoryMib, "MiB")});
  std::map<std::string, double> series = Scrape();
  const std::string misses = "itemdb_store_block_cache_misses_total{block=\"data\"}";
  const std::string hits = "itemdb_store_block_cache_hits_total{block=\"data\"}";
  const double misses_before = series[misses];
  const std::string get = R"({"TableName": "Birds", "Key": {"id": {"S": "7"}}})";
  ASSERT_EQ(Post("GetItem", get), 200);
  series = Scrape();
  EXPECT_GT(series[misses], misses_before);
  const double hits_before = series[hits];
  for (int i = 0; i < 10; ++i) ASSERT_EQ(Post("GetItem", get), 200);
  series = Scrape();
  EXPECT_GE(series[hits], hits_before + 10);
  EXPECT_EQ(series.count("itemdb_store_write_stall_seconds_total"), 1);

  // More changes than memory has room for, until files are merged.
  const auto has_compacted = [&] {
    series = Scrape();
    return series["itemdb_store_compaction_bytes_total{direction=\"read\"}"] > 1'000'000;
  };
  for (int i = 0; i < 2'000 && !has_compacted(); ++i) {
    ASSERT_EQ(Post("PutItem", absl::StrCat(R"({"TableName": "Birds", "Item": {"id": {"S": ")", i % 10,
                                           R"("}, "x": {"S": ")",
                                           std::string(300'000, static_cast<char>('a' + i % 26)), "\"}}}")),
              200);
  }
  EXPECT_TRUE(has_compacted());
  EXPECT_GT(series["itemdb_store_compaction_bytes_total{direction=\"written\"}"], 1'000);
  EXPECT_GT(series["itemdb_store_flush_bytes_total"], 1'000'000);
  double level_bytes = 0;
  for (const auto& [name, value] : series) {
    if (name.starts_with("itemdb_store_level_bytes{")) level_bytes += value;
  }
  EXPECT_GT(level_bytes, 1'000);
}

// A question names a bucket by its text.
TEST_F(MetricsTest, BoundsOfBucketsAreRoundNumbers) {
  Start();
  ASSERT_EQ(Post("CreateTable", kMakeBirds), 200);
  PutBirds(1);
  const std::map<std::string, double> series = Scrape();
  for (const char* bound : {"2e-05", "0.0001", "0.001", "0.1", "1"}) {
    EXPECT_EQ(series.count(absl::StrCat("itemdb_commit_write_duration_seconds_bucket{le=\"", bound, "\"}")),
              1)
        << bound;
  }
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
         directory_.path() + "/archive", "--trace-endpoint", "http://127.0.0.1:9"});
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

TEST_F(MetricsTest, TellHowOldTheLastProvenBackupIsAndMayBecome) {
  constexpr char kProven[] = "itemdb_backup_last_proven_timestamp_seconds";
  constexpr char kMaxAge[] = "itemdb_backup_proof_max_age_seconds";
  Start({"--backup-schedule", "0 3 1 1 *", "--backup-prove-interval", "0s"});
  EXPECT_FALSE(Scrape().contains(kProven));
  EXPECT_FALSE(Scrape().contains(kMaxAge));
  ASSERT_EQ(Itemctl({"backup", "create"}).exit_code, 0);
  daemon_.Kill();
  Start({"--backup-schedule", "0 3 1 1 *"});
  // The longest of some years, and a day.
  EXPECT_GE(Scrape()[kMaxAge], 366 * 86'400);
  EXPECT_LE(Scrape()[kMaxAge], 367 * 86'400);
  // The newest backup is proven soon after a start.
  EXPECT_TRUE(testing::Await([&] { return Scrape()[kProven] > 1e9; }));
  daemon_.Kill();
  Start();
  EXPECT_GT(Scrape()[kProven], 1e9);
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

TEST_F(MetricsTest, SayThatDynamoDbsProtocolIsElsewhere) {
  Start();
  const CommandResult wrong =
      Itemctl({"--endpoint", "http://" + daemon_.metrics_endpoint(), "table", "list"});
  EXPECT_NE(wrong.exit_code, 0);
  EXPECT_THAT(wrong.err, HasSubstr("an itemd's address for metrics and the console (--metrics-listen)"));
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
