// Write-ahead logs that were spare files of zeros before.
#include "storage/store/spare_log.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/env.h"
#include "tests/support/power_loss_file_system.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

using rocksdb::FileOptions;
using rocksdb::IOOptions;
using storage::SpareLogFileSystem;

constexpr uint64_t kAfterBytes = 4'096;

class SpareLog : public ::testing::Test {
 protected:
  SpareLog() { Open(); }

  void Open(std::shared_ptr<rocksdb::FileSystem> base = rocksdb::FileSystem::Default(), uint64_t floor = 0) {
    files_.reset();
    files_ = std::make_unique<SpareLogFileSystem>(
        std::move(base),
        storage::SpareLogOptions{
            .directory = directory_.path(), .after_bytes = kAfterBytes, .free_space_floor_bytes = floor});
  }
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }
  std::string SparePath() const { return Path(storage::kSpareLogFileName); }

  std::unique_ptr<rocksdb::FSWritableFile> Begin(const std::string& name, const std::string& bytes) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(files_->NewWritableFile(Path(name), FileOptions(), &file, nullptr).ok());
    EXPECT_TRUE(file->Append(bytes, IOOptions(), nullptr).ok());
    EXPECT_TRUE(file->Sync(IOOptions(), nullptr).ok());
    files_->Await();
    return file;
  }
  static void Close(std::unique_ptr<rocksdb::FSWritableFile> file) {
    EXPECT_TRUE(file->Close(IOOptions(), nullptr).ok());
  }
  std::string Contents(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  TemporaryDirectory directory_;
  std::unique_ptr<SpareLogFileSystem> files_;
};

TEST_F(SpareLog, IsMadeWhenALogGrowsAndBecomesTheNext) {
  auto first = Begin("1.log", std::string(kAfterBytes, 'a'));
  EXPECT_EQ(std::filesystem::file_size(SparePath()), 8 * kAfterBytes);
  auto second = Begin("2.log", "xyz");
  EXPECT_FALSE(std::filesystem::exists(SparePath()));
  EXPECT_EQ(files_->reused(), 1);
  EXPECT_EQ(Contents("2.log"), "xyz" + std::string(8 * kAfterBytes - 3, '\0'));
  Close(std::move(second));
  EXPECT_EQ(Contents("2.log"), "xyz");
  Close(std::move(first));
  EXPECT_EQ(Contents("1.log"), std::string(kAfterBytes, 'a'));
}

TEST_F(SpareLog, IsNotMadeForASmallLog) {
  Close(Begin("1.log", std::string(kAfterBytes - 1, 'a')));
  EXPECT_FALSE(std::filesystem::exists(SparePath()));
  Close(Begin("2.log", "xyz"));
  EXPECT_EQ(files_->reused(), 0);
}

TEST_F(SpareLog, IsAsLongAsTheLogBefore) {
  Close(Begin("1.log", std::string(5 * kAfterBytes + 7, 'a')));
  Close(Begin("2.log", std::string(kAfterBytes, 'b')));
  EXPECT_EQ(std::filesystem::file_size(SparePath()), 5 * kAfterBytes + 7);
  Close(Begin("3.log", std::string(100 * kAfterBytes, 'c')));
  EXPECT_EQ(Contents("3.log"), std::string(100 * kAfterBytes, 'c')) << "longer than its spare";
  Close(Begin("4.log", ""));
  Close(Begin("5.log", std::string(kAfterBytes, 'd')));
  EXPECT_EQ(std::filesystem::file_size(SparePath()), 16 * kAfterBytes);
}

TEST_F(SpareLog, ALogIsAsLongAsItsRecords) {
  auto first = Begin("1.log", std::string(kAfterBytes, 'a'));
  auto second = Begin("2.log", "xyz");
  uint64_t bytes = 0;
  ASSERT_TRUE(files_->GetFileSize(Path("2.log"), IOOptions(), &bytes, nullptr).ok());
  EXPECT_EQ(bytes, 3);
  std::vector<rocksdb::FileAttributes> listed;
  ASSERT_TRUE(files_->GetChildrenFileAttributes(directory_.path(), IOOptions(), &listed, nullptr).ok());
  for (const rocksdb::FileAttributes& file : listed) {
    if (file.name == "2.log") bytes = file.size_bytes + 100;
  }
  EXPECT_EQ(bytes, 103);
  Close(std::move(second));
  second.reset();
  ASSERT_TRUE(files_->GetFileSize(Path("2.log"), IOOptions(), &bytes, nullptr).ok());
  EXPECT_EQ(bytes, 3);
}

TEST_F(SpareLog, GoesWithTheFileSystemAndIsNotUsedWhenItWasLeft) {
  Close(Begin("1.log", std::string(kAfterBytes, 'a')));
  ASSERT_TRUE(std::filesystem::exists(SparePath()));
  files_.reset();
  EXPECT_FALSE(std::filesystem::exists(SparePath()));
  std::ofstream(SparePath()) << "old records, which must not follow those of a new log";
  Open();
  auto next = Begin("2.log", "xyz");
  EXPECT_EQ(files_->reused(), 0);
  EXPECT_EQ(Contents("2.log"), "xyz");
  Close(std::move(next));
  Close(Begin("3.log", std::string(kAfterBytes, 'b')));
  Close(Begin("4.log", "xyz"));
  EXPECT_EQ(files_->reused(), 1) << "made anew over the one that was left";
}

TEST_F(SpareLog, IsNotMadeWithoutSpaceAndTriedAgainForTheNextLog) {
  std::filesystem::create_directory(Path("disk"));
  auto disk = std::make_shared<PowerLossFileSystem>(directory_.path());
  Open(disk, 10 << 20);
  disk->SetFreeSpace((10 << 20) + 16 * kAfterBytes - 1);
  auto first = Begin("1.log", std::string(kAfterBytes, 'a'));
  EXPECT_FALSE(std::filesystem::exists(SparePath()));
  disk->SetFreeSpace(64 << 20);
  EXPECT_TRUE(first->Append("b", IOOptions(), nullptr).ok());
  files_->Await();
  EXPECT_FALSE(std::filesystem::exists(SparePath())) << "once for each log";
  Close(std::move(first));
  Close(Begin("2.log", std::string(kAfterBytes, 'c')));
  EXPECT_TRUE(std::filesystem::exists(SparePath()));
  files_.reset();
}

TEST_F(SpareLog, AFailureToMakeItIsNoFailureOfTheLog) {
  auto disk = std::make_shared<PowerLossFileSystem>(directory_.path());
  Open(disk);
  disk->Inject({.operation = InjectedFault::Operation::kSync, .matches = [](const std::string& path) {
                  return path.ends_with(storage::kSpareLogFileName);
                }});
  Close(Begin("1.log", std::string(kAfterBytes, 'a')));
  EXPECT_EQ(disk->faults_left(), 0);
  EXPECT_FALSE(std::filesystem::exists(SparePath()));
  Close(Begin("2.log", std::string(kAfterBytes, 'b')));
  disk->Inject({.operation = InjectedFault::Operation::kRename, .matches = {}});
  Close(Begin("3.log", "xyz"));
  EXPECT_EQ(disk->faults_left(), 0);
  EXPECT_EQ(Contents("3.log"), "xyz");
  files_.reset();
}

// Whether a log of the store ends in zeros.
bool EndsInZeros(const std::string& data_directory) {
  constexpr int kZeros = 100;
  for (const auto& entry : std::filesystem::directory_iterator(data_directory + "/rocksdb")) {
    if (entry.path().extension() != ".log") continue;
    std::ifstream file(entry.path(), std::ios::binary);  // RocksDB may have deleted it.
    std::string end(kZeros, 'x');
    if (!file.seekg(-kZeros, std::ios::end) || !file.read(end.data(), kZeros)) continue;
    if (end == std::string(kZeros, '\0')) return true;
  }
  return false;
}

TEST(SpareLogDatabase, DeletesASpareThatWasLeftAndNoFileOfOthers) {
  TemporaryDirectory directory;
  DatabaseOptions options = TestDatabase::DefaultOptions(directory.path() + "/data");
  const std::string spare = options.data_directory + "/" + storage::kSpareLogFileName;
  std::filesystem::create_directory(options.data_directory);
  std::ofstream(spare) << "of somebody else";
  EXPECT_EQ(storage::Database::Open(options).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(std::filesystem::exists(spare)) << "the directory is none of ours";
  std::filesystem::remove(spare);
  for (const bool durable : {true, false}) {
    options.durable = durable;
    TestDatabase database(options);
    database.Close();
    std::ofstream(spare) << "zeros";
    database.Reopen();
    EXPECT_FALSE(std::filesystem::exists(spare));
  }
}

TEST(SpareLogDatabase, OpensWithLogsThatEndInZeros) {
  TemporaryDirectory directory;
  const std::string root = directory.path() + "/root";
  std::filesystem::create_directory(root);
  int lost_ends = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    DatabaseOptions options = TestDatabase::DefaultOptions(root + "/" + std::to_string(seed));
    options.durable = true;
    options.memtable_bytes = 1 << 20;
    options.spare_log_after_bytes = 16 << 10;
    auto disk = std::make_shared<PowerLossFileSystem>(root);
    disk->SetFreeSpace(128 << 20);
    options.file_system = disk;
    int items = 0;
    {
      TestDatabase database(options);
      database.CreateTable(TableRequest("Plain", /*sorted=*/false));
      const int at_least = 100 * static_cast<int>(seed);
      for (; items < 20'000 && (items < at_least || !EndsInZeros(options.data_directory)); ++items) {
        ASSERT_TRUE(
            database.Put("Plain", {{"pk", S(std::to_string(items))}, {"text", S(std::string(2'000, 'x'))}})
                .ok());
      }
      ASSERT_TRUE(EndsInZeros(options.data_directory));
      disk->CutPowerAfter(0);
    }
    lost_ends += EndsInZeros(options.data_directory);
    disk->DropUnsynced(seed);
    disk.reset();
    options.file_system = nullptr;
    TestDatabase database(options);
    for (int i = 0; i < items; ++i) EXPECT_NE(database.Get("Plain", {{"pk", S(std::to_string(i))}}), "") << i;
    database.CheckIsClean();
  }
  EXPECT_GT(lost_ends, 0);
}

}  // namespace
}  // namespace itemdb::testing
