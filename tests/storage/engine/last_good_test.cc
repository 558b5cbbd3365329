// Recovery with losses (recover_last_good): what it keeps, and that it deletes nothing.
#include <filesystem>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/sst_file_reader.h"
#include "storage/engine/catalog_copy.h"
#include "storage/store/store.h"
#include "tests/storage/engine/recovery_fixture.h"

namespace itemdb::testing {
namespace {

class LastGoodTest : public RecoveryTest {
 protected:
  fs::path PathOf(const std::string& file) const { return fs::path(data_) / "rocksdb" / file; }

  // The column family of a table file.
  std::string FamilyOf(const std::string& file) const {
    rocksdb::SstFileReader reader{rocksdb::Options()};
    EXPECT_TRUE(reader.Open(PathOf(file)).ok()) << file;
    return reader.GetTableProperties()->column_family_name;
  }

  // The database is open, has the order table, and nothing in it disagrees.
  static void ExpectConsistent(Database& database) {
    EXPECT_EQ(database.GetStatus().table_count(), 1);
    auto check =
        Await<v1::CheckDatabaseReply>([&](auto done) { database.CheckDatabase({}, std::move(done)); });
    ASSERT_TRUE(check.ok()) << check.status();
    EXPECT_EQ(check->finding_count(), 0) << check->DebugString();
  }

  // As ExpectRecovers; then everything agrees.
  int ExpectRecoversConsistent() {
    const int left = ExpectRecovers();
    auto opened = Database::Open(Options());
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (opened.ok()) ExpectConsistent(**opened);
    return left;
  }

  static constexpr char kFirstQuarantine[] = "/quarantine-1";
};

// Only the file of the items cannot be done without.
TEST_F(LastGoodTest, AnyOneLostTableFileButThatOfTheItemsCostsNothing) {
  MakeDatabaseInTableFiles();
  Save();
  const uint64_t last_sequence = last_sequence_;
  struct Damage {
    const char* what;
    std::function<void(const fs::path&)> apply;
  };
  const Damage damages[] = {
      {"is missing", [](const fs::path& path) { fs::remove(path); }},
      {"is a byte short", [](const fs::path& path) { Cut(path, fs::file_size(path) - 1); }},
      {"is empty", [](const fs::path& path) { Cut(path, 0); }},
      {"has a flipped byte in its first block", [](const fs::path& path) { Flip(path, 20); }},
      {"has a flipped byte in its footer",
       [](const fs::path& path) { Flip(path, fs::file_size(path) - 4); }},
  };
  std::map<std::string, int> families;
  for (const std::string& file : TableFiles()) {
    const std::string family = FamilyOf(file);
    ++families[family];
    if (family == "items") continue;
    for (const Damage& damage : damages) {
      SCOPED_TRACE(file + " of " + family + " " + damage.what);
      Restore();
      last_sequence_ = last_sequence;
      damage.apply(PathOf(file));
      EXPECT_EQ(ExpectRecoversConsistent(), items_);
      if (HasFailure()) return;
    }
    Restore();
  }
  for (const char* family : {"items", "global_entries", "catalog", "stats", "changes"})
    EXPECT_GT(families[family], 0) << "no table file of " << family;
}

TEST_F(LastGoodTest, ALostTableFileCostsOnlyItsOwnItems) {
  MakeDatabaseInTableFiles();
  // Three more files of items.
  for (int file = 0; file < 3; ++file) {
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    for (int i = 0; i < kItems; ++i) ASSERT_TRUE(Put(**opened, ++items_).ok());
    last_sequence_ += kItems;
  }
  ASSERT_TRUE(Database::Open(Options()).ok());  // Writes the last of them.
  std::vector<std::string> files;
  for (const std::string& file : TableFiles())
    if (FamilyOf(file) == "items") files.push_back(file);
  ASSERT_EQ(files.size(), 4u);
  Save();
  const uint64_t last_sequence = last_sequence_;
  for (const std::string& file : files) {
    SCOPED_TRACE(file + " is missing");
    last_sequence_ = last_sequence;
    fs::remove(PathOf(file));
    EXPECT_EQ(ExpectRecoversConsistent(), items_ - kItems);
    if (HasFailure()) return;
    Restore();
  }
}

// The log is intact, so what it holds must not be lost with a table file.
TEST_F(LastGoodTest, ALostTableFileDoesNotCostTheLog) {
  MakeDatabaseInTableFiles();
  {
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    for (int i = 0; i < kItems; ++i) ASSERT_TRUE(Put(**opened, ++items_).ok());
    last_sequence_ += kItems;
  }
  Save();
  const uint64_t last_sequence = last_sequence_;
  for (const std::string& file : TableFiles()) {
    const bool is_items = FamilyOf(file) == "items";
    SCOPED_TRACE(file);
    last_sequence_ = last_sequence;
    fs::remove(PathOf(file));
    EXPECT_EQ(ExpectRecoversConsistent(), is_items ? kItems : items_);
    if (HasFailure()) return;
    Restore();
  }
}

// Without the copy a new table of the same name must still not see the items of the lost one.
TEST_F(LastGoodTest, WithoutCatalogAndCopyTheItemsStayButHaveNoTable) {
  MakeDatabaseInTableFiles();
  for (const std::string& file : TableFiles())
    if (FamilyOf(file) == "catalog") fs::remove(PathOf(file));
  fs::remove(data_ + "/CATALOG");
  EXPECT_FALSE(TableSurvives());
  ExpectNewTableIsEmpty();
}

TEST_F(LastGoodTest, KeepsTheFilesFromBeforeByteForByte) {
  MakeDatabaseWithTwoLogs();
  Cut(Logs(data_)[0], fs::file_size(Logs(data_)[0]) / 2);
  std::map<std::string, std::string> before = Contents(data_ + "/rocksdb");
  std::erase_if(before, [](const auto& file) { return file.first.starts_with("LOG"); });
  ExpectRecovers();
  std::map<std::string, std::string> kept = Contents(data_ + kFirstQuarantine);
  EXPECT_THAT(kept["README"], ::testing::HasSubstr("--recover=last-good"));
  kept.erase("README");
  EXPECT_TRUE(kept == before);
}

TEST_F(LastGoodTest, EachRecoveryHasAQuarantineOfItsOwn) {
  MakeDatabase();
  for (int recovery = 1; recovery <= 3; ++recovery) {
    Cut(Logs(data_).back(), fs::file_size(Logs(data_).back()) - 1);
    auto opened = Database::Open(Options(/*recover_last_good=*/true));
    ASSERT_TRUE(opened.ok()) << opened.status();
    ASSERT_TRUE(Put(**opened, 1'000 + recovery).ok());
    EXPECT_TRUE(fs::exists(data_ + "/quarantine-" + std::to_string(recovery) + "/README"));
    EXPECT_FALSE(fs::exists(data_ + "/quarantine-" + std::to_string(recovery + 1)));
  }
}

TEST_F(LastGoodTest, AnUndamagedDatabaseNeedsNoQuarantine) {
  MakeDatabase();
  ASSERT_TRUE(Database::Open(Options(/*recover_last_good=*/true)).ok());
  EXPECT_FALSE(fs::exists(data_ + kFirstQuarantine));
}

// ---- the copy of the catalog ----

class CatalogCopyTest : public LastGoodTest {
 protected:
  std::vector<std::string> CopiedTables() const {
    const ReadableRecords copy = ReadCatalogCopy(rocksdb::Env::Default(), data_);
    EXPECT_FALSE(copy.damaged);
    std::vector<std::string> tables;
    for (const auto& [key, record] : copy.records)
      if (key.starts_with("table/")) tables.push_back(key);
    return tables;
  }
};

TEST_F(CatalogCopyTest, IsWrittenWhenTheDatabaseCloses) {
  MakeDatabase();
  EXPECT_EQ(CopiedTables(), std::vector<std::string>{std::string("table/") + kOrderTable});
}

TEST_F(CatalogCopyTest, ForgetsADeletedTable) {
  MakeDatabase();
  {
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    v1::DeleteTableRequest request;
    request.set_table_name(kOrderTable);
    ASSERT_TRUE(Await<v1::DeleteTableReply>([&](auto done) {
                  (*opened)->DeleteTable(request, std::move(done));
                }).ok());
  }
  EXPECT_TRUE(CopiedTables().empty());
}

// Whatever happened to the copy, an intact database opens, and writes it again.
TEST_F(CatalogCopyTest, IsNotNeededByAnIntactDatabase) {
  MakeDatabase();
  const std::string path = data_ + "/CATALOG";
  const std::string whole = ReadFile(path);
  for (const std::string& content :
       {std::string(), whole.substr(0, whole.size() / 2), std::string(1000, 'x')}) {
    WriteFile(path, content);
    ASSERT_TRUE(Database::Open(Options()).ok());
    EXPECT_EQ(ReadFile(path), whole);
  }
}

// Every record of the copy that is whole counts.
TEST_F(CatalogCopyTest, GivesTheUndamagedRecordsOfADamagedCopy) {
  MakeDatabase();
  const std::string path = data_ + "/CATALOG";
  const std::string whole = ReadFile(path);
  const ReadableRecords all = ReadCatalogCopy(rocksdb::Env::Default(), data_);
  for (size_t i = 0; i < whole.size(); ++i) {
    SCOPED_TRACE("byte " + std::to_string(i));
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x20);
    WriteFile(path, flipped);
    const ReadableRecords readable = ReadCatalogCopy(rocksdb::Env::Default(), data_);
    EXPECT_TRUE(readable.damaged);
    for (const auto& [key, record] : readable.records) {
      const auto found = all.records.find(key);
      ASSERT_TRUE(found != all.records.end()) << key;
      EXPECT_EQ(found->second, record);
    }
  }
}

}  // namespace
}  // namespace itemdb::testing
