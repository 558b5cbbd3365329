// Commands for many items, with the real daemon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/tools/real_daemon.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SeveralItems : public ::testing::Test {
 protected:
  RealDaemon daemon_;
};

std::vector<std::string> SortedLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string Songs(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    lines += R"({"artist": "a)" + std::to_string(i % 7) + R"(", "song": ")" + std::to_string(i) + "\"}\n";
  }
  return lines;
}

TEST_F(SeveralItems, JsonLinesOfAnyNumberAreWrittenCountedAndScannedInSegments) {
  const Outcome written = daemon_.Call({"batch-write", "music"}, Songs(2'345));
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_EQ(written.out, "{\"Applied\": 2345}\n");
  EXPECT_EQ(daemon_.Call({"count", "music", "--filter", "attribute_not_exists(plays)"}).out,
            "{\"Count\": 2346, \"ScannedCount\": 2347}\n");
  EXPECT_EQ(daemon_
                .Call({"count", "music", "--key-condition", "artist = :a AND song < :s", "--values",
                       R"({":a": "a3", ":s": "2"})"})
                .out,
            "{\"Count\": 160, \"ScannedCount\": 160}\n");
  const Outcome scanned = daemon_.Call({"scan", "music"});
  const Outcome segments = daemon_.Call({"scan", "music", "--segments", "5", "--page-size", "100"});
  EXPECT_EQ(segments.exit_code, 0) << segments.err;
  EXPECT_EQ(SortedLines(segments.out), SortedLines(scanned.out));
  EXPECT_EQ(daemon_.Call({"scan", "music", "--segments", "5", "--limit", "1"}).exit_code, 2);
}

TEST_F(SeveralItems, AHyphenIsStandardInput) {
  const Outcome written = daemon_.Call(
      {"batch-write", "-"}, R"({"music": [{"PutRequest": {"Item": {"artist": "a", "song": "b"}}}]})");
  EXPECT_EQ(written.out, "{\"Applied\": 1}\n") << written.err;
}

TEST_F(SeveralItems, ABadLineIsNamedWithWhatWasAppliedBefore) {
  const Outcome outcome = daemon_.Call({"batch-write", "music"}, Songs(1'000) + "\n{\"artist\": 1,}\n");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("after 1000 writes that were applied: line 1002: malformed JSON"));
  const Outcome refused = daemon_.Call({"batch-write", "music"}, "{\"artist\": 1, \"song\": \"x\"}\n");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.err.find("after"), std::string::npos) << refused.err;
}

TEST_F(SeveralItems, ADryRunWritesNothing) {
  const std::string file = daemon_.directory() + "/songs.jsonl";
  std::ofstream(file) << Songs(3) << R"({"DeleteRequest": {"Key": {"artist": "Bach", "song": "Air"}}})"
                      << "\n";
  const Outcome outcome = daemon_.Call({"batch-write", "music", "--file", file, "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "dry run: this would put 3 items, replacing what is there, and delete 1, in the table music\n");
  EXPECT_EQ(daemon_.Call({"count", "music"}).out, "{\"Count\": 2, \"ScannedCount\": 2}\n");
  EXPECT_EQ(daemon_.Call({"batch-write", "music", "--file", file}).exit_code, 0);
  EXPECT_EQ(daemon_.Call({"count", "music"}).out, "{\"Count\": 4, \"ScannedCount\": 4}\n");
  const Outcome transaction =
      daemon_.Call({"transact", "--dry-run", "--transact-items",
                    R"([{"Delete": {"TableName": "music", "Key": {"artist": "a0", "song": "0"}}}])"});
  EXPECT_EQ(transaction.err, "dry run: this would apply 1 action, 1 of them a deletion\n");
  EXPECT_EQ(daemon_.Call({"count", "music"}).out, "{\"Count\": 4, \"ScannedCount\": 4}\n");
}

TEST_F(SeveralItems, WhatIsGivenTwiceOrNotAtAllIsAUsageError) {
  EXPECT_THAT(daemon_.Call({"batch-get"}).err, HasSubstr("--request-items or with --file"));
  EXPECT_THAT(daemon_.Call({"batch-write", "music", "--request-items", "{}"}).err,
              HasSubstr("give either a table"));
  EXPECT_THAT(daemon_.Call({"transact", "-f", "-", "--transact-items", "[]"}).err, HasSubstr("either"));
  EXPECT_THAT(daemon_.Call({"table", "tag", "music", "team"}).err, HasSubstr("it must be KEY=VALUE"));
  EXPECT_THAT(daemon_.Call({"table", "update", "music", "--provisioned-throughput", "5"}).err,
              HasSubstr("it must be READ,WRITE"));
  EXPECT_EQ(daemon_.Call({"table", "update", "music"}).exit_code, 1) << "the daemon says what may be given";
  EXPECT_THAT(daemon_
                  .Call({"table", "update", "music", "--deletion-protection-enabled",
                         "--no-deletion-protection-enabled"})
                  .err,
              HasSubstr(", not both"));
}

// A setting that is not given stays unchanged, for example deletion protection (SEM-095).
TEST_F(SeveralItems, AnUpdateChangesWhatItNames) {
  EXPECT_EQ(daemon_.Call({"table", "update", "music", "--deletion-protection-enabled"}).exit_code, 0);
  const Outcome outcome = daemon_.Call({"table", "update", "music", "--stream-view-type", "NEW_IMAGE"});
  EXPECT_THAT(outcome.out, HasSubstr("\"DeletionProtectionEnabled\": true"));
  EXPECT_THAT(outcome.out, HasSubstr("\"StreamViewType\": \"NEW_IMAGE\""));
}

// Settings without effect are stored and shown (SEM-099). A read or write value that is left out stays
// unchanged.
TEST_F(SeveralItems, AnUpdateChangesTheSettingsThatAreKept) {
  // UpdateTable changes one of them at a time.
  const auto update = [this](std::vector<std::string> settings) {
    settings.insert(settings.begin(), {"table", "update", "music"});
    return daemon_.Call(settings).out;
  };
  EXPECT_THAT(update({"--table-class", "STANDARD_INFREQUENT_ACCESS"}),
              HasSubstr(R"("TableClassSummary": {"TableClass": "STANDARD_INFREQUENT_ACCESS"})"));
  EXPECT_THAT(
      update({"--kms-master-key-id", "alias/k"}),
      HasSubstr(
          R"("SSEDescription": {"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": "alias/k"})"));
  EXPECT_THAT(update({"--on-demand-throughput", "10,20"}),
              HasSubstr(R"("OnDemandThroughput": {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20})"));
  EXPECT_THAT(update({"--warm-throughput", ",4000"}),
              HasSubstr(R"("WarmThroughput": {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000})"));
  EXPECT_THAT(update({"--on-demand-throughput", "-1,"}),
              HasSubstr(R"("OnDemandThroughput": {"MaxWriteRequestUnits": 20})"));
  EXPECT_THAT(update({"--sse-type", "DISABLED"}), HasSubstr(R"("SSEDescription": {"Status": "DISABLED"})"));
  EXPECT_THAT(daemon_.Call({"table", "update", "music", "--warm-throughput", "0,1"}).err,
              HasSubstr("of WarmThroughput must be at least 1"));
}

// Consumed capacity (SEM-061) in read units (SEM-062) is printed on stderr, so that it does not mix with
// items, as the sum of all calls.
TEST_F(SeveralItems, WhatWasConsumedIsToldWhenAskedFor) {
  const std::string air = R"({"artist": "Bach", "song": "Air"})";
  const std::string two = R"("Key": {"artist": "Bach", "song": "Air"})";
  const struct {
    std::vector<std::string> arguments;
    std::string consumed;
    std::string input = "";
  } rows[] = {
      {{"item", "get", "music", air}, R"("CapacityUnits": 0.5)"},
      {{"item", "put", "music", air}, R"("CapacityUnits": 1)"},
      {{"item", "update", "music", air, "--update", "REMOVE x"}, R"("CapacityUnits": 1)"},
      {{"query", "music", "--key-condition", "artist = :a", "--values", R"({":a": "Bach"})"},
       R"("CapacityUnits": 0.5)"},
      // Two pages with one item, and an empty last page.
      {{"scan", "music", "--page-size", "1"}, R"("CapacityUnits": 1.5)"},
      {{"batch-get", "--request-items", R"({"music": {"Keys": [)" + air + "]}}"}, R"("CapacityUnits": 0.5)"},
      {{"batch-write", "music"}, R"("CapacityUnits": 30)", Songs(30)},
      {{"transact", "--transact-items", R"([{"Get": {"TableName": "music", )" + two + "}}]"},
       R"("CapacityUnits": 2)"},
      {{"transact", "--transact-items", R"([{"Put": {"TableName": "music", "Item": )" + air + "}}]"},
       R"("CapacityUnits": 2)"},
      {{"item", "delete", "music", air}, R"("CapacityUnits": 1)"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.arguments.front() + " " + row.arguments[1]);
    std::vector<std::string> arguments = row.arguments;
    arguments.insert(arguments.end(), {"--return-consumed-capacity", "TOTAL"});
    const Outcome outcome = daemon_.Call(arguments, row.input);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, R"({"ConsumedCapacity": [{"TableName": "music", )" + row.consumed + "}]}\n");
    EXPECT_EQ(daemon_.Call(row.arguments, row.input).err, "");
  }
  EXPECT_EQ(daemon_.Call({"scan", "music", "--return-consumed-capacity", "INDEXES"}).err,
            R"({"ConsumedCapacity": [{"TableName": "music", "CapacityUnits": 0.5, "Table": 0.5}]})"
            "\n");
}

// Deletion protection (SEM-094).
TEST_F(SeveralItems, AProtectedTableIsNotDeletedUntilItIsAllowedAgain) {
  EXPECT_EQ(daemon_.Call({"table", "update", "music", "--deletion-protection-enabled"}).exit_code, 0);
  EXPECT_THAT(daemon_.Call({"table", "delete", "music", "--yes"}).err,
              HasSubstr("protected against deletion"));
  EXPECT_EQ(daemon_.Call({"table", "update", "music", "--no-deletion-protection-enabled"}).exit_code, 0);
  EXPECT_EQ(daemon_.Call({"table", "delete", "music", "--yes"}).exit_code, 0);
}

}  // namespace
}  // namespace itemdb::tools
