// The metrics page of a daemon with many tables.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/metrics/metered_daemon.h"
#include "tests/support/repetitions.h"

namespace itemdb::metrics {
namespace {

constexpr int kTables = testing::kHasSanitizer ? 1'000 : 10'000;

TEST_F(MeteredDaemon, ShowsTenThousandTables) {
  Start({"--durability", "relaxed", "--background-check-rate", "0", "--file-check-rate", "0"});
  for (int i = 0; i < kTables; ++i) {
    const std::string body = absl::StrCat(
        R"x({"TableName": "Nest)x", i,
        R"x(", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]})x");
    ASSERT_TRUE(http_->Send(http::PostRequest("CreateTable", body)));
    ASSERT_EQ(http_->ReadReply().value_or(http::RawReply()).status, 200);
  }
  LookAgain();
  const Series page = Scrape();
  EXPECT_EQ(page.at("itemdb_tables"), kTables);
  // Each table has its sizes. Only so many pairs of a table and an operation are counted: the page stays
  // bounded, and says how many requests it leaves out.
  int with_size = 0, with_requests = 0;
  for (const auto& [name, value] : page) {
    if (name.starts_with("itemdb_table_items{")) ++with_size;
    if (name.starts_with("itemdb_table_request_duration_seconds_count{")) ++with_requests;
  }
  constexpr int kMaxPairs = 5'000;
  EXPECT_EQ(with_size, kTables);
  EXPECT_EQ(with_requests, std::min(kTables, kMaxPairs));
  EXPECT_EQ(page.at("itemdb_requests_without_table_total"), std::max(0, kTables - kMaxPairs));
  // The others go on as ever.
  const std::string last = absl::StrCat("Nest", kTables - 1);
  Run({.operation = "PutItem",
       .request = absl::StrCat(R"x({"TableName": ")x", last, R"x(", "Item": {"id": {"S": "a"}}})x"),
       .table = kTables > kMaxPairs ? "" : last,
       .moves = {{"changes", 1},
                 {"commits", 1},
                 {"write " + last, 1},
                 {"items " + last, 1},
                 {"bytes " + last, 3},
                 {"itemdb_requests_without_table_total", kTables > kMaxPairs ? 1 : 0}}});
}

}  // namespace
}  // namespace itemdb::metrics
