// The background check finds what CheckDatabase finds, entry by entry, and stores no state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/storage/database/indexes/damage.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// The status of the background check after `rounds` whole rounds that start from now on.
v1::BackgroundCheck After(TestDatabase& database, int rounds) {
  // The round under way started earlier.
  const int64_t last = database->GetStatus().background_check().rounds() + 1 + rounds;
  for (int i = 0; i < 6'000; ++i) {
    v1::BackgroundCheck check = database->GetStatus().background_check();
    if (check.rounds() >= last) return check;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ADD_FAILURE() << "no round came to its end";
  return {};
}

class BackgroundCheckTest : public Damage {
 protected:
  static DatabaseOptions Options(const std::string& directory) {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory);
    options.background_check_rate = 100'000;
    options.check_interval = std::chrono::milliseconds(100);
    return options;
  }
  // Opens the same database again, with the background check.
  void DamageDatabase(const std::function<void(Families&)>& damage) {
    database_.Close();
    {
      Families families(database_.options().data_directory);
      damage(families);
    }
    checked_.emplace(Options(database_.options().data_directory));
  }

  std::optional<TestDatabase> checked_;
};

TEST_F(BackgroundCheckTest, IsNotThereUnlessAskedFor) {
  EXPECT_FALSE(database_->GetStatus().has_background_check());
}

TEST_F(BackgroundCheckTest, FindsMissingStaleStrayAndDamagedEntriesAndItemsRoundAfterRound) {
  DamageDatabase([&](Families& families) {
    PlantWrongEntries(families);
    families.Put(table_, "no item's key", "no item at all");
  });
  for (int round = 0; round < 2; ++round) {
    const v1::BackgroundCheck check = After(*checked_, 1);
    EXPECT_EQ(check.rate(), 100'000);
    EXPECT_EQ(check.finding_count(), 5);
    EXPECT_THAT(check.findings(), UnorderedElementsAre(HasSubstr("is missing"), HasSubstr("is stale"),
                                                       HasSubstr("belongs to no item"),
                                                       HasSubstr("index ByStatus of table Things: key"),
                                                       HasSubstr("table Things: key")));
    EXPECT_EQ(check.last_error(), "");
  }
  v1::CheckDatabaseRequest request;
  request.set_repair(true);
  auto repaired =
      Await<v1::CheckDatabaseReply>([&](auto done) { (*checked_)->CheckDatabase(request, std::move(done)); });
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  EXPECT_THAT(After(*checked_, 1).findings(), ElementsAre(HasSubstr("table Things: key")))
      << "an item is not derived from anything";
}

TEST_F(BackgroundCheckTest, FindsAnItemThatIsAnOlderVersion) {
  Records before;
  Damage::DamageDatabase([&](Families& families) { before = RecordsIn(families); });
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("b")}, {"status", S("shut")}}).ok());
  DamageDatabase([&](Families& families) { PutBack(before, families); });
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(After(*checked_, 1).findings(),
                UnorderedElementsAre(HasSubstr("table Things: counted 3 items"),
                                     HasSubstr("index ByStatus of table Things: counted 3 items")));
  }
}

// Those of tables and indexes that an earlier version wrote.
TEST_F(BackgroundCheckTest, CompletesContentSums) {
  DamageDatabase([&](Families& families) { LeaveOutContentSums(families); });
  ASSERT_TRUE(checked_->Put("Things", {{"pk", S("p")}, {"sk", S("b")}, {"status", S("shut")}}).ok());
  EXPECT_THAT(After(*checked_, 1).findings(), IsEmpty());
  ASSERT_TRUE(checked_->Put("Things", {{"pk", S("p")}, {"sk", S("d")}, {"status", S("open")}}).ok());
  checked_->CheckIsClean();
  checked_->Close();
  Families families(database_.options().data_directory);
  ExpectWholeContentSums(families);
}

// A round that could not read everything must not look like a round without findings, and must read the rest.
TEST_F(BackgroundCheckTest, TellsWhatItCouldNotRead) {
  v1::CreateTableRequest later = TableRequest("Zebras");
  AddIndex(&later, "ByStatus", {"status:S"}, 1, v1::PROJECTION_TYPE_ALL);
  database_.CreateTable(later);
  ASSERT_TRUE(database_.Put("Zebras", {{"pk", S("p")}, {"sk", S("s")}, {"status", S("open")}}).ok());
  v1::DescribeTableRequest request;
  request.set_table_name("Zebras");
  auto described = database_->DescribeTable(request);
  ASSERT_TRUE(described.ok()) << described.status();
  const uint64_t zebras = described->table().global_secondary_indexes(0).storage_id();
  // So many entries that the first block, which is damaged, holds entries of one index only.
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(database_
                    .Put("Things", {{"pk", S(std::to_string(i * 7'919 % 1'000'003))},
                                    {"sk", S("s")},
                                    {"status", S("open " + std::to_string(i))}})
                    .ok());
  }
  DamageDatabase([&](Families& families) {
    families.DamageFiles(index_);
    families.Put(zebras, "no key at all", "no record at all");
  });
  for (int round = 0; round < 2; ++round) {
    const v1::BackgroundCheck check = After(*checked_, 1);
    EXPECT_THAT(check.last_error(), HasSubstr("orruption"));
    EXPECT_THAT(check.findings(), ElementsAre(HasSubstr("index ByStatus of table Zebras: key")));
  }
}

// The disk fails: without knowing what is stored, the check must not report anything as missing.
TEST_F(BackgroundCheckTest, TakesNothingThatCannotBeReadForMissing) {
  database_.Close();
  const std::string& directory = database_.options().data_directory;
  std::vector<std::string> unreadable = Families(directory).Files(index_);
  ASSERT_FALSE(unreadable.empty());
  auto disk = std::make_shared<PowerLossFileSystem>(directory);
  DatabaseOptions options = Options(directory);
  options.file_system = disk;
  options.block_cache_bytes = 0;  // Every block is read from the disk, every time.
  checked_.emplace(options);
  EXPECT_EQ(After(*checked_, 1).last_error(), "");
  disk->Inject(Unreadable(unreadable));
  v1::BackgroundCheck check = After(*checked_, 1);
  EXPECT_THAT(check.last_error(), HasSubstr("injected fault"));
  EXPECT_THAT(check.findings(), IsEmpty());
  for (bool repair : {false, true}) {
    v1::CheckDatabaseRequest request;
    request.set_repair(repair);
    auto checked = Await<v1::CheckDatabaseReply>(
        [&](auto done) { (*checked_)->CheckDatabase(request, std::move(done)); });
    EXPECT_THAT(checked.status().ToString(), HasSubstr("injected fault"));
  }
  disk->ClearFaults();
  check = After(*checked_, 1);
  EXPECT_EQ(check.last_error(), "");
  EXPECT_THAT(check.findings(), IsEmpty());
  checked_->CheckIsClean();
}

// More records than one chunk, and tables that are created and deleted between two chunks.
TEST_F(BackgroundCheckTest, FindsNothingWhileEverythingChanges) {
  TestDatabase database(Options(database_.options().data_directory + "/other"));
  auto definition = [](const std::string& name) {
    v1::CreateTableRequest table = TableRequest(name);
    AddIndex(&table, "ByStatus", {"status:S"}, 1, v1::PROJECTION_TYPE_ALL);
    AddIndex(&table, "ByRate", {"rate:N"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
    return table;
  };
  database.CreateTable(definition("Kept"));
  for (int i = 0; i < 2'500; ++i) {
    ASSERT_TRUE(database
                    .Put("Kept", {{"pk", S("p")},
                                  {"sk", S(std::to_string(i))},
                                  {"status", S(std::to_string(i % 7))},
                                  {"rate", N(std::to_string(i))}})
                    .ok());
  }
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      const v1::AttributeValue sk = S(std::to_string(i * 37 % 2'500));
      if (i % 3 == 0) {
        ASSERT_TRUE(database.Delete("Kept", {{"pk", S("p")}, {"sk", sk}}).ok());
      } else {
        ASSERT_TRUE(
            database.Put("Kept", {{"pk", S("p")}, {"sk", sk}, {"status", S(std::to_string(i))}}).ok());
      }
    }
  });
  std::thread definer([&] {
    while (!stop) {
      database.CreateTable(definition("Comes"));
      ASSERT_TRUE(database.Put("Comes", {{"pk", S("p")}, {"sk", S("s")}, {"status", S("x")}}).ok());
      v1::DeleteTableRequest request;
      request.set_table_name("Comes");
      ASSERT_TRUE(Await<v1::DeleteTableReply>([&](auto done) {
                    database->DeleteTable(request, std::move(done));
                  }).ok());
    }
  });
  const v1::BackgroundCheck check = After(database, 2);
  stop = true;
  writer.join();
  definer.join();
  EXPECT_THAT(check.findings(), IsEmpty());
  EXPECT_EQ(check.last_error(), "");
}

}  // namespace
}  // namespace itemdb::testing
