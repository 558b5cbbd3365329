// --output-version: the spelling of members in JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/tools/real_daemon.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;
using Document = nlohmann::json;

// Adds the names of all members, without those inside items.
void AddNames(const Document& json, std::set<std::string>* names) {
  static const std::set<std::string> kItems = {"Key", "OldImage", "NewImage", "Items", "Item"};
  if (json.is_array()) {
    for (const Document& element : json) AddNames(element, names);
  }
  if (!json.is_object()) return;
  for (const auto& [name, value] : json.items()) {
    names->insert(name);
    if (!kItems.contains(name)) AddNames(value, names);
  }
}

TEST(OutputVersion, TheSecondSpellsEveryCommandAsAws) {
  const RealDaemon daemon;
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"status"},
                                             {"patterns"},
                                             {"contributors", "enable", "Order"},
                                             {"contributors", "list"},
                                             {"count", "Order"},
                                             {"contributors", "show", "Order"},
                                             {"contributors", "disable", "Order"},
                                             {"check"},
                                             {"table", "list"},
                                             {"table", "describe", "Order"},
                                             {"index", "status", "Order"},
                                             {"ttl", "status", "Order"},
                                             {"changes", "read"},
                                             {"changes", "tail", "-n", "20"},
                                             {"count", "Order"},
                                             {"latency", "--samples", "2"},
                                             {"top", "--interval", "0.1"},
                                             {"export", "list"},
                                             {"damage", "list"},
                                             {"change-holds", "list"},
                                             {"table-backup", "list"}}) {
    std::vector<std::string> call = {"--output-version", "2", "-o", "json"};
    call.insert(call.end(), arguments.begin(), arguments.end());
    const Outcome outcome = daemon.Call(call);
    ASSERT_EQ(outcome.exit_code, 0) << arguments.front() << " " << outcome.err;
    const Document document = Document::parse(outcome.out, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << outcome.out;
    std::set<std::string> names;
    AddNames(document, &names);
    for (const std::string& name : names) {
      EXPECT_TRUE(name.front() >= 'A' && name.front() <= 'Z' && name.find('_') == std::string::npos)
          << arguments.front() << ": " << name;
    }
  }
}

TEST(OutputVersion, ItemsKeepTheirNames) {
  const RealDaemon daemon;
  EXPECT_THAT(
      daemon.Call({"--output-version", "2", "-o", "jsonl", "changes", "tail", "-n", "1", "--table", "Order"})
          .out,
      HasSubstr("\"Key\": {\"PK\""));
  EXPECT_THAT(daemon.Call({"--output-version", "2", "-o", "json", "scan", "Customer", "--limit", "1"}).out,
              HasSubstr("\"customer_id\""));
  ASSERT_EQ(daemon.Call({"contributors", "enable", "Order"}).exit_code, 0);
  ASSERT_EQ(daemon.Call({"scan", "Order", "--limit", "1"}).exit_code, 0);
  EXPECT_THAT(daemon.Call({"--output-version", "2", "-o", "jsonl", "contributors", "show", "Order"}).out,
              HasSubstr("\"Key\": {\"PK\""));
}

TEST(OutputVersion, DescriptionsAreWrappedAndGoBack) {
  const RealDaemon daemon;
  const Outcome described =
      daemon.Call({"--output-version", "2", "-o", "json", "table", "describe", "Order"});
  const Document document = Document::parse(described.out);
  EXPECT_EQ(document["Table"]["TableArn"], "arn:aws:dynamodb:local:000000000000:table/Order");
  // The description, of either version, creates the same table.
  const Outcome first = daemon.Call({"-o", "json", "table", "describe", "Order"});
  for (const std::string& text : {described.out, first.out}) {
    ASSERT_EQ(daemon.Call({"table", "delete", "Order", "--yes"}).exit_code, 0);
    const Outcome created = daemon.Call({"table", "create", "-f", "-"}, text);
    ASSERT_EQ(created.exit_code, 0) << created.err;
    const Document again = Document::parse(daemon.Call({"-o", "json", "table", "describe", "Order"}).out);
    const Document before = Document::parse(first.out);
    for (const char* name :
         {"KeySchema", "AttributeDefinitions", "BillingModeSummary", "StreamSpecification"})
      EXPECT_EQ(again[name], before[name]) << name;
    EXPECT_EQ(again["GlobalSecondaryIndexes"].size(), before["GlobalSecondaryIndexes"].size());
  }
}

}  // namespace
}  // namespace itemdb::tools
