#include "daemon/serving/call_metrics.h"

#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace itemdb::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

CountedCall CallOf(std::string_view table, std::string_view reason = "") {
  return {.protocol = Protocol::kHttp,
          .operation = "Query",
          .table = table,
          .reason = reason,
          .duration = std::chrono::microseconds(150),
          .request_bytes = 10,
          .reply_bytes = 300,
          .items = 3};
}

TEST(CallMetrics, CountsByOperationAndByTable) {
  CallMetrics metrics;
  metrics.Count(CallOf("cats"));
  metrics.Count(CallOf("cats"));
  metrics.Count(CallOf("dogs"));
  metrics.Count(CallOf("cats", "VALIDATION"));
  CountedCall other;
  other.operation = "ListTables";
  metrics.Count(other);
  const auto operations = metrics.Operations();
  ASSERT_THAT(operations, SizeIs(2));
  EXPECT_EQ(operations[0].operation, "ListTables");
  const CallFigures& queries = operations[1].figures;
  EXPECT_EQ(operations[1].latency.count(), 4u);
  EXPECT_EQ(operations[1].latency.sum, 600u);
  EXPECT_EQ(operations[1].request_bytes, 40u);
  EXPECT_EQ(queries.reply_bytes, 1'200u);
  EXPECT_EQ(queries.items, 12u);
  EXPECT_EQ(queries.succeeded, 3u);
  EXPECT_THAT(queries.reasons, ElementsAre(::testing::Pair("VALIDATION", 1)));
  const auto tables = metrics.Tables();
  ASSERT_THAT(tables, SizeIs(2));
  EXPECT_EQ(tables[0].table, "cats");
  EXPECT_EQ(tables[0].figures.succeeded, 2u);
  EXPECT_EQ(tables[0].figures.succeeded_us, 300u);
  EXPECT_THAT(tables[0].figures.reasons, ElementsAre(::testing::Pair("VALIDATION", 1)));
  EXPECT_EQ(tables[1].table, "dogs");
}

TEST(CallMetrics, KeepNoTableThatNoRequestHasFound) {
  CallMetrics metrics;
  for (int i = 0; i < 1'000; ++i) metrics.Count(CallOf(absl::StrCat("no", i), "RESOURCE_NOT_FOUND"));
  EXPECT_THAT(metrics.Tables(), IsEmpty());
  EXPECT_THAT(metrics.Operations()[0].figures.reasons,
              ElementsAre(::testing::Pair("RESOURCE_NOT_FOUND", 1'000)));
}

TEST(CallMetrics, BoundTheirTables) {
  CallMetrics metrics;
  for (size_t i = 0; i < CallMetrics::kMaxTablePairs + 7; ++i) metrics.Count(CallOf(absl::StrCat("t", i)));
  EXPECT_THAT(metrics.Tables(), SizeIs(CallMetrics::kMaxTablePairs));
  EXPECT_EQ(metrics.uncounted_by_table(), 7u);
  EXPECT_EQ(metrics.Operations()[0].figures.succeeded, CallMetrics::kMaxTablePairs + 7);

  metrics.ForgetTables([](std::string_view table) { return table == "t1"; });
  metrics.Count(CallOf("new"));
  EXPECT_THAT(metrics.Tables(), SizeIs(2));
}

TEST(CallMetrics, LoseNothingWhenManyThreadsCountWhileTablesComeAndGo) {
  constexpr int kThreads = 4, kCalls = 3'000;
  CallMetrics metrics;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&metrics] {
      for (int i = 0; i < kCalls; ++i)
        metrics.Count(CallOf(absl::StrCat("t", i % 17), i % 5 == 0 ? "THROTTLED" : ""));
    });
  }
  for (int i = 0; i < 50; ++i) {
    metrics.ForgetTables([](std::string_view table) { return table.ends_with('3'); });
    metrics.Tables();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(metrics.Operations()[0].latency.count(), uint64_t{kThreads * kCalls});
  const CallFigures figures = metrics.Operations()[0].figures;
  EXPECT_THAT(figures.reasons, ElementsAre(::testing::Pair("THROTTLED", kThreads * kCalls / 5)));
  EXPECT_EQ(figures.succeeded, uint64_t{kThreads * kCalls * 4 / 5});
}

}  // namespace
}  // namespace itemdb::daemon
