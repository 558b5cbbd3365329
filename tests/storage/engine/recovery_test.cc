// Damaged and foreign data directories: what is refused, with which message; that refusing changes nothing;
// and what recover_last_good recovers. Invariants AckMeansDurable and FormatKnown.
#include <sys/stat.h>

#include <filesystem>
#include <functional>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/engine/synced_sequence.h"
#include "tests/storage/engine/recovery_fixture.h"
#include "tests/support/power_loss_file_system.h"
#include "tests/support/repetitions.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace itemdb::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// ---- the log ----

TEST_F(RecoveryTest, FlippedByteInTheLogIsRefusedWhereverItIs) {
  MakeDatabase();
  Save();
  const uint64_t size = fs::file_size(Logs(data_)[0]);
  for (uint64_t i = 0; i < 16; ++i) {
    uint64_t offset = i == 15 ? size - 1 : i * size / 15;
    SCOPED_TRACE("byte " + std::to_string(offset) + " of " + std::to_string(size));
    Flip(Logs(data_)[0], offset);
    ExpectDataLoss(HasSubstr(std::to_string(last_sequence_)));
    if (HasFailure()) return;
    if (i % 5 == 2) {
      int left = ExpectRecovers();
      EXPECT_LT(left, items_);
      EXPECT_GE(left, i == 12 ? items_ / 2 : 0);  // Data before the damage is kept.
    }
    last_sequence_ = 1 + kItems;
    Restore();
  }
}

// RocksDB looks at type and length of a record before it verifies the checksum.
TEST_F(RecoveryTest, ADamagedHeaderInTheLogIsRefusedWhateverItSays) {
  MakeDatabase();
  Save();
  const std::string log = ReadFile(Logs(data_)[0]);
  const std::vector<uint64_t> ends = EndsOfRecords(log);
  // The last bytes of a header: length and type, or the type alone.
  const std::vector<std::string> headers = {{'\0', '\0', '\0'},
                                            "\xff\xff\1",
                                            {'\0', '\0', '\1'},
                                            {'\0'},
                                            "\2",
                                            "\3",
                                            "\4",
                                            "\5",
                                            "\6",
                                            "\7",
                                            "\x08",
                                            "\x09",
                                            "\x0a",
                                            "\x0b",
                                            "\x82",
                                            "\x83",
                                            "\xff"};
  for (const uint64_t at : {ends[ends.size() / 3], ends.back()}) {
    for (size_t i = 0; i < headers.size(); i += kSanitizerShare) {
      const std::string& header = headers[i];
      SCOPED_TRACE("header " + absl::BytesToHexString(header) + " at byte " + std::to_string(at));
      std::string damaged = log;
      damaged.replace(at + 7 - header.size(), header.size(), header);
      if (damaged == log) continue;
      WriteFile(Logs(data_)[0], damaged);
      ExpectDataLoss(HasSubstr(std::to_string(last_sequence_)));
      const int left = ExpectRecovers();
      EXPECT_LT(left, items_);
      EXPECT_GE(left, at == ends.back() ? items_ - 1 : items_ / 4);
      if (HasFailure()) return;
      last_sequence_ = 1 + kItems;
      Restore();
    }
  }
}

TEST_F(RecoveryTest, CutLogIsRefused) {
  MakeDatabase();
  Save();
  const uint64_t size = fs::file_size(Logs(data_)[0]);
  for (uint64_t cut : {size / 3, size * 2 / 3, size - 200, size - 1}) {
    SCOPED_TRACE("cut to " + std::to_string(cut) + " of " + std::to_string(size));
    Cut(Logs(data_)[0], cut);
    ExpectDataLoss(AllOf(HasSubstr("change " + std::to_string(last_sequence_)), HasSubstr(".log")));
    if (HasFailure()) return;
    int left = ExpectRecovers();
    EXPECT_LT(left, items_);
    EXPECT_GE(left, cut == size - 1 ? items_ - 1 : 0);  // Data before the cut is kept.
    last_sequence_ = 1 + kItems;
    Restore();
  }
}

TEST_F(RecoveryTest, DeletedLogIsRefused) {
  MakeDatabase();
  fs::remove(Logs(data_)[0]);
  ExpectDataLoss(AnyOf(HasSubstr("change " + std::to_string(last_sequence_)), HasSubstr("log")));
  // The items are lost with the log. The table is in the copy of the catalog.
  EXPECT_EQ(ExpectRecovers(), 0);
}

TEST_F(RecoveryTest, CutOlderLogIsRefused) {
  MakeDatabaseWithTwoLogs();
  Save();
  const uint64_t last_sequence = last_sequence_;
  const uint64_t size = fs::file_size(Logs(data_)[0]);
  for (uint64_t cut : {size / 2, size - 1'000, size - 1}) {
    SCOPED_TRACE("cut to " + std::to_string(cut) + " of " + std::to_string(size));
    Cut(Logs(data_)[0], cut);
    ExpectDataLoss(AnyOf(HasSubstr("log"), HasSubstr("WAL")));
    if (HasFailure()) return;
    // The items may be in a table file by then, and the rest still in this log.
    EXPECT_LE(ExpectRecovers(), items_);
    last_sequence_ = last_sequence;
    Restore();
  }
  fs::remove(Logs(data_)[0]);
  ExpectDataLoss(AnyOf(HasSubstr("log"), HasSubstr("WAL")));
}

// All change records are there, to the last, and some items are missing: only the log's length shows that.
TEST_F(RecoveryTest, CutLogIsRefusedEvenWhenNoChangeRecordIsMissing) {
  MakeDatabaseWithChangeRecordsInTableFiles();
  Save();
  const uint64_t last_sequence = last_sequence_;
  const uint64_t size = fs::file_size(Logs(data_)[0]);
  for (uint64_t cut : {uint64_t{0}, size / 2, size - 1}) {
    SCOPED_TRACE("cut to " + std::to_string(cut) + " of " + std::to_string(size));
    Cut(data_ + "/rocksdb/" + Logs(data_)[0].filename().string(), cut);
    ExpectDataLoss(HasSubstr("WAL"));
    if (HasFailure()) return;
    if (cut > 0) {
      EXPECT_LE(ExpectRecovers(), items_);
    }
    last_sequence_ = last_sequence;
    Restore();
  }
  fs::remove(Logs(data_)[0]);
  ExpectDataLoss(HasSubstr("WAL"));
}

// There are older logs, and the newest is missing.
TEST_F(RecoveryTest, DeletedNewestLogIsRefused) {
  MakeDatabaseWithTwoLogs();
  fs::remove(Logs(data_).back());
  ExpectDataLoss(HasSubstr("change " + std::to_string(last_sequence_)));
  EXPECT_LT(ExpectRecovers(), items_);
}

// A process that dies while it appends to the log: no client was told that the write is there.
class TornTailTest : public RecoveryTest {
 protected:
  void SetUp() override {
    auto database = Database::Open(Options());
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(CreateTable(**database).ok());
    for (int i = 1; i <= kItems; ++i) ASSERT_TRUE(Put(**database, i).ok());
    acknowledged_bytes_ = fs::file_size(Logs(data_)[0]);
    ASSERT_TRUE(Put(**database, kItems + 1, 3'000).ok());
    log_ = ReadFile(Logs(data_)[0]);
    log_name_ = Logs(data_)[0].filename();
    // A copy of the directory in the middle of the last append: RocksDB's files no longer change.
    AwaitDefinitions(**database);
    watermark_ = ReadWatermarkFile();
    watermark_.sequence = 1 + kItems;
    fs::create_directory(saved_);
    fs::copy(data_ + "/rocksdb", saved_ + "/rocksdb", fs::copy_options::recursive);
  }

  // The directory with the first `size` bytes of the log.
  void RestoreWithLogOf(uint64_t size) {
    Restore();
    ASSERT_TRUE(WriteWatermark(rocksdb::Env::Default(), data_, watermark_).ok());
    fs::remove(data_ + "/SYNCED");
    SyncedSequence::Open(data_)->Store(watermark_.sequence);
    WriteFile(data_ + "/rocksdb/" + log_name_, log_.substr(0, size));
  }

  // Also writes the item whose append was interrupted.
  void ExpectOpensWithAllAcknowledged() {
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    StoredOrders stored = ReadOrders(**opened);
    EXPECT_EQ(stored.last_sequence, 1u + kItems);
    EXPECT_EQ(stored.rows.size(), static_cast<size_t>(kItems));
    auto next = Put(**opened, kItems + 1);
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_EQ(next->change_sequence(), 2u + kItems);
  }

  DurabilityWatermark watermark_;
  std::string log_;
  std::string log_name_;
  // The size of the log before the interrupted append.
  uint64_t acknowledged_bytes_ = 0;
};

TEST_F(TornTailTest, ThatWasNeverAcknowledgedIsDropped) {
  for (uint64_t size : {acknowledged_bytes_, acknowledged_bytes_ + 1, acknowledged_bytes_ + 7,
                        (acknowledged_bytes_ + log_.size()) / 2, log_.size() - 1}) {
    SCOPED_TRACE("log of " + std::to_string(size) + " bytes, acknowledged " +
                 std::to_string(acknowledged_bytes_));
    RestoreWithLogOf(size);
    ExpectOpensWithAllAcknowledged();
  }
}

// In the mode that skips damage RocksDB reads a record of a recycled log again and again.
TEST_F(TornTailTest, ThatLooksLikeARecycledLogIsDropped) {
  constexpr size_t kBlock = 32'768;
  for (const char type : {'\5', '\6', '\7', '\10'}) {
    SCOPED_TRACE("type " + std::to_string(type));
    RestoreWithLogOf(acknowledged_bytes_);
    std::string log = log_.substr(0, acknowledged_bytes_) + "no checksum";
    log.resize((log.size() / kBlock + 1) * kBlock, '\1');
    log += std::string("crc4\x0a\0", 6) + type + "another log";
    WriteFile(data_ + "/rocksdb/" + log_name_, log);
    ExpectOpensWithAllAcknowledged();
  }
}

// A start writes an empty batch into a new log before its MANIFEST says that the older log is not needed.
TEST_F(TornTailTest, PowerCutsWhileItIsDroppedLoseNothing) {
  // Disk operations between one cut and the next.
  constexpr uint64_t kStep = kSanitizerShare;
  bool completed = false;
  for (uint64_t operations = 0; !completed && !HasFailure(); operations += kStep) {
    ASSERT_LT(operations, 2'000u);
    SCOPED_TRACE("power cut after " + std::to_string(operations) + " operations");
    RestoreWithLogOf((acknowledged_bytes_ + log_.size()) / 2);
    auto disk = std::make_shared<PowerLossFileSystem>(root_);
    disk->SetFreeSpace(200 << 20);
    disk->CutPowerAfter(operations);
    DatabaseOptions options = Options();
    options.file_system = disk;
    completed = Database::Open(options).ok();
    options.file_system.reset();
    disk->DropUnsynced(operations);
    ExpectOpensWithAllAcknowledged();
  }
}

// WATERMARK may be a second old when the process is killed. SYNCED is not.
TEST_F(RecoveryTest, LossOfTheLastAcknowledgedWriteIsNoticedAfterAKill) {
  auto database = Database::Open(Options());
  ASSERT_TRUE(database.ok()) << database.status();
  ASSERT_TRUE(CreateTable(**database).ok());
  for (int i = 1; i <= kItems; ++i) ASSERT_TRUE(Put(**database, i).ok());
  const std::string log = ReadFile(Logs(data_)[0]);
  const std::string log_name = Logs(data_)[0].filename();
  AwaitDefinitions(**database);
  fs::create_directory(saved_);
  fs::copy(data_ + "/rocksdb", saved_ + "/rocksdb", fs::copy_options::recursive);
  DurabilityWatermark watermark = ReadWatermarkFile();
  watermark.sequence = 1;
  const std::string synced = ReadFile(data_ + "/SYNCED");
  database->reset();
  for (const std::string& damaged : {log.substr(0, log.size() - 1), log.substr(0, log.size() - 1) + '\xff'}) {
    Restore();
    ASSERT_TRUE(WriteWatermark(rocksdb::Env::Default(), data_, watermark).ok());
    WriteFile(data_ + "/SYNCED", synced);
    WriteFile(data_ + "/rocksdb/" + log_name, damaged);
    ExpectDataLoss(HasSubstr(""));
  }
  Restore();
  ASSERT_TRUE(WriteWatermark(rocksdb::Env::Default(), data_, watermark).ok());
  WriteFile(data_ + "/SYNCED", synced);
  EXPECT_TRUE(Database::Open(Options()).ok());
}

// A copy that is made while the database is open is what kill -9 leaves: nothing is lost.
TEST_F(RecoveryTest, KilledProcessLosesNothing) {
  auto database = Database::Open(Options());
  ASSERT_TRUE(database.ok()) << database.status();
  ASSERT_TRUE(CreateTable(**database).ok());
  for (int i = 1; i <= kItems; ++i) ASSERT_TRUE(Put(**database, i).ok());
  AwaitDefinitions(**database);
  DurabilityWatermark watermark = ReadWatermarkFile();
  fs::create_directory(saved_);
  fs::copy(data_ + "/rocksdb", saved_ + "/rocksdb", fs::copy_options::recursive);
  database->reset();
  Restore();
  ASSERT_TRUE(WriteWatermark(rocksdb::Env::Default(), data_, watermark).ok());
  auto opened = Database::Open(Options());
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(ReadOrders(**opened).rows.size(), static_cast<size_t>(kItems));
  // At once, not a second later: the process may be killed again before.
  EXPECT_EQ(ReadWatermarkFile().sequence, (*opened)->GetStatus().change_sequence());
}

// ---- the directory ----

TEST_F(RecoveryTest, DeletedStoreIsRefused) {
  MakeDatabase();
  fs::remove_all(data_ + "/rocksdb");
  auto message =
      AllOf(HasSubstr("/rocksdb"), HasSubstr(std::to_string(last_sequence_)), HasSubstr("restore a backup"));
  ExpectRefused(absl::StatusCode::kDataLoss, kReasonDataLoss, message);
  // There is nothing to recover.
  ExpectRefused(absl::StatusCode::kDataLoss, kReasonDataLoss, message, /*recover_last_good=*/true);
}

TEST_F(RecoveryTest, StoreReplacedByAnOlderCopyIsRefused) {
  MakeDatabase();
  Save();
  {
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    for (int i = 1; i <= 5; ++i) ASSERT_TRUE(Put(**opened, items_ + i).ok());
    last_sequence_ += 5;
  }
  fs::remove_all(data_ + "/rocksdb");
  fs::copy(saved_ + "/rocksdb", data_ + "/rocksdb", fs::copy_options::recursive);
  ExpectDataLoss(AllOf(HasSubstr("change " + std::to_string(last_sequence_ - 5)),
                       HasSubstr("change " + std::to_string(last_sequence_))));
  EXPECT_EQ(ExpectRecovers(), items_);
}

TEST_F(RecoveryTest, MissingTableFileIsRefused) {
  MakeDatabaseInTableFiles();
  Save();
  for (const std::string& file : TableFiles()) {
    SCOPED_TRACE(file + " is missing");
    fs::remove(data_ + "/rocksdb/" + file);
    ExpectDataLoss(HasSubstr(file.substr(0, file.find('.'))));
    if (HasFailure()) return;
    Restore();
  }
}

// A deletion is one commit: if the log loses it, the table is as before.
TEST_F(RecoveryTest, LostDeletionOfATableBringsItBackWhole) {
  MakeDatabase();
  {
    DatabaseOptions options = Options();
    options.reclaim_interval =
        std::chrono::hours(1);  // Reclaiming would make the deletion durable without the log.
    auto opened = Database::Open(options);
    ASSERT_TRUE(opened.ok()) << opened.status();
    ASSERT_TRUE(Put(**opened, items_ + 1).ok());
    v1::CreateTableRequest other = TableRequest("Other");
    AddIndex(&other, "ByDate", {"date:S"}, 1, v1::PROJECTION_TYPE_ALL);
    ASSERT_TRUE(
        Await<v1::CreateTableReply>([&](auto done) { (*opened)->CreateTable(other, std::move(done)); }).ok());
    wire::WriteItemRequest put;
    put.set_table_name("Other");
    put.set_key_or_item(Encode({{"pk", S("p")}, {"sk", S("s")}, {"date", S("today")}}));
    ASSERT_TRUE(
        Await<wire::WriteItemReply>([&](auto done) { (*opened)->PutItem(put, std::move(done)); }).ok());
    v1::DeleteTableRequest request;
    request.set_table_name("Other");
    ASSERT_TRUE(Await<v1::DeleteTableReply>([&](auto done) {
                  (*opened)->DeleteTable(request, std::move(done));
                }).ok());
    last_sequence_ += 4;
    items_ += 1;
  }
  ASSERT_EQ(Logs(data_).size(), 1u);
  Cut(Logs(data_)[0], fs::file_size(Logs(data_)[0]) - 1);
  ExpectDataLoss(HasSubstr("change " + std::to_string(last_sequence_)));
  EXPECT_EQ(ExpectRecovers(), items_);
  auto opened = Database::Open(Options());
  ASSERT_TRUE(opened.ok()) << opened.status();
  ASSERT_EQ((*opened)->GetStatus().table_count(), 2);
  EXPECT_EQ(StatusWithTables(**opened).tables(1).item_count(), 1);
}

// The writes of a token may be lost, so a repeated request must count as a new one.
TEST_F(RecoveryTest, WithLossesForgetsClientRequestTokens) {
  MakeDatabase();
  {
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    ASSERT_TRUE(Put(**opened, 500, 0, "token").ok());
    wire::WriteItemRequest remove;
    remove.set_table_name(kOrderTable);
    remove.set_key_or_item(Encode({{"pk", S("order-500")}, {"sk", S("#")}}));
    ASSERT_TRUE(
        Await<wire::WriteItemReply>([&](auto done) { (*opened)->DeleteItem(remove, std::move(done)); }).ok());
    ASSERT_TRUE(Put(**opened, 500, 0, "token").ok());  // Applied before, so not applied again.
    EXPECT_EQ((*opened)->GetStatus().change_sequence(), last_sequence_ + 2);
    ASSERT_TRUE(Put(**opened, ++items_).ok());
  }
  last_sequence_ += 3;
  Cut(Logs(data_)[0], fs::file_size(Logs(data_)[0]) - 1);
  EXPECT_EQ(ExpectRecovers(), items_ - 1);
  auto opened = Database::Open(Options());
  ASSERT_TRUE(opened.ok()) << opened.status();
  auto again = Put(**opened, 500, 0, "token");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->change_sequence(), last_sequence_ + 1);
  auto check =
      Await<v1::CheckDatabaseReply>([&](auto done) { (*opened)->CheckDatabase({}, std::move(done)); });
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(check->finding_count(), 0) << check->DebugString();
}

TEST_F(RecoveryTest, ForeignDirectoryIsRefused) {
  for (bool recover_last_good : {false, true}) {
    fs::remove_all(data_);
    fs::create_directories(data_ + "/photographs");
    WriteFile(data_ + "/photographs/1.jpeg", "not ours");
    ExpectRefused(absl::StatusCode::kFailedPrecondition, kReasonDataDirectoryForeign,
                  HasSubstr("photographs"), recover_last_good);
  }
}

TEST_F(RecoveryTest, EmptyAndMissingDirectoriesBecomeDatabases) {
  for (bool exists : {false, true}) {
    fs::remove_all(data_);
    if (exists) fs::create_directory(data_);
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ((*opened)->GetStatus().change_sequence(), 0u);
  }
}

TEST_F(RecoveryTest, SecondOpenIsRefusedAndTheFirstGoesOn) {
  auto first = Database::Open(Options());
  ASSERT_TRUE(first.ok()) << first.status();
  for (bool recover_last_good : {false, true}) {
    auto second = Database::Open(Options(recover_last_good));
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition) << second.status();
    EXPECT_EQ(ReasonOf(second.status()), kReasonDataDirectoryInUse);
    EXPECT_THAT(MessageOf(second.status()), AllOf(HasSubstr(data_), HasSubstr("in use")));
  }
  ASSERT_TRUE(CreateTable(**first).ok());
  EXPECT_TRUE(Put(**first, 1).ok());
  first->reset();
  EXPECT_TRUE(Database::Open(Options()).ok());
}

// ---- the watermark ----

TEST_F(RecoveryTest, UnknownFormatIsRefusedWhateverIsAsked) {  // FormatKnown
  MakeDatabase();
  struct Case {
    std::string format;
    // Format 2.1 was used by development versions, in a file with another name.
    std::string file;
    std::string named;
  };
  for (const Case& unknown :
       {Case{"3.0", "WATERMARK", "version 3;"}, Case{"2.99", "WATERMARK", "version 2.99;"},
        Case{"2", "WITNESS", "version 2.1;"}}) {
    SCOPED_TRACE(unknown.format);
    std::string text = "itemdb database\nformat " + unknown.format + "\nwhat else it says we cannot know\n";
    char checksum[32];
    std::snprintf(checksum, sizeof(checksum), "checksum %016llx\n",
                  static_cast<unsigned long long>(XXH3_64bits(text.data(), text.size())));
    std::filesystem::remove(data_ + "/WATERMARK");
    WriteFile(data_ + "/" + unknown.file, text + checksum);
    for (bool recover_last_good : {false, true}) {
      ExpectRefused(absl::StatusCode::kFailedPrecondition, kReasonFormatUnknown,
                    AllOf(HasSubstr(unknown.named), HasSubstr("knows version 2.")), recover_last_good);
    }
  }
}

TEST_F(RecoveryTest, MissingWatermarkIsRefused) {
  MakeDatabase();
  fs::remove(data_ + "/WATERMARK");
  ExpectDataLoss(HasSubstr("WATERMARK"));
  EXPECT_EQ(ExpectRecovers(), items_);
}

TEST_F(RecoveryTest, DamagedWatermarkIsRefused) {
  MakeDatabase();
  Save();
  const std::string whole = ReadFile(data_ + "/WATERMARK");
  const uint64_t last_sequence = last_sequence_;
  for (size_t i = 0; i < whole.size(); i += 7) {
    SCOPED_TRACE("byte " + std::to_string(i));
    Flip(data_ + "/WATERMARK", i);
    ExpectDataLoss(HasSubstr("WATERMARK"));
    WriteFile(data_ + "/WATERMARK", whole.substr(0, i));
    ExpectDataLoss(HasSubstr("WATERMARK"));
    if (HasFailure()) return;
    WriteFile(data_ + "/WATERMARK", whole);
  }
  for (const std::string& content :
       {std::string(), std::string(1'000'000, 'x'), whole + whole, std::string(200, '\0')}) {
    WriteFile(data_ + "/WATERMARK", content);
    ExpectDataLoss(HasSubstr("WATERMARK"));
    EXPECT_EQ(ExpectRecovers(), items_);
    last_sequence_ = last_sequence;
    Restore();
  }
}

// A power cut leaves the file that was to replace the watermark.
TEST_F(RecoveryTest, HalfWrittenNextWatermarkDoesNotMatter) {
  MakeDatabase();
  WriteFile(data_ + "/WATERMARK.next", "itemdb data");
  auto opened = Database::Open(Options());
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(ReadOrders(**opened).rows.size(), static_cast<size_t>(items_));
}

// ---- a recovery that is interrupted ----

// The power fails at many moments of a recovery with losses. Afterwards the directory is refused as before,
// or opens fully recovered; it never opens half recovered. Each file from before is in the store or in the
// quarantine.
class InterruptedRecoveryTest : public RecoveryTest {
 protected:
  void InterruptEverywhere() {
    Begin();
    const uint64_t all_operations = CountOperations();
    int opened_after_interruption = 0;
    for (uint64_t cut = 0; cut <= kCuts; ++cut) {
      const uint64_t operations = all_operations * cut / kCuts;
      SCOPED_TRACE("power cut after " + std::to_string(operations) + " operations");
      Restore();
      const bool completed = RecoverUntil(operations);
      ExpectNothingIsGone();
      // The next recovery is interrupted too.
      if (!completed && cut % 2 == 0) RecoverUntil(operations / 3);
      opened_after_interruption += ExpectRefusedOrRecovered() ? 1 : 0;
      if (HasFailure()) return;
    }
    EXPECT_GT(opened_after_interruption, 0);
  }

  void Begin() {
    Save();
    files_ = StoreFiles(data_ + "/rocksdb");
  }

  // Recovers on `disk`, which fails then. Whether the database opened.
  bool RecoverOn(std::shared_ptr<PowerLossFileSystem> disk, uint64_t seed) {
    disk->SetFreeSpace(200 << 20);
    DatabaseOptions options = Options(/*recover_last_good=*/true);
    options.file_system = disk;
    const bool opened = Database::Open(options).ok();
    options.file_system.reset();
    disk->DropUnsynced(seed);
    return opened;
  }

  void ExpectNothingIsGone() {
    if (StoreFiles(data_ + "/rocksdb") == files_) return;
    bool is_kept = false;
    for (int i = 1; i <= LastQuarantine(); ++i)
      is_kept |= StoreFiles(QuarantinePath(i) + "/rocksdb") == files_;
    EXPECT_TRUE(is_kept) << "the files from before are gone";
  }

  // Returns whether an ordinary opening succeeds.
  bool ExpectRefusedOrRecovered() {
    ExpectNothingIsGone();
    auto opened = Database::Open(Options());
    const bool is_recovered = opened.ok();
    if (!is_recovered) {
      EXPECT_EQ(ReasonOf(opened.status()), kReasonDataLoss) << opened.status();
      opened = Database::Open(Options(/*recover_last_good=*/true));
      EXPECT_TRUE(opened.ok()) << opened.status();
      if (!opened.ok()) return false;
    }
    uint64_t start = (*opened)->GetStatus().change_sequence() + 1;
    EXPECT_GT(start, last_sequence_);
    EXPECT_LE(ReadOrders(**opened, start).rows.size(), static_cast<size_t>(items_));
    ExpectTrimmed(**opened);
    opened->reset();
    EXPECT_FALSE(fs::exists(data_ + "/recovery"));
    ExpectNothingIsGone();
    return is_recovered;
  }

 private:
  bool RecoverUntil(uint64_t operations) {
    auto disk = std::make_shared<PowerLossFileSystem>(root_);
    disk->CutPowerAfter(operations);
    return RecoverOn(disk, operations);
  }

  // The disk operations of a recovery that is not interrupted.
  uint64_t CountOperations() {
    auto disk = std::make_shared<PowerLossFileSystem>(root_);
    EXPECT_TRUE(RecoverOn(disk, 0));
    return disk->operations();
  }

  // Interruptions, evenly spread over the operations.
  static constexpr uint64_t kCuts = 8 / kSanitizerShare;

  // The store before the recovery.
  std::map<std::string, std::string> files_;
};

TEST_F(InterruptedRecoveryTest, OfACutLogIsRepeatedOrComplete) {
  MakeDatabaseWithTwoLogs();
  Cut(Logs(data_)[0], fs::file_size(Logs(data_)[0]) / 2);
  InterruptEverywhere();
}

TEST_F(InterruptedRecoveryTest, OfAStoreThatLacksNoChangeRecordIsRepeatedOrComplete) {
  MakeDatabaseWithChangeRecordsInTableFiles();
  Cut(Logs(data_)[0], fs::file_size(Logs(data_)[0]) / 2);
  InterruptEverywhere();
}

TEST_F(InterruptedRecoveryTest, OfALostManifestIsRepeatedOrComplete) {
  MakeDatabaseInTableFiles();
  for (const auto& entry : fs::directory_iterator(data_ + "/rocksdb"))
    if (entry.path().filename().string().starts_with("MANIFEST")) fs::remove(entry.path());
  InterruptEverywhere();
}

// Each step of the exchange of the two stores fails, and then the power.
TEST_F(InterruptedRecoveryTest, WhileTheNewStoreTakesThePlaceOfTheOldIsFinished) {
  using Operation = InjectedFault::Operation;
  MakeDatabase();
  Cut(Logs(data_)[0], fs::file_size(Logs(data_)[0]) / 2);
  Begin();
  struct Step {
    const char* what;
    Operation operation;
    std::string path;
    // Which of the operations of this kind on this path.
    int number = 1;
    // Whether the recovery is only finished then, not begun again.
    bool is_finished = true;
  };
  const Step steps[] = {
      {"the copy of WATERMARK", Operation::kCreateFile, data_ + "/quarantine-1/WATERMARK", 1, false},
      {"recovering", Operation::kRename, data_ + "/WATERMARK", 1, false},
      {"the entry of WATERMARK", Operation::kSyncDirectory, data_, 2, false},
      {"the old store", Operation::kRename, data_ + "/quarantine-1/rocksdb"},
      {"the entry of the old store", Operation::kSyncDirectory, data_ + "/quarantine-1", 2},
      {"the new store", Operation::kRename, data_ + "/rocksdb"},
      {"the entry of the new store", Operation::kSyncDirectory, data_ + "/recovery", 2},
      {"the new watermark", Operation::kRename, data_ + "/WATERMARK", 2},
      {"the entry of the new watermark", Operation::kSyncDirectory, data_ + "/recovery", 3},
  };
  for (const Step& step : steps) {
    for (uint64_t seed = 0; seed < 2; ++seed) {
      SCOPED_TRACE(std::string(step.what) + ", seed " + std::to_string(seed));
      Restore();
      auto disk = std::make_shared<PowerLossFileSystem>(root_);
      int seen = 0;
      disk->Inject({.operation = step.operation, .matches = [&](const std::string& path) {
                      return path == step.path && ++seen == step.number;
                    }});
      EXPECT_FALSE(RecoverOn(disk, seed));
      EXPECT_EQ(disk->faults_left(), 0) << "the step was not reached";
      const int quarantines = LastQuarantine();
      ExpectRefusedOrRecovered();
      if (step.is_finished) {
        EXPECT_LE(LastQuarantine(), std::max(quarantines, 1));
      }
      if (HasFailure()) return;
    }
  }
}

// The ballast gives space back when the disk is full; a sparse file would not.
TEST(Ballast, SetsBlocksAside) {
  TestDatabase database;
  const std::string path = database.options().data_directory + "/BALLAST";
  constexpr int64_t kBallast = 32 << 20;
  struct stat file = {};
  // Created after the database is open.
  EXPECT_TRUE(Await([&] { return stat(path.c_str(), &file) == 0 && file.st_size == kBallast; }));
  EXPECT_GE(int64_t{file.st_blocks} * 512, kBallast);
}

}  // namespace
}  // namespace itemdb::testing
