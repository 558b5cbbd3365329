#include "common/log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <sstream>

namespace itemdb::common {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(lines_);
    sink->set_pattern("%v");
    log_ = std::make_shared<spdlog::logger>("test", std::move(sink));
  }

  std::string TakeLine() {
    std::string line = lines_.str();
    lines_.str("");
    return line;
  }

  std::ostringstream lines_;
  Log log_;
};

TEST_F(LogTest, LinesAreWordsAndFields) {
  log_->info("database open data_dir={} tables={} seconds={:.1f}", "/var/lib/itemdb", 4, 0.25);
  EXPECT_EQ(TakeLine(), "database open data_dir=/var/lib/itemdb tables=4 seconds=0.2\n");
  log_->warn("without a value");
  EXPECT_EQ(TakeLine(), "without a value\n");
  log_->debug("not wanted tables={}", 1);
  EXPECT_EQ(TakeLine(), "");
  log_.log(spdlog::level::err, "{} reloaded path={} note={}", "access keys", "/a b", "");
  EXPECT_EQ(TakeLine(), "access keys reloaded path=\"/a b\" note=\"\"\n");
}

// What a client or an operator chose must not look like another field, or another line.
TEST_F(LogTest, ValuesAddNeitherFieldsNorLines) {
  for (const std::string value :
       {"/w/d9 level=error tables=9", "say \"hi\" a=1", "back\\slash", "a\nfake error line\r\x1b[2J", "x=1",
        "\"", "\\", "ends with \\", "", " ", "\x7f", "\xff"}) {
    log_->info("opened data_dir={} tables={}", value, 0);
    std::string line = TakeLine();
    line.pop_back();
    EXPECT_EQ(line.find_first_of("\n\r\x1b"), std::string::npos) << line;
    const LogLine parsed = ParseLogLine(line);
    EXPECT_EQ(parsed.words, "opened");
    EXPECT_THAT(parsed.fields, ElementsAre(Pair("data_dir", value), Pair("tables", "0"))) << line;
  }
}

TEST_F(LogTest, WordsAddNoFields) {
  for (const std::string words :
       {"cannot read it: code=5 a=1", "it is \"so\"", "a = b, C=d, =e", "plain words", "\n"}) {
    log_->error("{} exit_code={}", words, 65);
    std::string line = TakeLine();
    line.pop_back();
    const LogLine parsed = ParseLogLine(line);
    EXPECT_THAT(parsed.fields, ElementsAre(Pair("exit_code", "65"))) << line;
    if (words != "\n") {
      EXPECT_EQ(parsed.words, words) << line;
    }
  }
}

TEST_F(LogTest, WordsAfterABlankAddNoFields) {
  log_->warn("cannot read {} tables={}", "level=error", 1);
  std::string line = TakeLine();
  line.pop_back();
  EXPECT_EQ(ParseLogLine(line).words, "cannot read level=error");
  EXPECT_THAT(ParseLogLine(line).fields, ElementsAre(Pair("tables", "1")));
}

// Of other loggers, such as spdlog's own.
TEST(ParseLogLine, TakesAnyText) {
  for (const char* text :
       {"", " ", "a=", "x a=\"", "x a=\"b", "x a=\"b\"c d=1", "x a=b\"c\" d", "\"", "\"\\", "x a=\"\\x4"})
    ParseLogLine(text);
  EXPECT_EQ(ParseLogLine("").words, "");
  EXPECT_EQ(ParseLogLine("no fields here").words, "no fields here");
  EXPECT_THAT(ParseLogLine("no fields here").fields, IsEmpty());
  EXPECT_THAT(ParseLogLine("x a= b=1").fields, ElementsAre(Pair("a", ""), Pair("b", "1")));
}

}  // namespace
}  // namespace itemdb::common
