#include "daemon/tracing/trace_context.h"

#include <gtest/gtest.h>

namespace itemdb::daemon {
namespace {

constexpr TraceId kId = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736};
const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";

TEST(TraceContext, IsReadFromTraceparent) {
  for (const auto& [flags, sampled] : {std::pair("00", false), {"01", true}, {"02", false}, {"ff", true}}) {
    SCOPED_TRACE(flags);
    const auto context = ParseTraceparent("00-" + kTrace + "-00f067aa0ba902b7-" + flags);
    ASSERT_TRUE(context.has_value());
    EXPECT_EQ(context->trace_id, kId);
    EXPECT_EQ(context->parent_id, 0x00f067aa0ba902b7u);
    EXPECT_EQ(context->sampled, sampled);
  }
  EXPECT_EQ(ToText(kId), kTrace);
  EXPECT_EQ(SpanIdText(0x00f067aa0ba902b7), "00f067aa0ba902b7");
}

// W3C Trace Context, 3.2.2 and 3.2.3: a malformed value is ignored, and a later version is read as version 00
// is, if what follows begins with a dash.
TEST(TraceContext, IgnoresAMalformedTraceparent) {
  const std::string parent = "-00f067aa0ba902b7-01";
  for (const std::string& text :
       {std::string(), std::string("00"), "00-" + kTrace, "00-" + kTrace + parent + "-",
        "00-" + kTrace + parent + "-x", "00-" + kTrace + parent + "0", "ff-" + kTrace + parent,
        "0-" + kTrace + parent, "0x-" + kTrace + parent, "00-" + std::string(32, '0') + parent,
        "00-" + kTrace + "-" + std::string(16, '0') + "-01", "00-4BF92F3577B34DA6A3CE929D0E0E4736" + parent,
        "00-" + kTrace + "-00F067AA0BA902B7-01", "00-" + kTrace + "-00f067aa0ba902b7-0g",
        "00-" + kTrace.substr(1) + parent, "00_" + kTrace + parent, "01-" + kTrace + parent + "x",
        "00-" + kTrace + "-00f067aa0ba902b-01"}) {
    EXPECT_FALSE(ParseTraceparent(text).has_value()) << text;
  }
  for (const std::string& text : {"01-" + kTrace + parent, "cc-" + kTrace + parent + "-what-comes-later",
                                  " 00-" + kTrace + parent + "\t"}) {
    EXPECT_TRUE(ParseTraceparent(text).has_value()) << text;
  }
}

TEST(TraceContext, IsReadFromAmazonsHeader) {
  struct Row {
    const char* text;
    uint64_t parent;
    std::optional<bool> sampled;
  };
  for (const Row& row :
       {Row{"Root=1-4bf92f35-77b34da6a3ce929d0e0e4736;Parent=53995c3f42cd8ad8;Sampled=1", 0x53995c3f42cd8ad8,
            true},
        Row{"Root=1-4bf92f35-77b34da6a3ce929d0e0e4736;Sampled=0", 0, false},
        Row{"Self=1-5759e988-bd862e3fe1be46a994272793; Root=1-4bf92f35-77b34da6a3ce929d0e0e4736", 0,
            std::nullopt},
        Row{"Root=1-4bf92f35-77b34da6a3ce929d0e0e4736;Sampled=?;CalledFrom=app", 0, std::nullopt}}) {
    SCOPED_TRACE(row.text);
    const auto context = ParseAmazonTraceId(row.text);
    ASSERT_TRUE(context.has_value());
    EXPECT_EQ(context->trace_id, kId);
    EXPECT_EQ(context->parent_id, row.parent);
    EXPECT_EQ(context->sampled, row.sampled);
  }
  for (const char* text :
       {"", "Sampled=1", "Root=", "Root=2-4bf92f35-77b34da6a3ce929d0e0e4736",
        "Root=1-4bf92f35-77b34da6a3ce929d0e0e473", "Root=1-4bf92f35-77b34da6a3ce929d0e0e4736;Parent=xyz",
        "Root=1-4bf92f35+77b34da6a3ce929d0e0e4736", "Root=1-00000000-000000000000000000000000", ";;;=;"}) {
    EXPECT_FALSE(ParseAmazonTraceId(text).has_value()) << text;
  }
}

TEST(TraceContext, OfTraceparentCountsFirst) {
  const std::string ours = "00-" + kTrace + "-00f067aa0ba902b7-01";
  const char* amazon = "Root=1-5759e988-bd862e3fe1be46a994272793";
  EXPECT_EQ(ReadTraceContext(ours, amazon)->trace_id, kId);
  EXPECT_EQ(ReadTraceContext("00-x", amazon)->trace_id.high, 0x5759e988bd862e3fu);
  EXPECT_FALSE(ReadTraceContext("00-x", std::nullopt).has_value());
  EXPECT_FALSE(ReadTraceContext(std::nullopt, std::nullopt).has_value());
}

}  // namespace
}  // namespace itemdb::daemon
