// Data directories that older programs wrote. The directory of format 2 (tests/storage/golden_v2) must stay
// openable and readable as long as the version is known; that of format 1 (tests/storage/golden_v1) is
// refused and not changed (invariant FormatKnown).
#include <filesystem>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/storage/engine/golden_contents.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/power_loss_file_system.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

namespace fs = std::filesystem;

class GoldenDirectoryTest : public ::testing::Test {
 protected:
  GoldenDirectoryTest() {
    fs::copy(SourcePath("tests/storage/golden_v2/data"), directory_.path() + "/data",
             fs::copy_options::recursive);
    // The source may be a read-only checkout.
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path())) {
      fs::permissions(entry.path(), fs::perms::owner_all, fs::perm_options::add);
    }
    auto disk = std::make_shared<PowerLossFileSystem>(directory_.path());
    disk->SetFreeSpace(200 << 20);  // Too little for a ballast.
    options_ = TestDatabase::DefaultOptions(directory_.path() + "/data");
    options_.file_system = disk;
  }

  static std::string ExpectedContents() {
    return ReadFile(SourcePath("tests/storage/golden_v2/contents.txt"));
  }

  TemporaryDirectory directory_;
  DatabaseOptions options_;
};

TEST_F(GoldenDirectoryTest, OfVersion2HoldsWhatItHeld) {
  TestDatabase database(options_);
  ASSERT_FALSE(HasFatalFailure());
  std::string expected = ExpectedContents();
  ASSERT_GT(expected.size(), 5'000u);
  EXPECT_EQ(DescribeContents(*database), expected);
  database.CheckIsClean();
  // The same again, from table files alone.
  database.Reopen();
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_EQ(DescribeContents(*database), expected);
}

TEST_F(GoldenDirectoryTest, OfVersion2IsWrittenOn) {
  TestDatabase database(options_);
  ASSERT_FALSE(HasFatalFailure());
  uint64_t last = database->GetStatus().change_sequence();
  auto put = database.Put("Order", {{"pk", S("order-new")},
                                    {"sk", S("#")},
                                    {"customer", S("customer-1")},
                                    {"date", S("2026-01-01")},
                                    {"status", S("OPEN")},
                                    {"shard", N("1")},
                                    {"total", N("3")}});
  ASSERT_TRUE(put.ok()) << put.status();
  EXPECT_EQ(put->change_sequence(), last + 1);
  EXPECT_TRUE(database.Delete("Order", {{"pk", S("order-0")}, {"sk", S("#")}}).ok());
  EXPECT_TRUE(database.Put("Types", {{"key", S("all")}, {"only", S("this")}}).ok());
  database.CreateTable(TableRequest("New"));
  EXPECT_TRUE(database.Put("New", {{"pk", S("p")}, {"sk", S("s")}}).ok());
  database.CheckIsClean();

  database.Reopen();
  ASSERT_FALSE(HasFatalFailure());
  database.CheckIsClean();
  EXPECT_EQ(database->GetStatus().change_sequence(), last + 5);
  EXPECT_EQ(database.Get("Types", {{"key", S("all")}}), "key=all only=this");
  EXPECT_EQ(database.Get("Order", {{"pk", S("order-0")}, {"sk", S("#")}}), "");
  EXPECT_EQ(database.Get("New", {{"pk", S("p")}, {"sk", S("s")}}), "pk=p sk=s");
  wire::PageRequest query;
  query.set_table_name("Order");
  query.set_index_name("OpenOrdersByDate");
  query.set_key_condition_expression("#s = :s AND #shard = :n");
  SetName(&query, "#s", "status");
  SetName(&query, "#shard", "shard");
  SetValue(&query, ":s", S("OPEN"));
  SetValue(&query, ":n", N("1"));
  auto page = database.Query(query);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(ShowItems(*page).back(), "date=2026-01-01 pk=order-new shard=1 sk=# status=OPEN total=3");
}

// All files of a data directory except the lock, by path, with their bytes.
std::map<std::string, std::string> Everything(const std::string& directory) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file() && entry.path().filename() != "LOCK")
      all[entry.path()] = ReadFile(entry.path());
  }
  return all;
}

TEST(GoldenDirectory, OfVersion1IsRefusedAndNotTouched) {
  TemporaryDirectory directory;
  const std::string data = directory.path() + "/data";
  fs::copy(SourcePath("tests/storage/golden_v1/data"), data, fs::copy_options::recursive);
  for (const bool has_watermark : {true, false}) {
    if (!has_watermark) fs::remove(data + "/WATERMARK");
    const std::map<std::string, std::string> before = Everything(data);
    for (const bool recover : {false, true}) {
      if (!has_watermark && !recover) continue;  // Refused for another reason.
      DatabaseOptions options = TestDatabase::DefaultOptions(data);
      options.recover_last_good = recover;
      const auto opened = Database::Open(options);
      ASSERT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition) << opened.status();
      EXPECT_EQ(ReasonOf(opened.status()), kReasonFormatUnknown);
      if (has_watermark) {
        EXPECT_THAT(
            std::string(opened.status().message()),
            ::testing::AllOf(::testing::HasSubstr("format version 1"), ::testing::HasSubstr("version 2")));
      }
      EXPECT_TRUE(Everything(data) == before);
    }
  }
}

}  // namespace
}  // namespace itemdb::testing
