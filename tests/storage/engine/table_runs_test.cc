// Which changes belong to which table: what a commit group stores, and what readers read.
#include "storage/commit/table_runs.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr uint64_t kEpoch = 1 << 20;

std::vector<storage::TableRun> Decoded(const storage::TableRunsOfGroup::Record& record) {
  const auto runs = storage::DecodeTableRuns(record.key, record.value);
  EXPECT_TRUE(runs.has_value());
  return runs.value_or(std::vector<storage::TableRun>());
}

TEST(TableRuns, AreOneRecordForEachTableOfAGroup) {
  storage::TableRunsOfGroup group;
  for (uint64_t sequence : {10, 11, 12}) group.Add(7, sequence);
  group.Add(300, 13);
  group.Add(7, 14);
  group.Add(7, 15);
  const auto records = group.Encode();
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_THAT(Decoded(records[0]), ElementsAre(storage::TableRun{7, 10, 3}, storage::TableRun{7, 14, 2}));
  EXPECT_THAT(Decoded(records[1]), ElementsAre(storage::TableRun{300, 13, 1}));
  EXPECT_TRUE(records[0].key.starts_with(storage::TableRunsPrefix(0, 7)));
  EXPECT_TRUE(records[1].key.starts_with(storage::TableRunsPrefix(0, 300)));
}

TEST(TableRuns, OfAManyTimesRepeatedTableAreShort) {
  storage::TableRunsOfGroup group;
  for (uint64_t sequence = 1; sequence <= 100'000; ++sequence) group.Add(1, sequence);
  const auto records = group.Encode();
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_THAT(Decoded(records[0]), ElementsAre(storage::TableRun{1, 1, 100'000}));
  EXPECT_LT(records[0].value.size(), 32u);
}

// Otherwise whole files could not be deleted: a record would be needed for longer than its key says.
TEST(TableRuns, DoNotReachIntoTheNextEpoch) {
  storage::TableRunsOfGroup group;
  for (uint64_t sequence = kEpoch - 2; sequence < kEpoch + 2; ++sequence) group.Add(5, sequence);
  group.Add(6, kEpoch + 2);
  group.Add(5, kEpoch + 3);
  const auto records = group.Encode();
  ASSERT_THAT(records, SizeIs(3));
  EXPECT_THAT(Decoded(records[0]), ElementsAre(storage::TableRun{5, kEpoch - 2, 2}));
  EXPECT_THAT(Decoded(records[1]),
              ElementsAre(storage::TableRun{5, kEpoch, 2}, storage::TableRun{5, kEpoch + 3, 1}));
  EXPECT_LT(records[0].key, storage::TableRunsPrefix(1));
  EXPECT_GT(records[1].key, storage::TableRunsPrefix(1));
}

TEST(TableRuns, KeysAreInTheOrderOfEpochTableAndSequence) {
  EXPECT_LT(storage::TableRunsKey(300, kEpoch - 1), storage::TableRunsKey(1, kEpoch));
  EXPECT_LT(storage::TableRunsKey(1, 900), storage::TableRunsKey(2, 3));
  EXPECT_LT(storage::TableRunsKey(2, 3), storage::TableRunsKey(2, 256));
  EXPECT_LT(storage::TableRunsKey(239, 256), storage::TableRunsKey(240, 3));
}

TEST(TableRuns, ThatAreDamagedAreRefused) {
  storage::TableRunsOfGroup group;
  group.Add(7, 10);
  const auto record = group.Encode().at(0);
  for (size_t i = 0; i < record.value.size(); ++i) {
    std::string damaged = record.value;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(storage::DecodeTableRuns(record.key, damaged).has_value()) << i;
  }
  EXPECT_FALSE(storage::DecodeTableRuns(storage::TableRunsKey(8, 10), record.value).has_value());
  EXPECT_FALSE(storage::DecodeTableRuns("", record.value).has_value());
}

}  // namespace
}  // namespace itemdb::testing
