#include "tools/commands/top_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/tools/real_daemon.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;
using Latencies = std::vector<LatencyCount>;

OperationActivity Calls(const char* table, const char* operation, Latencies latencies) {
  OperationActivity activity{.table_name = table, .operation = operation};
  for (const LatencyCount& one : latencies) activity.items_scanned += 2 * one.calls;
  activity.latencies = std::move(latencies);
  return activity;
}

constexpr absl::Duration kShort = absl::Microseconds(5), kLong = absl::Milliseconds(40);

TEST(Top, ComparesTwoSamples) {
  TopSample before{.time = absl::FromUnixSeconds(100)};
  before.activity.operations = {Calls("A", "GetItem", {{kLong, 100}}),
                                Calls("A", "Scan", {{absl::Seconds(1), 7}})};
  before.status.writes.committed = 10;
  TopSample now{.time = absl::FromUnixSeconds(102)};
  now.activity.operations = {Calls("A", "GetItem", {{kLong, 120}}),
                             Calls("A", "Scan", {{absl::Seconds(1), 7}}),
                             Calls("B", "GetItem", {{kShort, 100}})};
  now.status.writes.committed = 16;
  const TopFigures figures = Compare(before, now);
  EXPECT_DOUBLE_EQ(figures.calls_per_second, 60);
  EXPECT_DOUBLE_EQ(figures.writes_per_second, 3);
  ASSERT_EQ(figures.operations.size(), 1u) << "the scan was before";
  EXPECT_EQ(figures.operations[0].name, "GetItem");
  EXPECT_DOUBLE_EQ(figures.operations[0].calls_per_second, 60);
  EXPECT_DOUBLE_EQ(figures.operations[0].items_per_second, 120);
  EXPECT_EQ(figures.operations[0].p50, kShort) << "of both tables";
  EXPECT_EQ(figures.operations[0].p99, kLong);
  ASSERT_EQ(figures.tables.size(), 2u);
  EXPECT_EQ(figures.tables[0].name, "B") << "most calls first";
  EXPECT_EQ(figures.tables[0].p99, kShort);
  EXPECT_EQ(figures.tables[1].name, "A");
  EXPECT_EQ(figures.tables[1].p50, kLong);
}

// A slow hour is over: its latencies are not those of now.
TEST(Top, ShowsTheLatenciesOfTheIntervalOnly) {
  TopSample before{.time = absl::FromUnixSeconds(100)};
  before.activity.operations = {Calls("A", "GetItem", {{kShort, 5}, {kLong, 1'000'000}})};
  TopSample now{.time = absl::FromUnixSeconds(101)};
  now.activity.operations = {Calls("A", "GetItem", {{kShort, 6}, {kLong, 1'000'000}})};
  TopFigures figures = Compare(before, now);
  ASSERT_EQ(figures.operations.size(), 1u);
  EXPECT_DOUBLE_EQ(figures.operations[0].calls_per_second, 1);
  EXPECT_EQ(figures.operations[0].p50, kShort);
  EXPECT_EQ(figures.operations[0].p99, kShort);

  now.activity.operations = before.activity.operations;
  figures = Compare(before, now);
  EXPECT_TRUE(figures.operations.empty()) << "no calls, no latencies";
  EXPECT_TRUE(figures.tables.empty());
}

// The counters begin again at 0.
TEST(Top, SurvivesARestartOfTheDaemon) {
  TopSample before{.time = absl::FromUnixSeconds(100)};
  before.activity.start_time = absl::FromUnixSeconds(50);
  before.activity.operations = {Calls("A", "GetItem", {{kShort, 1'000}, {kLong, 1}})};
  before.status.writes.committed = 1'000;
  TopSample now{.time = absl::FromUnixSeconds(101)};
  now.activity.start_time = absl::FromUnixSeconds(100);
  now.activity.operations = {Calls("A", "GetItem", {{kShort, 10}})};
  now.status.writes.committed = 3;
  const TopFigures figures = Compare(before, now);
  EXPECT_DOUBLE_EQ(figures.calls_per_second, 10);
  EXPECT_DOUBLE_EQ(figures.writes_per_second, 0);
}

// The calls of a deleted index are gone.
TEST(Top, SurvivesTheDeletionOfAnIndex) {
  TopSample before{.time = absl::FromUnixSeconds(100)};
  before.activity.operations = {Calls("A", "Query", {{kShort, 100}, {kLong, 1'000}})};
  before.activity.operations[0].errors = 9;
  TopSample now{.time = absl::FromUnixSeconds(101)};
  now.activity.operations = {Calls("A", "Query", {{kShort, 104}, {kLong, 200}})};
  const TopFigures figures = Compare(before, now);
  ASSERT_EQ(figures.operations.size(), 1u);
  EXPECT_DOUBLE_EQ(figures.operations[0].calls_per_second, 4);
  EXPECT_DOUBLE_EQ(figures.operations[0].errors_per_second, 0);
  EXPECT_EQ(figures.operations[0].p99, kShort);
}

// The daemon has calls of its start, which no interval may show.
TEST(TopWithADaemon, ShowsTheCallsOfTheIntervalAndTheWatches) {
  const RealDaemon daemon;
  auto client = Client::Open({.endpoint = daemon.endpoint()});
  ASSERT_TRUE(client.ok()) << client.status();
  const auto top = [&](const char* format) {
    const Outcome outcome = daemon.Call({"-o", format, "top", "--interval", "0.3"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  const Json idle = Json::parse(top("json"));
  EXPECT_EQ(idle["calls_per_second"], 0.0) << idle;
  EXPECT_TRUE(idle["operations"].empty() && idle["tables"].empty()) << idle;
  EXPECT_EQ(idle["open_watches"], 0) << idle;
  EXPECT_TRUE(idle["watches"].empty()) << idle;
  EXPECT_THAT(top("table"), HasSubstr("no calls"));

  ChangeRange changes = client->Watch({.after_sequence = 0, .table_name = "Order"});
  ASSERT_TRUE(changes.Next().ok()) << "the watch is open";
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      const GetItemRequest request = {.table_name = "music", .key = {{"artist", "Bach"}, {"song", "Air"}}};
      EXPECT_TRUE(client->GetItem(request).ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  const Json busy = Json::parse(top("json"));
  const std::string screen = top("table");
  done = true;
  reader.join();
  ASSERT_EQ(busy["operations"].size(), 1u) << busy;
  EXPECT_EQ(busy["operations"][0]["operation"], "GetItem");
  EXPECT_GT(busy["operations"][0]["calls_per_second"], 1.0) << busy;
  EXPECT_LE(busy["operations"][0]["p50_us"], busy["operations"][0]["p99_us"]) << busy;
  ASSERT_EQ(busy["tables"].size(), 1u) << busy;
  EXPECT_EQ(busy["tables"][0]["table_name"], "music");
  EXPECT_EQ(busy["open_watches"], 1) << busy;
  ASSERT_EQ(busy["watches"].size(), 1u) << busy;
  EXPECT_EQ(busy["watches"][0]["table_name"], "Order");
  EXPECT_EQ(busy["watches"][0]["lag_ms"], 0);
  EXPECT_THAT(screen, HasSubstr("GetItem"));
  EXPECT_THAT(screen, HasSubstr("1 watch, none behind"));
  EXPECT_THAT(screen, Not(HasSubstr("since the start")));
}

}  // namespace
}  // namespace itemdb::tools
