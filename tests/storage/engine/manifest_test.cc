// A MANIFEST that is cut, or an older one: refused, and recovered without a loss.
#include "tests/storage/engine/recovery_fixture.h"
#include "tests/support/repetitions.h"

namespace itemdb::testing {
namespace {

using ::testing::HasSubstr;

class ManifestTest : public RecoveryTest {
 protected:
  // Several flushes, so that the MANIFEST has several records.
  void SetUp() override {
    {
      auto database = Database::Open(Options());
      ASSERT_TRUE(database.ok()) << database.status();
      ASSERT_TRUE(CreateTable(**database).ok());
      constexpr int kRounds = 5;
      for (int i = 1; i <= kItems; ++i) {
        ASSERT_TRUE(Put(**database, i).ok());
        if (i % (kItems / kRounds) != 0) continue;
        const Cancellation never;
        ASSERT_TRUE((*database)->FlushBeforeStop(std::chrono::minutes(1), never).ok());
      }
      items_ = kItems;
      last_sequence_ = 1 + kItems;
    }
    Save();
  }

  std::string ManifestPath() const {
    std::string name = ReadFile(data_ + "/rocksdb/CURRENT");
    name.resize(name.find('\n'));
    return data_ + "/rocksdb/" + name;
  }

  void ExpectRefusedAndRecovered(const std::string& manifest) {
    last_sequence_ = 1 + kItems;
    Restore();
    WriteFile(ManifestPath(), manifest);
    ExpectDataLoss(HasSubstr("MANIFEST"));
    EXPECT_EQ(ExpectRecovers(), items_);
  }
};

TEST_F(ManifestTest, CutAtTheEndOfARecordIsRefusedAndRecoveredWhole) {
  const std::string manifest = ReadFile(ManifestPath());
  const std::vector<uint64_t> ends = EndsOfRecords(manifest);
  ASSERT_GT(ends.size(), 5u);
  for (size_t i = 0; i < ends.size() && !HasFailure(); i += kHasSanitizer ? 6 : 2) {
    SCOPED_TRACE("MANIFEST of " + std::to_string(ends[i]) + " bytes");
    ExpectRefusedAndRecovered(manifest.substr(0, ends[i]));
  }
}

// RocksDB takes each of these for the end of the file, or of a block, and opens with the table files of an
// earlier moment: a type of recycled logs, a length beyond the end, zeros.
TEST_F(ManifestTest, WithADamagedHeaderIsRefusedAndRecoveredWhole) {
  const std::string manifest = ReadFile(ManifestPath());
  const std::vector<uint64_t> ends = EndsOfRecords(manifest);
  const uint64_t last = ends.back();
  const uint64_t middle = ends[ends.size() / 2];
  for (const uint64_t at : {middle, last}) {
    for (const std::string& header :
         {std::string("\x05"), std::string("\xff\x01"), std::string("\0\0\0", 3)}) {
      SCOPED_TRACE("a header of " + std::to_string(header.size()) + " changed bytes at " +
                   std::to_string(at));
      std::string damaged = manifest;
      damaged.replace(at + 7 - header.size(), header.size(), header);
      ASSERT_NE(damaged, manifest);
      ExpectRefusedAndRecovered(damaged);
      if (HasFailure()) return;
    }
  }
}

// A power cut leaves any bytes in place of a record that was not synced. RocksDB refuses a wrong checksum at
// the end of a MANIFEST as well.
TEST_F(ManifestTest, ThatIsTornBehindItsSyncedPartLosesNothing) {
  const std::string manifest = ReadFile(ManifestPath());
  const std::vector<uint64_t> ends = EndsOfRecords(manifest);
  const std::string record = manifest.substr(ends.back());
  std::string damaged_record = record;
  damaged_record.back() ^= 1;
  std::string recycled = record;
  recycled[6] = 5;
  // The first fragment of a record.
  const std::string fragment = std::string("\xa2\x45\x7f\x3a\x01\x00\x02", 7) + "x";
  for (const std::string& tail :
       {std::string(5'000, '\0'), std::string(3, '\xff'), std::string(5'000, '\xff'), damaged_record,
        recycled, damaged_record + record, std::string(40'000, '\x5a'), fragment + damaged_record}) {
    SCOPED_TRACE("a tail of " + std::to_string(tail.size()) + " bytes");
    Restore();
    WriteFile(ManifestPath(), manifest + tail);
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(ReadOrders(**opened).rows.size(), static_cast<size_t>(items_));
    ASSERT_TRUE(Put(**opened, items_ + 1).ok());
    opened->reset();
    auto again = Database::Open(Options());
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(ReadOrders(**again).rows.size(), static_cast<size_t>(items_) + 1);
  }
  EXPECT_THAT(log_.str(), HasSubstr("the MANIFEST ends in bytes that were never synced"));
}

// The mark says what was synced.
TEST_F(ManifestTest, WithADamagedByteInItsSyncedPartIsRefusedAndRecoveredWhole) {
  const std::string manifest = ReadFile(ManifestPath());
  const uint64_t last = EndsOfRecords(manifest).back();
  for (const uint64_t at : {last + 7, uint64_t{manifest.size() - 1}}) {
    SCOPED_TRACE("byte " + std::to_string(at) + " of " + std::to_string(manifest.size()));
    std::string damaged = manifest;
    damaged[at] ^= 1;
    ExpectRefusedAndRecovered(damaged);
  }
}

TEST_F(ManifestTest, OfAnEarlierMomentIsRefused) {
  const std::string older = ManifestPath();
  {
    auto database = Database::Open(Options());
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(Put(**database, kItems + 1).ok());
  }
  ASSERT_NE(ManifestPath(), older);
  fs::copy_file(saved_ + "/rocksdb/" + fs::path(older).filename().string(), older);
  WriteFile(data_ + "/rocksdb/CURRENT", fs::path(older).filename().string() + "\n");
  last_sequence_ = 2 + kItems;
  ExpectDataLoss(HasSubstr("CURRENT names MANIFEST"));
}

// After a recovery the MANIFEST has a low number again.
TEST_F(ManifestTest, OfARecoveredDatabaseIsTheOneThatCounts) {
  fs::remove(ManifestPath());
  EXPECT_EQ(ExpectRecovers(), items_);
  for (int i = 0; i < 2; ++i) {
    auto database = Database::Open(Options());
    ASSERT_TRUE(database.ok()) << database.status();
  }
}

TEST_F(ManifestTest, WithoutAMarkIsTakenAsItIs) {
  fs::remove(data_ + "/rocksdb/MANIFEST_SYNCED");
  EXPECT_TRUE(Database::Open(Options()).ok());
  EXPECT_TRUE(fs::exists(data_ + "/rocksdb/MANIFEST_SYNCED"));
}

}  // namespace
}  // namespace itemdb::testing
