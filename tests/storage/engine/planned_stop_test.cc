// What Database::FlushBeforeStop leaves for the next start.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

class PlannedStopTest : public ::testing::Test {
 protected:
  PlannedStopTest() {
    database_.CreateTable(TableRequest("Plain"));
    for (int i = 0; i < kItems; ++i)
      EXPECT_TRUE(
          database_.Put("Plain", {{"pk", S("p")}, {"sk", S(std::to_string(i))}, {"text", S(text_)}}).ok());
  }

  // Bytes of the write-ahead log's files, of which the next start replays what is not in table files.
  uintmax_t LogBytes() const {
    uintmax_t bytes = 0;
    for (const auto& file :
         std::filesystem::directory_iterator(database_.options().data_directory + "/rocksdb"))
      if (file.path().extension() == ".log") bytes += file.file_size();
    return bytes;
  }

  void ExpectAllItems() {
    for (int i = 0; i < kItems; ++i)
      EXPECT_NE(database_.Get("Plain", {{"pk", S("p")}, {"sk", S(std::to_string(i))}}), "") << i;
  }

  static constexpr int kItems = 50;
  static constexpr std::chrono::minutes kTimeout{1};
  const std::string text_ = std::string(2'000, 'x');
  TestDatabase database_;
};

TEST_F(PlannedStopTest, LeavesNoLogToReplay) {
  ASSERT_GT(LogBytes(), kItems * text_.size());
  EXPECT_TRUE(database_->FlushBeforeStop(kTimeout, Cancellation()).ok());
  // RocksDB deletes files that are no longer needed in its own thread, after the flush.
  for (int i = 0; i < 1'000 && LogBytes() >= text_.size(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_LT(LogBytes(), text_.size());
  database_.Reopen();
  ExpectAllItems();
  database_.CheckIsClean();
}

TEST_F(PlannedStopTest, GoesOnServingAfterTheFlush) {
  EXPECT_TRUE(database_->FlushBeforeStop(kTimeout, Cancellation()).ok());
  EXPECT_TRUE(database_.Put("Plain", {{"pk", S("p")}, {"sk", S("later")}}).ok());
  database_.Reopen();
  EXPECT_NE(database_.Get("Plain", {{"pk", S("p")}, {"sk", S("later")}}), "");
}

// A second signal, or a disk that takes too long.
TEST_F(PlannedStopTest, ACancelledFlushLosesNothing) {
  Cancellation cancelled;
  cancelled.Cancel();
  const absl::Status flushed = database_->FlushBeforeStop(kTimeout, cancelled);
  EXPECT_EQ(flushed.code(), absl::StatusCode::kCancelled) << flushed;
  database_.Reopen();
  ExpectAllItems();
  database_.CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
