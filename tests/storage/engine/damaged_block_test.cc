// Reading past damaged blocks of a table file.
#include "storage/store/damaged_block.h"

#include <memory>
#include <set>

#include "gtest/gtest.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

using storage::StepPastDamage;

constexpr int kRecords = 1'000;
// Ten records or so.
constexpr size_t kBlockBytes = 1'024;

std::string Key(int number) {
  const std::string digits = std::to_string(number);
  return "\x05order-" + std::string(6 - digits.size(), '0') + digits + std::string("\0\x01#", 3);
}

class DamagedBlockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.compression = rocksdb::kNoCompression;
    rocksdb::BlockBasedTableOptions table;
    table.block_size = kBlockBytes;
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
    ASSERT_TRUE(writer.Open(path_).ok());
    for (int i = 0; i < kRecords; ++i) ASSERT_TRUE(writer.Put(Key(i), std::string(100, 'v')).ok());
    ASSERT_TRUE(writer.Finish().ok());
    rocksdb::SstFileReader reader(options_);
    ASSERT_TRUE(reader.Open(path_).ok());
    data_bytes_ = reader.GetTableProperties()->data_size;
    whole_ = ReadFile(path_);
  }

  // Damages the block of a record, or the one next to it.
  void Damage(int number) {
    std::string content = ReadFile(path_);
    char& damaged = content.at(data_bytes_ * static_cast<size_t>(number) / kRecords);
    damaged = static_cast<char>(damaged ^ 0x20);
    WriteFile(path_, content);
  }

  struct Read {
    int records = 0;
    int damaged_ranges = 0;
  };
  Read ReadAll() {
    rocksdb::SstFileReader reader(options_);
    EXPECT_TRUE(reader.Open(path_).ok());
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    const auto make = [&] { return std::unique_ptr<rocksdb::Iterator>(reader.NewIterator(options)); };
    std::unique_ptr<rocksdb::Iterator> it = make();
    std::set<std::string> keys;
    std::string last;
    Read read;
    it->SeekToFirst();
    do {
      for (; it->Valid(); it->Next()) {
        last = it->key().ToString();
        EXPECT_TRUE(keys.insert(last).second) << "read twice";
      }
      if (it->status().ok()) break;
      ++read.damaged_ranges;
    } while (StepPastDamage(make, last, "\xff", &it));
    read.records = static_cast<int>(keys.size());
    return read;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/1.sst";
  rocksdb::Options options_;
  size_t data_bytes_ = 0;
  std::string whole_;
};

TEST_F(DamagedBlockTest, CostsOnlyItsRecords) {
  EXPECT_EQ(ReadAll().records, kRecords);
  EXPECT_EQ(ReadAll().damaged_ranges, 0);
  for (const int number : {0, 1, 100, 101, 399, 500, 777, 990, 999}) {
    SCOPED_TRACE(number);
    WriteFile(path_, whole_);
    Damage(number);
    const Read read = ReadAll();
    EXPECT_LT(read.records, kRecords);
    EXPECT_GE(read.records, kRecords - 10);
    EXPECT_EQ(read.damaged_ranges, 1);
  }
}

TEST_F(DamagedBlockTest, SeveralCostTheirRecords) {
  for (const int number : {50, 250, 600, 999}) Damage(number);
  const Read read = ReadAll();
  EXPECT_GE(read.records, kRecords - 40);
  EXPECT_EQ(read.damaged_ranges, 4);
}

}  // namespace
}  // namespace itemdb::testing
