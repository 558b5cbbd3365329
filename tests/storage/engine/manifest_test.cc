// A MANIFEST that is cut, or an older one: refused, and recovered without a loss.
#include "tests/storage/engine/recovery_fixture.h"

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

  // The ends of its records but the last one. The file has RocksDB's log format: blocks of 32 KiB, records
  // with a header of 7 bytes (checksum, length, type).
  static std::vector<uint64_t> EndsOfRecords(const std::string& manifest) {
    constexpr size_t kHeader = 7;
    std::vector<uint64_t> ends;
    for (size_t at = 0; at + kHeader <= manifest.size();) {
      const auto byte = [&](size_t i) {
        return static_cast<size_t>(static_cast<unsigned char>(manifest[at + i]));
      };
      at += kHeader + byte(4) + (byte(5) << 8);
      ends.push_back(at);
    }
    ends.pop_back();
    return ends;
  }
};

TEST_F(ManifestTest, CutAtTheEndOfAnyRecordIsRefusedAndRecoveredWhole) {
  const std::vector<uint64_t> ends = EndsOfRecords(ReadFile(ManifestPath()));
  ASSERT_GT(ends.size(), 5u);
  for (const uint64_t end : ends) {
    SCOPED_TRACE("MANIFEST of " + std::to_string(end) + " bytes");
    last_sequence_ = 1 + kItems;
    Restore();
    Cut(ManifestPath(), end);
    ExpectDataLoss(HasSubstr("MANIFEST"));
    EXPECT_EQ(ExpectRecovers(), items_);
    if (HasFailure()) return;
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
