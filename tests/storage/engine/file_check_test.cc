// The file check notices table files that are not as they were written.
#include <fstream>

#include "tests/storage/engine/recovery_fixture.h"

namespace itemdb::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kLogLine = "the file check found damage";

class FileCheckTest : public RecoveryTest {
 protected:
  DatabaseOptions WithFileCheck() {
    DatabaseOptions options = Options();
    options.file_check_bytes_per_second = 1 << 30;
    options.check_interval = std::chrono::milliseconds(20);
    return options;
  }

  // A closed database whose items are in a table file.
  void MakeFlushedDatabase() {
    auto database = Database::Open(Options());
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(CreateTable(**database).ok());
    for (int i = 1; i <= kItems; ++i) ASSERT_TRUE(Put(**database, i, /*padding=*/100).ok());
    const Cancellation never;
    ASSERT_TRUE((*database)->FlushBeforeStop(std::chrono::minutes(1), never).ok());
  }

  // The status of the file check after two whole rounds that begin from now on.
  static v1::FileCheck AfterTwoRounds(Database& database) {
    const int64_t last = database.GetStatus().file_check().rounds() + 3;
    for (int i = 0; i < 6'000; ++i) {
      v1::FileCheck check = database.GetStatus().file_check();
      if (check.rounds() >= last) return check;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "no round came to its end";
    return {};
  }

  std::vector<fs::path> TableFiles() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(data_ + "/rocksdb")) {
      if (entry.path().extension() == ".sst") files.push_back(entry.path());
    }
    return files;
  }

  // The file never has another size, as it would for a moment if all of it were written.
  static void FlipInPlace(const fs::path& path, uint64_t offset) {
    const char flipped = static_cast<char>(ReadFile(path).at(offset) ^ 0x20);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(flipped);
  }

  int LogLines() const {
    int lines = 0;
    const std::string log = log_.str();
    for (size_t at = log.find(kLogLine); at != std::string::npos; at = log.find(kLogLine, at + 1)) ++lines;
    return lines;
  }
};

TEST_F(FileCheckTest, NoticesAByteThatChangedInAnyFileAndLogsItOnce) {
  MakeFlushedDatabase();
  auto database = Database::Open(WithFileCheck());
  ASSERT_TRUE(database.ok()) << database.status();
  EXPECT_THAT(AfterTwoRounds(**database).findings(), IsEmpty());
  ASSERT_GT(TableFiles().size(), 3u);
  int damaged = 0;
  for (const fs::path& file : TableFiles()) {
    SCOPED_TRACE(file);
    const std::string content = ReadFile(file);
    FlipInPlace(file, content.size() / 3);
    v1::FileCheck check = AfterTwoRounds(**database);
    EXPECT_THAT(check.findings(),
                ElementsAre(AllOf(HasSubstr(file.filename().string()), HasSubstr("column family"),
                                  HasSubstr("is not as it was written"))));
    EXPECT_EQ(check.finding_count(), 1);
    EXPECT_EQ(LogLines(), ++damaged);
    FlipInPlace(file, content.size() / 3);
    EXPECT_THAT(AfterTwoRounds(**database).findings(), IsEmpty());
  }
}

TEST_F(FileCheckTest, NoticesAFileThatWasCut) {
  MakeFlushedDatabase();
  auto database = Database::Open(WithFileCheck());
  ASSERT_TRUE(database.ok()) << database.status();
  const fs::path file = TableFiles().front();
  const std::string content = ReadFile(file);
  Cut(file, content.size() - 10);
  EXPECT_THAT(AfterTwoRounds(**database).findings(),
              ElementsAre(HasSubstr("has " + std::to_string(content.size() - 10) + " bytes instead of " +
                                    std::to_string(content.size()))));
}

// Two blocks in each other's place, or a changed byte between blocks, can be read without an error. So only
// the file check knows of them, and ListDamage must say so.
TEST_F(FileCheckTest, WhatItFindsIsListedAsDamage) {
  MakeFlushedDatabase();
  auto database = Database::Open(WithFileCheck());
  ASSERT_TRUE(database.ok()) << database.status();
  const auto list = [&] {
    return Await<v1::ListDamageReply>(
        [&](auto done) { (*database)->ListDamage(v1::ListDamageRequest(), std::move(done)); });
  };
  ASSERT_TRUE(list().ok());
  EXPECT_EQ(list()->files_size(), 0);
  const fs::path file = TableFiles().front();
  const size_t bytes = ReadFile(file).size();
  FlipInPlace(file, bytes / 3);
  AfterTwoRounds(**database);
  const auto damaged = list();
  ASSERT_TRUE(damaged.ok()) << damaged.status();
  ASSERT_EQ(damaged->files_size(), 1);
  EXPECT_EQ(damaged->files(0).name(), file.filename().string());
  EXPECT_NE(damaged->files(0).family(), "");
  EXPECT_EQ(damaged->files(0).met_by(), "check");
  EXPECT_EQ(damaged->files(0).size_bytes(), static_cast<int64_t>(bytes));
  EXPECT_THAT(damaged->files(0).error(), HasSubstr("is not as it was written"));
  // The time of the first finding stays.
  AfterTwoRounds(**database);
  EXPECT_EQ(list()->files(0).first_met_time_us(), damaged->files(0).first_met_time_us());
  FlipInPlace(file, bytes / 3);
  AfterTwoRounds(**database);
  EXPECT_EQ(list()->files_size(), 0) << "a round has found nothing";
}

// Compactions and deleted tables take files away while they are read.
TEST_F(FileCheckTest, FindsNothingWhileFilesComeAndGo) {
  DatabaseOptions options = WithFileCheck();
  options.reclaim_interval = std::chrono::milliseconds(1);
  auto database = Database::Open(std::move(options));
  ASSERT_TRUE(database.ok()) << database.status();
  const Cancellation never;
  constexpr int kRounds = 30;
  for (int round = 0; round < kRounds; ++round) {
    if (round % 10 == 0) {
      if (round > 0) {
        v1::DeleteTableRequest request;
        request.set_table_name(kOrderTable);
        ASSERT_TRUE(Await<v1::DeleteTableReply>([&](auto done) {
                      (*database)->DeleteTable(request, std::move(done));
                    }).ok());
      }
      ASSERT_TRUE(CreateTable(**database).ok());
    }
    for (int i = 1; i <= kItems; ++i) ASSERT_TRUE(Put(**database, i, /*padding=*/round).ok());
    ASSERT_TRUE((*database)->FlushBeforeStop(std::chrono::minutes(1), never).ok());
  }
  EXPECT_THAT(AfterTwoRounds(**database).findings(), IsEmpty());
  EXPECT_EQ(LogLines(), 0);
}

TEST_F(FileCheckTest, IsNotThereUnlessAskedFor) {
  MakeFlushedDatabase();
  auto database = Database::Open(Options());
  ASSERT_TRUE(database.ok()) << database.status();
  EXPECT_FALSE((*database)->GetStatus().has_file_check());
}

}  // namespace
}  // namespace itemdb::testing
