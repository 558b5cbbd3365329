// Work on a damaged directory without opening it (storage/offline.h): what a recovery would keep, and what
// salvage writes into another directory. The damaged directory stays as it is.
#include "storage/offline.h"

#include <filesystem>
#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/storage/engine/recovery_fixture.h"

namespace itemdb::testing {
namespace {

using storage::PlanRecovery;
using storage::RecoveryReport;
using storage::Salvage;

class OfflineTest : public DamagedFilesTest {
 protected:
  static constexpr int kFiles = 4;
  static constexpr int kItemsOfFile = 500;

  // Four files of items, each with keys from the whole range. Every tenth item of the first file is
  // overwritten in the last, and every tenth deleted there.
  void MakeOverlappingFiles() {
    last_sequence_ = 1;
    for (int file = 0; file < kFiles; ++file) {
      auto opened = Database::Open(Options());
      ASSERT_TRUE(opened.ok()) << opened.status();
      if (file == 0) {
        ASSERT_TRUE(CreateTable(**opened).ok());
      }
      for (int i = 0; i < kItemsOfFile; ++i) ASSERT_TRUE(Put(**opened, 1 + i * kFiles + file, 150).ok());
      last_sequence_ += kItemsOfFile;
      if (file == kFiles - 1) ChangeItemsOfFirstFile(**opened);
    }
    auto opened = Database::Open(Options());  // Writes the log to table files.
    ASSERT_TRUE(opened.ok()) << opened.status();
    rows_ = ReadOrders(**opened).rows;
    items_ = static_cast<int>(rows_.size());
    ASSERT_EQ(FilesOf("items").size(), size_t{kFiles});
  }

  void ChangeItemsOfFirstFile(Database& database) {
    for (int i = 0; i < kItemsOfFile; i += 10) {
      ASSERT_TRUE(Put(database, 1 + i * kFiles, 7).ok());
      wire::WriteItemRequest remove;
      remove.set_table_name(kOrderTable);
      remove.set_key_or_item(
          Encode({{"pk", S("order-" + std::to_string(1 + (i + 5) * kFiles))}, {"sk", S("#")}}));
      ASSERT_TRUE(
          Await<wire::WriteItemReply>([&](auto done) { database.DeleteItem(remove, std::move(done)); }).ok());
      last_sequence_ += 2;
    }
  }

  struct Damage {
    const char* what;
    std::function<void()> apply;
  };
  std::vector<Damage> Damages() {
    return {
        {"the file of the catalog is missing", [this] { fs::remove(PathOf(FilesOf("catalog").at(0))); }},
        {"a byte of a block of items is flipped",
         [this] { Flip(PathOf(FilesOf("items").at(1)), DataBytes(FilesOf("items").at(1)) / 2); }},
        {"a byte of the newest block of items is flipped",
         [this] { Flip(PathOf(FilesOf("items").back()), DataBytes(FilesOf("items").back()) / 2); }},
        {"the first byte of a file of items is flipped", [this] { Flip(PathOf(FilesOf("items").at(2)), 3); }},
        {"MANIFEST is missing", [this] { fs::remove(Manifest()); }},
        {"a file of items is missing", [this] { fs::remove(PathOf(FilesOf("items").at(1))); }},
    };
  }

  // Reads each item alone, after a recovery with losses in a copy: those of undamaged blocks are found.
  int CountIntact() {
    Rows found;
    DatabaseOptions options = Options(/*recover_last_good=*/true);
    options.data_directory = root_ + "/recovered";
    fs::remove_all(options.data_directory);
    fs::copy(data_, options.data_directory, fs::copy_options::recursive);
    auto opened = Database::Open(options);
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (!opened.ok()) return 0;
    int intact = 0;
    for (const auto& [key, row] : rows_) {
      wire::GetItemRequest request;
      request.set_table_name(kOrderTable);
      request.set_key(Encode({{"pk", S(key.first)}, {"sk", S(key.second)}}));
      auto got = Await<wire::GetItemReply>([&](auto done) { (*opened)->GetItem(request, std::move(done)); });
      intact += got.ok() && !got->item().empty() ? 1 : 0;
    }
    return intact;
  }

  // What is in the database that salvage has written.
  Rows SalvagedRows() {
    DatabaseOptions options = Options();
    options.data_directory = target_;
    auto opened = Database::Open(options);
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (!opened.ok()) return {};
    ExpectConsistent(**opened);
    return ReadOrders(**opened, (*opened)->GetStatus().change_sequence() + 1).rows;
  }

  // What the database had.
  Rows rows_;
  const std::string target_ = root_ + "/salvaged";
};

// The plan is what the recovery then does.
TEST_F(OfflineTest, PlanTellsWhatTheRecoveryKeepsAndChangesNothing) {
  MakeDatabaseInTableFiles();
  {
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    for (int i = 0; i < kItems; ++i) ASSERT_TRUE(Put(**opened, ++items_).ok());
    last_sequence_ += kItems;
  }
  Save();
  std::vector<Damage> damages = Damages();
  std::erase_if(damages, [](const Damage& damage) { return std::string(damage.what).ends_with("flipped"); });
  damages.push_back({"the log is cut", [this] { Cut(Logs(data_).back(), 2'000); }});
  damages.push_back({"WATERMARK is missing", [this] { fs::remove(data_ + "/WATERMARK"); }});
  damages.push_back({"a byte of CURRENT is flipped", [this] { Flip(data_ + "/rocksdb/CURRENT", 4); }});
  const uint64_t last_sequence = last_sequence_;
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.what);
    last_sequence_ = last_sequence;
    std::string items = FilesOf("items").at(0);
    if (std::string(damage.what) == "a file of items is missing") {
      fs::remove(PathOf(items));
    } else {
      damage.apply();
    }
    const std::map<std::string, std::string> before = Contents(data_);
    const auto plan = PlanRecovery(Options());
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_TRUE(Contents(data_) == before) << "the plan changed the directory";
    EXPECT_NE(plan->cause, "");
    ASSERT_EQ(plan->tables.size(), 1u);
    EXPECT_EQ(plan->tables[0].name, kOrderTable);
    EXPECT_EQ(plan->tables[0].readable_items, ExpectRecovers());
    if (HasFailure()) return;
    Restore();
  }
}

TEST_F(OfflineTest, PlanOfAnUndamagedDirectorySaysSo) {
  MakeDatabase();
  const std::map<std::string, std::string> before = Contents(data_);
  const auto plan = PlanRecovery(Options());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(Contents(data_) == before);
  EXPECT_EQ(plan->cause, "");
  EXPECT_EQ(plan->durable_sequence, last_sequence_);
  EXPECT_EQ(plan->readable_sequence, last_sequence_);
  ASSERT_EQ(plan->tables.size(), 1u);
  EXPECT_EQ(plan->tables[0].recorded_items, kItems);
  EXPECT_EQ(plan->tables[0].readable_items, kItems);
  EXPECT_THAT(plan->damaged_files, ::testing::IsEmpty());
}

TEST_F(OfflineTest, NamesDamagedFilesAndFamilies) {
  MakeDatabaseInTableFiles();
  const std::string items = FilesOf("items").at(0);
  fs::remove(PathOf(FilesOf("stats").at(0)));
  Flip(PathOf(items), fs::file_size(PathOf(items)) - 4);
  const auto plan = PlanRecovery(Options());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->damaged_files.size(), 2u);
  EXPECT_THAT(plan->unreadable_families, ::testing::ElementsAre("items", "stats"));
  EXPECT_EQ(plan->tables.at(0).recorded_items, std::nullopt);
  EXPECT_EQ(plan->readable_sequence, std::nullopt);
  const auto files = storage::InspectFiles(Options());
  ASSERT_TRUE(files.ok()) << files.status();
  for (const storage::FileReport& file : *files) {
    EXPECT_EQ(file.damage.empty(), file.name != items) << file.name;
    if (file.name.ends_with(".sst") && file.name != items) {
      EXPECT_EQ(file.family, FamilyOf(file.name));
    }
  }
}

TEST_F(OfflineTest, SalvageKeepsAtLeast99PercentOfTheIntactItems) {
  MakeOverlappingFiles();
  Save();
  for (const Damage& damage : Damages()) {
    SCOPED_TRACE(damage.what);
    damage.apply();
    const int intact = CountIntact();
    const std::map<std::string, std::string> before = Contents(data_);
    const auto report = Salvage(Options(), target_);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(Contents(data_) == before) << "salvage changed the directory";
    const Rows salvaged = SalvagedRows();
    EXPECT_GE(salvaged.size(), intact * 0.99);
    ASSERT_EQ(report->tables.size(), 1u);
    EXPECT_EQ(report->tables[0].readable_items, static_cast<int64_t>(salvaged.size()));
    std::cout << damage.what << ": " << rows_.size() << " items, " << intact << " intact, " << salvaged.size()
              << " salvaged\n";
    if (std::string(damage.what) != "a file of items is missing") {
      for (const auto& [key, row] : salvaged) {
        ASSERT_TRUE(rows_.contains(key)) << key.first << " was deleted, and is back";
        EXPECT_TRUE(rows_.at(key) == row) << key.first << " is an older version";
      }
    }
    if (HasFailure()) return;
    fs::remove_all(target_);
    Restore();
  }
}

TEST_F(OfflineTest, SalvageNeedsAnEmptyTargetOutsideOfTheDirectory) {
  MakeDatabase();
  const std::map<std::string, std::string> before = Contents(data_);
  fs::create_directory(target_);
  WriteFile(target_ + "/letter.txt", "Dear sir");
  for (const std::string& target :
       {target_, data_, data_ + "/salvaged", data_ + "/../data/rocksdb/salvaged"}) {
    const auto report = Salvage(Options(), target);
    EXPECT_EQ(report.status().code(), absl::StatusCode::kInvalidArgument) << target << report.status();
    EXPECT_THAT(MessageOf(report.status()), ::testing::HasSubstr(target));
  }
  EXPECT_TRUE(Contents(data_) == before);
}

TEST_F(OfflineTest, ADirectoryThatIsOpenIsRefused) {
  MakeDatabase();
  const auto opened = Database::Open(Options());
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(ReasonOf(PlanRecovery(Options()).status()), kReasonDataDirectoryInUse);
  EXPECT_EQ(ReasonOf(storage::InspectFiles(Options()).status()), kReasonDataDirectoryInUse);
  EXPECT_EQ(ReasonOf(Salvage(Options(), target_).status()), kReasonDataDirectoryInUse);
  EXPECT_FALSE(fs::exists(target_));
}

TEST_F(OfflineTest, ADirectoryWithoutADatabaseIsRefusedAndStaysEmpty) {
  fs::create_directory(data_);
  EXPECT_EQ(ReasonOf(PlanRecovery(Options()).status()), kReasonDataDirectoryForeign);
  EXPECT_TRUE(fs::is_empty(data_));
  fs::remove(data_);
  EXPECT_EQ(ReasonOf(PlanRecovery(Options()).status()), kReasonDataDirectoryForeign);
  EXPECT_FALSE(fs::exists(data_));
}

}  // namespace
}  // namespace itemdb::testing
