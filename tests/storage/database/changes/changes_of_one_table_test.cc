// Reading the changes of one table from a log with changes of other tables.
#include <map>

#include "storage/engine/durability_watermark.h"
#include "tests/storage/database/changes/watching.h"
#include "tests/storage/database/indexes/damage.h"
#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::SizeIs;

class ChangesOfOneTable : public ::testing::Test {
 protected:
  ChangesOfOneTable() {
    for (const char* table : {"Things", "Others"}) database_.CreateTable(TableRequest(table, false));
  }

  // Makes `sequence` the next change, as after a recovery that lost everything before.
  void GoOnWith(uint64_t sequence) {
    const std::string directory = database_.options().data_directory;
    database_.Close();
    auto watermark = ReadWatermark(rocksdb::Env::Default(), directory);
    ASSERT_TRUE(watermark.ok() && watermark->has_value()) << watermark.status();
    (*watermark)->sequence = sequence - 1;
    ASSERT_TRUE(WriteWatermark(rocksdb::Env::Default(), directory, **watermark).ok());
    DatabaseOptions options = database_.options();
    options.recover_last_good = true;
    ASSERT_TRUE(Database::Open(options).ok());
    database_.Reopen();
    ASSERT_EQ(database_->GetStatus().change_sequence(), sequence - 1);
  }
  void Put(const std::string& table, int i) {
    auto put = database_.Put(table, {{"pk", S(std::to_string(i))}});
    ASSERT_TRUE(put.ok()) << put.status();
  }
  // The keys of the changes of `table` after `sequence`.
  std::vector<std::string> KeysAfter(uint64_t sequence, const std::string& table) {
    Watcher watcher(database_, table);
    watcher.request().set_after_sequence(sequence);
    std::vector<std::string> keys;
    for (const auto& record : watcher.ReadThrough(database_->GetStatus().change_sequence()))
      keys.push_back(Show(record.key()));
    return keys;
  }

  TestDatabase database_;
};

// With changes of other tables in between, across the borders of epochs; from memory, log and files.
TEST_F(ChangesOfOneTable, AreAllThereAcrossEpochs) {
  constexpr uint64_t kEpoch = 1 << 20;
  constexpr uint64_t kFirst = kEpoch - 50;
  ASSERT_NO_FATAL_FAILURE(GoOnWith(kFirst));
  std::map<std::string, std::vector<std::string>> expected;
  std::map<std::string, std::vector<uint64_t>> sequences;
  for (int i = 0; i < 100; ++i) {
    const std::string table = i % 7 == 3 || (i >= 40 && i < 55) ? "Things" : "Others";
    Put(table, i);
    expected[table].push_back("pk=" + std::to_string(i));
    sequences[table].push_back(kFirst + static_cast<uint64_t>(i));
  }
  for (int opening = 0; opening < 2; ++opening) {
    for (const auto& [table, keys] : expected) {
      EXPECT_EQ(KeysAfter(kFirst - 1, table), keys) << table;
      // Starting after each change.
      for (size_t i = 0; i < keys.size(); ++i) {
        const std::vector<std::string> rest(keys.begin() + static_cast<int64_t>(i) + 1, keys.end());
        EXPECT_EQ(KeysAfter(sequences[table][i], table), rest) << table << " after " << sequences[table][i];
      }
    }
    database_.CheckIsClean();
    database_.Reopen();
  }
}

// The changes of one transaction are several runs in the record of each table.
TEST_F(ChangesOfOneTable, AreFoundInTheMiddleOfACommit) {
  wire::TransactWriteItemsRequest request;
  for (int i = 0; i < 60; ++i) {
    auto* item = request.add_transact_items();
    item->mutable_put()->set_table_name(i % 3 == 0 ? "Things" : "Others");
    item->mutable_put()->set_key_or_item(Encode({{"pk", S(std::to_string(i))}}));
  }
  const uint64_t before = database_->GetStatus().change_sequence();
  auto done = database_.Transact(request);
  ASSERT_TRUE(done.ok()) << done.status();
  Put("Things", 60);
  EXPECT_THAT(KeysAfter(before, "Things"), SizeIs(21));
  EXPECT_THAT(KeysAfter(before + 30, "Things"), SizeIs(11));
  EXPECT_THAT(KeysAfter(before + 31, "Things"), SizeIs(10));
  EXPECT_THAT(KeysAfter(before, "Others"), SizeIs(40));
}

// The records of runs can be damaged, because the log has the same information.
TEST_F(ChangesOfOneTable, AreAllThereWhenTheirRunsAreDamaged) {
  for (int i = 0; i < 30; ++i) Put(i % 3 == 0 ? "Things" : "Others", i);
  const std::vector<std::string> expected = KeysAfter(2, "Things");
  ASSERT_THAT(expected, SizeIs(10));
  database_.Close();
  {
    Families families(database_.options().data_directory);
    int i = 0;
    for (const auto& [key, record] : families.All("table_runs")) {
      if (++i % 4 == 0 || i > 28) families.Put("table_runs", key, record.substr(0, record.size() - 1));
    }
  }
  database_.Reopen();
  EXPECT_EQ(KeysAfter(2, "Things"), expected);
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::vector<std::string> rest(expected.begin() + static_cast<int64_t>(i) + 1, expected.end());
    EXPECT_EQ(KeysAfter(3 + 3 * i, "Things"), rest);
  }
}

// One page skips any number of changes of other tables.
TEST_F(ChangesOfOneTable, AreOnePageWhateverIsBetweenThem) {
  Put("Things", 1);
  const uint64_t first = database_->GetStatus().change_sequence();
  for (int i = 0; i < 3'000; ++i) Put("Others", i);
  Put("Things", 2);
  Watcher watcher(database_, "Things");
  watcher.request().set_after_sequence(first - 1);
  auto reply = watcher.Next();
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_THAT(reply->records(), SizeIs(2));
  EXPECT_EQ(reply->change_sequence(), database_->GetStatus().change_sequence());
}

}  // namespace
}  // namespace itemdb::testing
