#include "daemon/config/setting_values.h"

#include <gtest/gtest.h>

namespace itemdb::daemon {
namespace {

TEST(SettingValues, SizesHaveUnits) {
  struct Row {
    const char* text;
    uint64_t bytes;
  };
  for (const Row& row :
       {Row{"0", 0}, Row{"17", 17}, Row{"17B", 17}, Row{"512MiB", 512ull << 20}, Row{"512M", 512ull << 20},
        Row{"4 GiB", 4ull << 30}, Row{"1.5kib", 1536}, Row{"2GB", 2'000'000'000}, Row{"1T", 1ull << 40}}) {
    SCOPED_TRACE(row.text);
    ASSERT_TRUE(ParseSize(row.text).ok());
    EXPECT_EQ(*ParseSize(row.text), row.bytes);
  }
  for (const char* text :
       {"", "x", "-1", "+1", "1e3", "0x10", "1 2", "MiB", "1XB", "9999999999999999999", "1%", "nan", "."}) {
    EXPECT_FALSE(ParseSize(text).ok()) << text;
  }
  EXPECT_EQ(*ParseSizeOrShare("25%", 1000), 250u);
  EXPECT_EQ(*ParseSizeOrShare("7", 1000), 7u);
  EXPECT_FALSE(ParseSizeOrShare("100.1%", 1000).ok());
}

TEST(SettingValues, SharesAreFractionsOrPercentages) {
  struct Row {
    const char* text;
    double share;
  };
  for (const Row& row :
       {Row{"0", 0}, Row{"1", 1}, Row{"0.25", 0.25}, Row{"100%", 1}, Row{"0.5%", 0.005}, Row{"0%", 0}}) {
    SCOPED_TRACE(row.text);
    ASSERT_TRUE(ParseShare(row.text).ok());
    EXPECT_DOUBLE_EQ(*ParseShare(row.text), row.share);
  }
  for (const char* text : {"", "x", "2", "101%", "-1", "1%%", "1 %", "50", "1e-3"})
    EXPECT_FALSE(ParseShare(text).ok()) << text;
}

TEST(SettingValues, TraceEndpointsAreUrls) {
  EXPECT_EQ(*ParseTraceEndpoint("http://127.0.0.1:4318"), "http://127.0.0.1:4318/v1/traces");
  EXPECT_EQ(*ParseTraceEndpoint("https://[::1]/"), "https://[::1]/v1/traces");
  EXPECT_EQ(*ParseTraceEndpoint("https://otlp.example.com/a/v1/traces"),
            "https://otlp.example.com/a/v1/traces");
  for (const char* text : {"", "127.0.0.1:4318", "ftp://a", "http://", "http:///x", "http://user:secret@a",
                           "http://a?b=c", "http://a b", "http://a#b"})
    EXPECT_FALSE(ParseTraceEndpoint(text).ok()) << text;
}

TEST(SettingValues, SizesAreShownInTheLargestUnitThatFits) {
  EXPECT_EQ(FormatSize(0), "0B");
  EXPECT_EQ(FormatSize(1 << 20), "1MiB");
  EXPECT_EQ(FormatSize((1 << 20) + (1 << 19)), "1.5MiB");
  EXPECT_EQ(FormatSize(uint64_t{1} << 50), "1024TiB");
}

TEST(SettingValues, DurationsNeedAUnit) {
  EXPECT_EQ(*ParseDuration("1m30s"), absl::Seconds(90));
  EXPECT_EQ(*ParseDuration("0s"), absl::ZeroDuration());
  for (const char* text : {"", "0", "10", "-1s", "inf", "s", "1 s"})
    EXPECT_FALSE(ParseDuration(text).ok()) << text;
}

}  // namespace
}  // namespace itemdb::daemon
