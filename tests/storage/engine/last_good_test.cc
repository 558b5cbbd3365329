// Recovery with losses (recover_last_good): what it keeps, and that it deletes nothing.
#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/db.h"
#include "storage/engine/catalog_copy.h"
#include "storage/store/store.h"
#include "tests/storage/engine/recovery_fixture.h"
#include "tests/support/power_loss_file_system.h"

namespace itemdb::testing {
namespace {

class LastGoodTest : public DamagedFilesTest {
 protected:
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
      {"has a flipped byte in its footer", [](const fs::path& path) { Flip(path, fs::file_size(path) - 4); }},
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

TEST_F(LastGoodTest, ADamagedChangeLogIsRefusedWithTheNextCommand) {
  MakeDatabaseInTableFiles();
  Save();
  int refused = 0;
  for (const std::string& file : FilesOf("changes")) {
    const uint64_t size = fs::file_size(PathOf(file));
    for (uint64_t offset = 20; offset < size; offset += size / 16 + 1) {
      SCOPED_TRACE(file + " at " + std::to_string(offset));
      Flip(PathOf(file), offset);
      // A start reads what it needs: the end of the log, and files with gaps.
      if (const auto opened = Database::Open(Options()); !opened.ok()) {
        EXPECT_TRUE(absl::IsDataLoss(opened.status())) << opened.status();
        EXPECT_THAT(opened.status().message(), ::testing::HasSubstr("start once with --recover=last-good"));
        if (absl::StrContains(opened.status().message(), "cannot read the change log")) ++refused;
      }
      Restore();
    }
  }
  EXPECT_GT(refused, 0);
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

TEST_F(LastGoodTest, KeepsTheWholeDatabaseFromBefore) {
  MakeDatabaseWithTwoLogs();
  Cut(Logs(data_)[0], fs::file_size(Logs(data_)[0]) / 2);
  const std::map<std::string, std::string> before = Contents(data_);
  ExpectRecovers();
  std::map<std::string, std::string> kept = Contents(data_ + kFirstQuarantine);
  EXPECT_THAT(kept["README"], ::testing::HasSubstr("--recover=last-good"));
  for (const char* file : {"WATERMARK", "CATALOG"}) EXPECT_EQ(kept[file], before.at(file)) << file;
  // It can be put back, and is then refused as before.
  fs::remove_all(data_ + "/rocksdb");
  fs::copy(data_ + kFirstQuarantine, data_,
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  ExpectDataLoss(::testing::_);
}

TEST_F(LastGoodTest, EachRecoveryHasAQuarantineOfItsOwn) {
  MakeDatabase();
  // The numbers go on after the highest, whatever was deleted.
  fs::create_directory(data_ + "/quarantine-6");
  for (int recovery = 7; recovery <= 9; ++recovery) {
    Cut(Logs(data_).back(), fs::file_size(Logs(data_).back()) - 1);
    auto opened = Database::Open(Options(/*recover_last_good=*/true));
    ASSERT_TRUE(opened.ok()) << opened.status();
    ASSERT_TRUE(Put(**opened, 1'000 + recovery).ok());
    EXPECT_TRUE(fs::exists(QuarantinePath(recovery) + "/README"));
    EXPECT_EQ(LastQuarantine(), recovery);
  }
}

// ---- the manifest ----

struct ManifestDamage {
  const char* what;
  std::function<void(const fs::path& store, const fs::path& manifest)> apply;
};

const ManifestDamage kManifestDamages[] = {
    {"MANIFEST is missing", [](const fs::path&, const fs::path& manifest) { fs::remove(manifest); }},
    {"MANIFEST is empty", [](const fs::path&, const fs::path& manifest) { Cut(manifest, 0); }},
    {"MANIFEST has a flipped byte",
     [](const fs::path&, const fs::path& manifest) { Flip(manifest, fs::file_size(manifest) / 2); }},
    {"MANIFEST begins with a flipped byte",
     [](const fs::path&, const fs::path& manifest) { Flip(manifest, 9); }},
    {"CURRENT is missing", [](const fs::path& store, const fs::path&) { fs::remove(store / "CURRENT"); }},
    {"CURRENT is empty", [](const fs::path& store, const fs::path&) { Cut(store / "CURRENT", 0); }},
    {"CURRENT names another file",
     [](const fs::path& store, const fs::path&) { WriteFile(store / "CURRENT", "MANIFEST-000999\n"); }},
    {"CURRENT and MANIFEST are missing",
     [](const fs::path& store, const fs::path& manifest) {
       fs::remove(store / "CURRENT");
       fs::remove(manifest);
     }},
};

// Each table file knows its column family, and each record its table.
TEST_F(LastGoodTest, ADamagedManifestCostsNothing) {
  for (const bool in_table_files : {false, true}) {
    fs::remove_all(data_);
    if (in_table_files) {
      MakeDatabaseInTableFiles();
    } else {
      MakeDatabase();
    }
    Save();
    const uint64_t last_sequence = last_sequence_;
    for (const ManifestDamage& damage : kManifestDamages) {
      SCOPED_TRACE(std::string(damage.what) +
                   (in_table_files ? ", data in table files" : ", data in the log"));
      last_sequence_ = last_sequence;
      damage.apply(data_ + "/rocksdb", Manifest());
      ExpectDataLoss(::testing::_);
      EXPECT_EQ(ExpectRecoversConsistent(), items_);
      if (HasFailure()) return;
      Restore();
    }
  }
}

// The newest version of an item is found by its age, not by the file that it is in: an overwritten item must
// not come back, and neither must a deleted one.
TEST_F(LastGoodTest, ANewManifestBringsNoOldItemsBack) {
  MakeDatabaseInTableFiles();
  {
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    for (int i = 1; i <= 10; ++i) {
      wire::WriteItemRequest remove;
      remove.set_table_name(kOrderTable);
      remove.set_key_or_item(Encode({{"pk", S("order-" + std::to_string(i))}, {"sk", S("#")}}));
      ASSERT_TRUE(Await<wire::WriteItemReply>([&](auto done) {
                    (*opened)->DeleteItem(remove, std::move(done));
                  }).ok());
    }
    for (int i = 11; i <= 20; ++i) ASSERT_TRUE(Put(**opened, i, 7).ok());
    last_sequence_ += 20;
    items_ -= 10;
  }
  ASSERT_TRUE(Database::Open(Options()).ok());
  Rows rows;
  {
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    rows = ReadOrders(**opened).rows;
  }
  fs::remove(Manifest());
  auto opened = Database::Open(Options(/*recover_last_good=*/true));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_TRUE(ReadOrders(**opened, (*opened)->GetStatus().change_sequence() + 1).rows == rows);
}

// The column families of a recovered store have the ids of a new one, by which a log knows them.
TEST_F(LastGoodTest, ALostManifestAfterALostTableFileCostsNothingMore) {
  MakeDatabaseInTableFiles();
  fs::remove(PathOf(FilesOf("global_entries").at(0)));
  EXPECT_EQ(ExpectRecoversConsistent(), items_);
  for (const bool manifest : {true, false, true}) {
    fs::remove(manifest ? Manifest() : PathOf(FilesOf("catalog").at(0)));
    auto opened = Database::Open(Options(/*recover_last_good=*/true));
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(CountReadable(**opened, /*missing_is_ok=*/false), items_);
    ExpectConsistent(**opened);
    // In the log only.
    ASSERT_TRUE(Put(**opened, ++items_).ok());
  }
}

TEST_F(LastGoodTest, AMissingColumnFamilyIsMadeAgain) {
  MakeDatabaseInTableFiles();
  Save();
  for (const char* family : {"global_entries", "stats", "changes", "requests"}) {
    SCOPED_TRACE(family);
    {
      rocksdb::Options options;
      std::vector<std::string> names;
      ASSERT_TRUE(rocksdb::DB::ListColumnFamilies(options, data_ + "/rocksdb", &names).ok());
      std::vector<rocksdb::ColumnFamilyDescriptor> families;
      for (const std::string& name : names) families.emplace_back(name, options);
      std::vector<rocksdb::ColumnFamilyHandle*> handles;
      rocksdb::DB* opened = nullptr;
      ASSERT_TRUE(rocksdb::DB::Open(options, data_ + "/rocksdb", families, &handles, &opened).ok());
      const std::unique_ptr<rocksdb::DB> database(opened);
      for (rocksdb::ColumnFamilyHandle* handle : handles) {
        if (handle->GetName() == family) {
          ASSERT_TRUE(database->DropColumnFamily(handle).ok());
        }
        database->DestroyColumnFamilyHandle(handle);
      }
    }
    ExpectDataLoss(::testing::HasSubstr(family));
    auto opened = Database::Open(Options(/*recover_last_good=*/true));
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(CountReadable(**opened, /*missing_is_ok=*/false), items_);
    ExpectConsistent(**opened);
    opened->reset();
    Restore();
  }
}

// ---- what the log tells ----

TEST_F(LastGoodTest, TellsWhatIsKeptAndWhatIsLost) {
  MakeLargeItemsInTableFiles(2);
  const std::string lost = FilesOf("items").at(0);
  const auto tells = [&](const std::string& text) { EXPECT_THAT(log_.str(), ::testing::HasSubstr(text)); };
  fs::remove(PathOf(lost));
  ASSERT_TRUE(Database::Open(Options(/*recover_last_good=*/true)).ok());
  tells("a table file is damaged file=" + lost + " family=items");
  tells("the files from before the recovery are kept path=" + data_ + "/quarantine-1 files=");
  // The change log is whole, but it says nothing about the lost file.
  tells("recovered_through=unknown first_missing=unknown durable_before=121");
  tells("derived data rebuilt table=Order items=60 items_before=120");
}

// ---- damaged blocks ----

TEST_F(LastGoodTest, ADamagedBlockOfItemsDoesNotStopTheRecovery) {
  MakeLargeItemsInTableFiles();
  const std::string items = FilesOf("items").at(0);
  Flip(PathOf(items), fs::file_size(PathOf(items)) / 2);
  fs::remove(PathOf(FilesOf("stats").at(0)));
  auto opened = Database::Open(Options(/*recover_last_good=*/true));
  ASSERT_TRUE(opened.ok()) << opened.status();
  const int readable = CountReadable(**opened, /*missing_is_ok=*/false);
  EXPECT_LT(readable, items_);
  EXPECT_GE(readable, items_ - 6);
  EXPECT_TRUE(Put(**opened, items_ + 1).ok());
}

// RocksDB takes over no file whose first or last block is damaged.
TEST_F(LastGoodTest, DamagedFirstAndLastBlocksCostOnlyTheirItems) {
  MakeLargeItemsInTableFiles(2);
  Save();
  for (const bool first : {true, false}) {
    for (const std::string& items : FilesOf("items")) {
      SCOPED_TRACE(items + (first ? " first" : " last"));
      fs::remove(PathOf(FilesOf("stats").at(0)));
      Flip(PathOf(items), first ? 40 : DataBytes(items) - 40);
      auto opened = Database::Open(Options(/*recover_last_good=*/true));
      ASSERT_TRUE(opened.ok()) << opened.status();
      const int readable = CountReadable(**opened, /*missing_is_ok=*/true);
      EXPECT_LT(readable, items_);
      EXPECT_GE(readable, items_ - 6);
      ExpectConsistent(**opened);
      opened->reset();
      Restore();
    }
  }
}

TEST_F(LastGoodTest, ADamagedBlockAndALostManifestCostOnlyTheBlock) {
  MakeLargeItemsInTableFiles();
  Save();
  const std::string items = FilesOf("items").at(0);
  const uint64_t size = fs::file_size(PathOf(items));
  for (const uint64_t at : {uint64_t{40}, size / 3, size / 2}) {
    SCOPED_TRACE(at);
    Flip(PathOf(items), at);
    fs::remove(Manifest());
    auto opened = Database::Open(Options(/*recover_last_good=*/true));
    ASSERT_TRUE(opened.ok()) << opened.status();
    const int readable = CountReadable(**opened, /*missing_is_ok=*/true);
    EXPECT_LT(readable, items_);
    EXPECT_GE(readable, items_ - 6);
    ExpectConsistent(**opened);
    opened->reset();
    Restore();
  }
}

// ---- what is no damage ----

// An I/O error says nothing about a file: the recovery ends, and the next start can try again.
TEST_F(LastGoodTest, AnIOErrorEndsTheRecoveryAndChangesNothing) {
  MakeDatabaseInTableFiles();
  Save();
  for (const bool with_manifest : {true, false}) {
    fs::remove(PathOf(FilesOf("stats").at(0)));
    if (!with_manifest) fs::remove(Manifest());
    const std::map<std::string, std::string> before = Contents(data_);
    for (const std::string& file : FilesOf("items")) {
      auto disk = std::make_shared<PowerLossFileSystem>(root_);
      disk->SetFreeSpace(200 << 20);
      disk->Inject({.operation = InjectedFault::Operation::kRead,
                    .matches = [&](const std::string& path) { return path.ends_with(file); },
                    .times = 1'000});
      DatabaseOptions options = Options(/*recover_last_good=*/true);
      options.file_system = disk;
      auto opened = Database::Open(options);
      ASSERT_FALSE(opened.ok());
      EXPECT_EQ(opened.status().code(), absl::StatusCode::kUnavailable) << opened.status();
      EXPECT_TRUE(Contents(data_) == before);
    }
    EXPECT_EQ(ExpectRecoversConsistent(), items_);
    Restore();
  }
}

TEST_F(LastGoodTest, AFullDiskCostsTheBallastOnly) {
  MakeDatabaseInTableFiles();
  fs::remove(PathOf(FilesOf("stats").at(0)));
  WriteFile(data_ + "/BALLAST", "32 MiB");
  auto disk = std::make_shared<PowerLossFileSystem>(root_);
  disk->SetFreeSpace(200 << 20);
  disk->Inject({.operation = InjectedFault::Operation::kAppend,
                .matches = [&](const std::string& path) { return path.starts_with(data_ + "/recovery/"); },
                .times = 1,
                .status = rocksdb::IOStatus::NoSpace("injected")});
  DatabaseOptions options = Options(/*recover_last_good=*/true);
  options.file_system = disk;
  auto opened = Database::Open(options);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_FALSE(fs::exists(data_ + "/BALLAST"));
  ExpectConsistent(**opened);
}

// A disk without hard links.
class DiskWithoutLinks : public QuickDisk {
 public:
  static const char* kClassName() { return "DiskWithoutLinks"; }
  const char* Name() const override { return kClassName(); }
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string&, const rocksdb::IOOptions&,
                             rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::IOError("operation not permitted", from);
  }
};

TEST_F(LastGoodTest, WithoutHardLinksFilesAreCopied) {
  MakeDatabaseInTableFiles();
  Save();
  for (const bool with_manifest : {true, false}) {
    fs::remove(PathOf(FilesOf("stats").at(0)));
    if (!with_manifest) fs::remove(Manifest());
    DatabaseOptions options = Options(/*recover_last_good=*/true);
    options.file_system = std::make_shared<DiskWithoutLinks>();
    {
      auto opened = Database::Open(options);
      ASSERT_TRUE(opened.ok()) << opened.status();
      ExpectConsistent(**opened);
      EXPECT_EQ(CountReadable(**opened, /*missing_is_ok=*/false), items_);
    }
    Restore();
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

// Whatever happens to one of the two, the tables stay.
TEST_F(CatalogCopyTest, EitherCatalogIsEnough) {
  MakeDatabaseInTableFiles();
  Save();
  const uint64_t last_sequence = last_sequence_;
  const std::string catalog = FilesOf("catalog").at(0);
  const std::string stats = FilesOf("stats").at(0);
  const auto damages = {
      std::function<void(const fs::path&)>([](const fs::path& path) { fs::remove(path); }),
      std::function<void(const fs::path&)>([](const fs::path& path) { Cut(path, fs::file_size(path) - 1); }),
      std::function<void(const fs::path&)>([](const fs::path& path) { Flip(path, 60); })};
  for (const bool of_copy : {false, true}) {
    for (const auto& damage : damages) {
      last_sequence_ = last_sequence;
      damage(of_copy ? fs::path(data_ + "/CATALOG") : PathOf(catalog));
      // Something else, so that there is a recovery.
      fs::remove(PathOf(stats));
      EXPECT_EQ(ExpectRecoversConsistent(), items_);
      if (HasFailure()) return;
      Restore();
    }
  }
}

// The catalog's newest file is there, and says how many ids were given out; an older one is lost.
TEST_F(CatalogCopyTest, AnOlderFileOfTheCatalogThatIsLostCostsNoTable) {
  MakeDatabaseInTableFiles();
  const std::string older = FilesOf("catalog").at(0);
  {
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    ASSERT_TRUE(Await<v1::CreateTableReply>([&](auto done) {
                  (*opened)->CreateTable(TableRequest("Other"), std::move(done));
                }).ok());
    last_sequence_ += 1;
  }
  ASSERT_TRUE(Database::Open(Options()).ok());  // Writes the log to table files.
  ASSERT_EQ(FilesOf("catalog").size(), 2u);
  fs::remove(PathOf(older));
  auto opened = Database::Open(Options(/*recover_last_good=*/true));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->GetStatus().table_count(), 2);
  EXPECT_EQ(CountReadable(**opened, /*missing_is_ok=*/false), items_);
}

// A deleted table must not come back from an older copy, nor must its deletion.
TEST_F(CatalogCopyTest, BringsNoDeletedTableBack) {
  MakeDatabase();
  const std::string before = ReadFile(data_ + "/CATALOG");
  {
    DatabaseOptions options = Options();
    options.reclaim_interval = std::chrono::hours(1);
    auto opened = Database::Open(options);
    ASSERT_TRUE(opened.ok()) << opened.status();
    v1::DeleteTableRequest request;
    request.set_table_name(kOrderTable);
    ASSERT_TRUE(Await<v1::DeleteTableReply>([&](auto done) {
                  (*opened)->DeleteTable(request, std::move(done));
                }).ok());
    last_sequence_ += 1;
  }
  const std::string after = ReadFile(data_ + "/CATALOG");
  Save();
  for (const std::string& copy : {before, after}) {
    WriteFile(data_ + "/CATALOG", copy);
    fs::remove(data_ + "/WATERMARK");
    auto opened = Database::Open(Options(/*recover_last_good=*/true));
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ((*opened)->GetStatus().table_count(), 0);
    opened->reset();
    Restore();
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
