// RecordSorter returns the records that were added, in order, with any amount of memory.
#include "storage/indexes/record_sorter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

using Records = std::vector<std::pair<std::string, std::string>>;

Records RandomRecords(int count, size_t max_value_bytes) {
  std::mt19937_64 random(static_cast<uint64_t>(count));
  Records records;
  for (int i = 0; i < count; ++i) {
    std::string key = i % 3 == 0 ? "" : "shared/";
    for (uint64_t j = random() % 12; j > 0; --j) key.push_back(static_cast<char>(random() % 4 * 85));
    records.emplace_back(std::move(key), std::string(random() % (max_value_bytes + 1), static_cast<char>(i)));
  }
  return records;
}

class RecordSorterFiles : public ::testing::Test {
 protected:
  TemporaryDirectory directory_;
};

class RecordSorterTest : public ::testing::TestWithParam<std::pair<int, size_t>> {
 protected:
  TemporaryDirectory directory_;
};

TEST_P(RecordSorterTest, SortsAndForgets) {
  const auto [count, memory_bytes] = GetParam();
  Records records = RandomRecords(count, 300);
  {
    storage::RecordSorter sorter(rocksdb::Env::Default(), directory_.path() + "/run-", memory_bytes);
    for (const auto& [key, value] : records) ASSERT_TRUE(sorter.Add(key, value).ok());
    EXPECT_EQ(sorter.size(), count);
    Records sorted;
    const absl::Status visited = sorter.ForEach([&sorted](std::string_view key, std::string_view value) {
      sorted.emplace_back(key, value);
      return absl::OkStatus();
    });
    ASSERT_TRUE(visited.ok()) << visited;
    EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end(),
                               [](const auto& a, const auto& b) { return a.first < b.first; }));
    std::sort(sorted.begin(), sorted.end());
    std::sort(records.begin(), records.end());
    EXPECT_TRUE(sorted == records);
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path())) << "files are left";
}

// Number of records and bytes of memory: all in memory; a few files; more files than are read at once, twice.
INSTANTIATE_TEST_SUITE_P(Memory, RecordSorterTest,
                         ::testing::Values(std::pair(0, size_t{1'000}), std::pair(1, size_t{1}),
                                           std::pair(500, size_t{1} << 20), std::pair(2'000, size_t{100'000}),
                                           std::pair(2'000, size_t{3'000}), std::pair(300, size_t{1})));

TEST_F(RecordSorterFiles, EndsWithTheFirstErrorOfAVisit) {
  storage::RecordSorter sorter(rocksdb::Env::Default(), directory_.path() + "/run-", 200);
  for (const auto& [key, value] : RandomRecords(50, 30)) ASSERT_TRUE(sorter.Add(key, value).ok());
  int visits = 0;
  const absl::Status visited = sorter.ForEach([&visits](std::string_view, std::string_view) {
    return ++visits < 7 ? absl::OkStatus() : absl::CancelledError();
  });
  EXPECT_TRUE(absl::IsCancelled(visited));
  EXPECT_EQ(visits, 7);
}

TEST_F(RecordSorterFiles, NoticesAFileThatWasCut) {
  storage::RecordSorter sorter(rocksdb::Env::Default(), directory_.path() + "/run-", 2'000);
  for (const auto& [key, value] : RandomRecords(50, 300)) ASSERT_TRUE(sorter.Add(key, value).ok());
  std::filesystem::resize_file(directory_.path() + "/run-0",
                               std::filesystem::file_size(directory_.path() + "/run-0") - 1);
  const absl::Status visited =
      sorter.ForEach([](std::string_view, std::string_view) { return absl::OkStatus(); });
  EXPECT_TRUE(absl::IsDataLoss(visited)) << visited;
}

TEST_F(RecordSorterFiles, AreGoneOnWithByAnotherSorter) {
  storage::SortedRuns noted;
  const auto note = [&noted](const storage::SortedRuns& runs) {
    noted = runs;
    return absl::OkStatus();
  };
  const std::string prefix = directory_.path() + "/run-";
  Records records = RandomRecords(200, 30);
  size_t added = 0;
  {
    storage::RecordSorter sorter(rocksdb::Env::Default(), prefix, 2'000, {}, note);
    // Records after the last note are lost, as in a crash.
    for (; noted.runs.size() < 3; ++added)
      ASSERT_TRUE(sorter.Add(records[added].first, records[added].second).ok());
    sorter.KeepFiles();
  }
  storage::RecordSorter sorter(rocksdb::Env::Default(), prefix, 2'000, noted, note);
  for (size_t i = static_cast<size_t>(noted.records); i < records.size(); ++i)
    ASSERT_TRUE(sorter.Add(records[i].first, records[i].second).ok());
  EXPECT_EQ(sorter.size(), 200);
  Records sorted;
  const absl::Status visited = sorter.ForEach([&sorted](std::string_view key, std::string_view value) {
    sorted.emplace_back(key, value);
    return absl::OkStatus();
  });
  ASSERT_TRUE(visited.ok()) << visited;
  std::sort(sorted.begin(), sorted.end());
  std::sort(records.begin(), records.end());
  EXPECT_TRUE(sorted == records);
}

// Also when files are merged because there are too many of them.
TEST_F(RecordSorterFiles, HoldWhatWasAddedWhenTheyAreToldOf) {
  int64_t added = 0;
  int told = 0;
  bool merged = false;
  const auto note = [&](const storage::SortedRuns& runs) {
    EXPECT_EQ(runs.records, added);
    merged = merged || (runs.runs.size() == 1 && added > 1);
    ++told;
    return absl::OkStatus();
  };
  storage::RecordSorter sorter(rocksdb::Env::Default(), directory_.path() + "/run-", 1, {}, note);
  for (const auto& [key, value] : RandomRecords(200, 30)) {
    ASSERT_TRUE(sorter.Add(key, value).ok());
    ++added;
  }
  EXPECT_EQ(told, 199);
  EXPECT_TRUE(merged);
}

TEST_F(RecordSorterFiles, NoticeEveryByteThatIsNotAsItWasWritten) {
  storage::SortedRuns noted;
  const auto note = [&noted](const storage::SortedRuns& runs) {
    noted = runs;
    return absl::OkStatus();
  };
  const std::string prefix = directory_.path() + "/run-";
  {
    storage::RecordSorter sorter(rocksdb::Env::Default(), prefix, 500, {}, note);
    for (const auto& [key, value] : RandomRecords(30, 20)) ASSERT_TRUE(sorter.Add(key, value).ok());
    sorter.KeepFiles();
  }
  ASSERT_FALSE(noted.runs.empty());
  const storage::SortedRuns::Run& run = noted.runs.front();
  const auto flip = [&run](uint64_t at) {
    std::fstream file(run.path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 0x41));
  };
  for (uint64_t at = 0; at < run.bytes; ++at) {
    flip(at);
    storage::RecordSorter sorter(rocksdb::Env::Default(), prefix, 500, noted, note);
    sorter.KeepFiles();
    const absl::Status visited =
        sorter.ForEach([](std::string_view, std::string_view) { return absl::OkStatus(); });
    ASSERT_TRUE(absl::IsDataLoss(visited)) << "byte " << at << ": " << visited;
    flip(at);
  }
}

}  // namespace
}  // namespace itemdb::testing
