#include "daemon/process/log_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/details/log_msg.h>

#include <nlohmann/json.hpp>

#include "daemon/serving/serving_context.h"
#include "spdlog/sinks/ringbuffer_sink.h"

namespace itemdb::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

std::string Format(LogStyle style, const std::string& text,
                   spdlog::level::level_enum level = spdlog::level::info) {
  spdlog::details::log_msg message("itemd", level, text);
  spdlog::memory_buf_t line;
  MakeLogFormatter(style)->format(message, line);
  return std::string(line.data(), line.size());
}

TEST(LogFormat, TextIsTimeLevelWordsAndPairs) {
  EXPECT_THAT(Format({}, "stopped change_sequence=7", spdlog::level::warn),
              MatchesRegex("20[-0-9]+T[:0-9]+\\.[0-9]+[-+][:0-9]+ warn stopped change_sequence=7\n"));
  EXPECT_THAT(Format({}, "x reason=\"No space left\" path=/a"),
              HasSubstr("x reason=\"No space left\" path=/a\n"));
}

TEST(LogFormat, JsonIsOneObjectALine) {
  const std::string line =
      Format({.json = true},
             "slow request table=orders duration_ms=1.5 items=3 id=007 reason=\"a \\\"b\\\"\" level=high");
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["message"], "slow request");
  EXPECT_EQ(json["level"], "info");
  EXPECT_EQ(json["field_level"], "high") << "the line's own members stay";
  EXPECT_EQ(json["table"], "orders");
  EXPECT_EQ(json["items"], 3);
  EXPECT_EQ(json["id"], "007") << "not a number as anybody writes it";
  EXPECT_EQ(json["reason"], "a \"b\"");
}

// A client can choose a name that the daemon logs. The name must not add lines to the log.
TEST(LogFormat, AnEventIsOneLineWhateverIsInIt) {
  for (bool json : {false, true}) {
    const std::string line = Format({.json = json}, "bad name=a\nfake error line\r\x1b[2J end=\xff");
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_EQ(line.find('\r'), std::string::npos);
  }
}

TEST(LogFormat, TheJournalGetsPrioritiesInsteadOfTimes) {
  EXPECT_EQ(Format({.journal = true}, "serving grpc=x"), "<6>serving grpc=x\n");
  EXPECT_EQ(Format({.journal = true}, "x", spdlog::level::err), "<3>x\n");
  EXPECT_EQ(Format({.journal = true}, "x", spdlog::level::debug), "<7>x\n");
  EXPECT_THAT(Format({.json = true, .journal = true}, "x", spdlog::level::warn),
              ::testing::StartsWith("<4>{\"time\":"));
  EXPECT_FALSE(StderrIsJournal(nullptr));
  EXPECT_FALSE(StderrIsJournal("junk"));
  EXPECT_FALSE(StderrIsJournal("1:2"));
}

TEST(SlowRequestLog, AreBoundedInNumberAndNameNoContents) {
  auto sink = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(100);
  SlowRequestLog slow(absl::Milliseconds(5), std::make_shared<spdlog::logger>("test", sink));
  EXPECT_TRUE(slow.IsSlow(std::chrono::milliseconds(5)));
  EXPECT_FALSE(slow.IsSlow(std::chrono::microseconds(4'999)));
  const CallLogFields log_fields{.table_name = "not a name\nof a table", .more_tables = true, .items = 2};
  for (int i = 0; i < 50; ++i) {
    slow.Log({.method = "itemdb.v1.Data/PutItem",
              .log_fields = log_fields,
              .duration = std::chrono::microseconds(5'500),
              .request_bytes = 100,
              .reply_bytes = 20,
              .items = -1,
              .code = "OK"});
  }
  const auto lines = sink->last_formatted();
  EXPECT_THAT(lines, SizeIs(10));
  EXPECT_THAT(lines[0], HasSubstr("slow request method=itemdb.v1.Data/PutItem table=?,... duration_ms=5.500 "
                                  "request_bytes=100 reply_bytes=20 items=2 code=OK"));
  // The console shows also those that no line was written for, as far as the newest 200 go.
  EXPECT_THAT(slow.Recent(), SizeIs(50));
  EXPECT_EQ(slow.Recent().back().table, "?,...");
  EXPECT_EQ(slow.Recent().back().milliseconds, 5.5);
  EXPECT_EQ(slow.Recent().back().items, 2);
  for (int i = 0; i < 500; ++i)
    slow.Log({.method = "m",
              .log_fields = log_fields,
              .duration = {},
              .request_bytes = 0,
              .reply_bytes = 0,
              .items = i,
              .code = "OK"});
  EXPECT_THAT(slow.Recent(), SizeIs(SlowRequestLog::kRecentRequests));
  EXPECT_EQ(slow.Recent().front().items, 300);
  SlowRequestLog never(absl::ZeroDuration(), nullptr);
  EXPECT_FALSE(never.IsSlow(std::chrono::hours(1)));
}

}  // namespace
}  // namespace itemdb::daemon
