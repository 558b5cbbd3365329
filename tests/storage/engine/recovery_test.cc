// Damaged and foreign data directories: what is refused, with which message; that refusing changes nothing;
// and what recover_last_good recovers. Invariants AckMeansDurable and FormatKnown.
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <map>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/engine/durability_watermark.h"
#include "storage/engine/synced_sequence.h"
#include "tests/storage/engine/order_workload.h"
#include "tests/support/await.h"
#include "tests/support/files.h"
#include "tests/support/power_loss_file_system.h"
#include "tests/support/repetitions.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_database.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace itemdb::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr int kItems = 40;

// Cuts a file to a size, or flips a byte of it.
void Cut(const fs::path& path, uint64_t size) { fs::resize_file(path, size); }
void Flip(const fs::path& path, uint64_t offset) {
  std::string content = ReadFile(path);
  content.at(offset) = static_cast<char>(content[offset] ^ 0x20);
  WriteFile(path, content);
}

// All files below `directory` except LOCK, which exists while a database is open.
std::map<std::string, std::string> Contents(const fs::path& directory) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.path().filename() == "LOCK") continue;
    contents[fs::relative(entry.path(), directory)] =
        entry.is_regular_file() ? ReadFile(entry.path()) : "(directory)";
  }
  return contents;
}

// RocksDB's non-empty write-ahead logs, oldest first.
std::vector<fs::path> Logs(const fs::path& data) {
  std::vector<fs::path> logs;
  for (const auto& entry : fs::directory_iterator(data / "rocksdb")) {
    if (entry.path().extension() == ".log" && entry.file_size() > 0) logs.push_back(entry.path());
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

// The real file system without syncs, because no test here cuts the power. Reports too little free space for
// a ballast, which would be 32 MiB in every copy.
class QuickDisk : public rocksdb::FileSystemWrapper {
 public:
  QuickDisk() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  static const char* kClassName() { return "QuickDisk"; }
  const char* Name() const override { return kClassName(); }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* dbg) override {
    rocksdb::IOStatus status = target()->NewWritableFile(path, options, result, dbg);
    if (status.ok()) *result = std::make_unique<File>(std::move(*result));
    return status;
  }
  rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* result,
                                 rocksdb::IODebugContext* dbg) override {
    rocksdb::IOStatus status = target()->NewDirectory(path, options, result, dbg);
    if (status.ok()) *result = std::make_unique<Directory>();
    return status;
  }
  rocksdb::IOStatus GetFreeSpace(const std::string&, const rocksdb::IOOptions&, uint64_t* bytes,
                                 rocksdb::IODebugContext*) override {
    *bytes = 200 << 20;
    return rocksdb::IOStatus::OK();
  }

 private:
  struct File : rocksdb::FSWritableFileOwnerWrapper {
    using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
    rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      return rocksdb::IOStatus::OK();
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      return rocksdb::IOStatus::OK();
    }
  };
  struct Directory : rocksdb::FSDirectory {
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      return rocksdb::IOStatus::OK();
    }
  };
};

class RecoveryTest : public ::testing::Test {
 protected:
  RecoveryTest() { fs::create_directory(root_); }

  DatabaseOptions Options(bool recover_last_good = false) {
    DatabaseOptions options = TestDatabase::DefaultOptions(data_);
    options.file_system = std::make_shared<QuickDisk>();
    options.recover_last_good = recover_last_good;
    return options;
  }

  static absl::StatusOr<wire::WriteItemReply> Put(Database& database, int number, size_t padding = 0,
                                                  const std::string& token = "") {
    wire::WriteItemRequest request;
    request.set_client_request_token(token);
    request.set_table_name(kOrderTable);
    request.set_key_or_item(Encode({{"pk", S("order-" + std::to_string(number))},
                                    {"sk", S("#")},
                                    {"customer", S("customer-" + std::to_string(number % 3))},
                                    {"date", S("2025-10-01")},
                                    {"rep", S("rep-1")},
                                    {"status", S("OPEN")},
                                    {"shard", N(std::to_string(number % 5))},
                                    {"total", N(std::to_string(number))},
                                    {"padding", S(std::string(padding, 'p'))}}));
    return Await<wire::WriteItemReply>([&](auto done) { database.PutItem(request, std::move(done)); });
  }

  // A closed database in data_: the table is change 1, order-1 is change 2, and so on; all in one log.
  void MakeDatabase() {
    auto database = Database::Open(Options());
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(CreateTable(**database).ok());
    for (int i = 1; i <= kItems; ++i) ASSERT_TRUE(Put(**database, i).ok());
    last_sequence_ = 1 + kItems;
    items_ = kItems;
    database->reset();
    ASSERT_EQ(Logs(data_).size(), 1u);
    ASSERT_EQ(ReadWatermarkFile().sequence, last_sequence_);
  }

  // The same with at least two logs.
  void MakeDatabaseWithTwoLogs() {
    DatabaseOptions options = Options();
    options.memtable_bytes = 1 << 20;
    auto database = Database::Open(options);
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(CreateTable(**database).ok());
    items_ = 0;
    while (Logs(data_).size() < 2) {
      ASSERT_LT(items_, 2'000) << "no new log was begun";
      ASSERT_TRUE(Put(**database, ++items_, 2'000).ok());
    }
    // The next sync records the closed log in the manifest.
    ASSERT_TRUE(Put(**database, ++items_).ok());
    last_sequence_ = 1 + items_;
    database->reset();
    ASSERT_GE(Logs(data_).size(), 2u);
  }

  // The same with two logs. The older log is needed for items but not for change records: these hold two
  // images of a large item, so their memtable is full first and is written to a table file alone.
  void MakeDatabaseWithChangeRecordsInTableFiles() {
    DatabaseOptions options = Options();
    options.memtable_bytes = 4 << 20;
    auto database = Database::Open(options);
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(CreateTable(**database).ok());
    int puts = 0;
    while (Logs(data_).size() < 2) {
      ASSERT_LT(puts, 2'000) << "no new log was begun";
      ASSERT_TRUE(Put(**database, 1 + puts % 5, 20'000 + puts).ok());
      ++puts;
    }
    ASSERT_TRUE(Put(**database, 6).ok());  // Records the closed log in the manifest.
    items_ = 6;
    last_sequence_ = 2 + puts;
    while (!HasTableFile()) std::this_thread::yield();
    database->reset();
    ASSERT_EQ(Logs(data_).size(), 2u);
  }
  bool HasTableFile() const {
    for (const auto& entry : fs::directory_iterator(data_ + "/rocksdb")) {
      if (entry.path().extension() == ".sst") return true;
    }
    return false;
  }

  static absl::StatusOr<v1::CreateTableReply> CreateTable(Database& database) {
    return Await<v1::CreateTableReply>(
        [&](auto done) { database.CreateTable(OrderTableRequest(), std::move(done)); });
  }

  // Returns when the DDL thread is idle, so that RocksDB's files no longer change.
  static void AwaitDefinitions(Database& database) {
    EXPECT_EQ(ReasonOf(CreateTable(database).status()), kReasonResourceInUse);
  }

  DurabilityWatermark ReadWatermarkFile() {
    auto watermark = ReadWatermark(rocksdb::Env::Default(), data_);
    EXPECT_TRUE(watermark.ok() && watermark->has_value());
    return watermark.ok() && watermark->has_value() ? **watermark : DurabilityWatermark();
  }

  // An ordinary opening is refused with `code`, `reason` and a matching message, and changes nothing.
  template <typename Matcher>
  void ExpectRefused(absl::StatusCode code, std::string_view reason, Matcher message,
                     bool recover_last_good = false) {
    std::map<std::string, std::string> before = Contents(data_);
    auto opened = Database::Open(Options(recover_last_good));
    ASSERT_FALSE(opened.ok()) << "a damaged directory was opened";
    EXPECT_EQ(opened.status().code(), code) << opened.status();
    EXPECT_EQ(ReasonOf(opened.status()), reason);
    EXPECT_THAT(MessageOf(opened.status()), AllOf(HasSubstr(data_), message));
    std::map<std::string, std::string> after = Contents(data_);
    EXPECT_TRUE(before == after) << "refusing changed the directory";
  }
  template <typename Matcher>
  void ExpectDataLoss(Matcher message) {
    ExpectRefused(absl::StatusCode::kDataLoss, kReasonDataLoss,
                  AllOf(message, HasSubstr("--recover=last-good")));
  }

  // recover_last_good opens the directory; change numbers continue above all used ones; later openings are
  // ordinary. Returns how many items are left.
  int ExpectRecovers() {
    int left = -1;
    {
      auto opened = Database::Open(Options(/*recover_last_good=*/true));
      EXPECT_TRUE(opened.ok()) << opened.status();
      if (!opened.ok()) return left;
      uint64_t start = (*opened)->GetStatus().change_sequence() + 1;
      EXPECT_GT(start, last_sequence_);
      left = static_cast<int>(ReadOrders(**opened, start).rows.size());
      ExpectTrimmed(**opened);
      auto put = Put(**opened, 100'000);
      EXPECT_TRUE(put.ok()) << put.status();
      EXPECT_EQ(put.ok() ? put->change_sequence() : 0, start);
      last_sequence_ = start;
    }
    auto opened = Database::Open(Options());
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (!opened.ok()) return left;
    StoredOrders stored = ReadOrders(**opened, last_sequence_);
    EXPECT_EQ(stored.last_sequence, last_sequence_);
    EXPECT_EQ(stored.rows.size(), static_cast<size_t>(left) + 1);
    EXPECT_TRUE(stored.rows.contains({"order-100000", "#"}));
    return left;
  }

  // Recovers, and returns whether the order table still exists.
  bool TableSurvives() {
    auto opened = Database::Open(Options(/*recover_last_good=*/true));
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() && (*opened)->GetStatus().table_count() == 1;
  }

  // Recovers a directory that has lost the order table's definition, and creates the table again.
  void ExpectNewTableIsEmpty() {
    auto opened = Database::Open(Options(/*recover_last_good=*/true));
    ASSERT_TRUE(opened.ok()) << opened.status();
    auto created = CreateTable(**opened);
    ASSERT_TRUE(created.ok()) << created.status();
    EXPECT_GT(created->change_sequence(), last_sequence_);
    for (int reopened = 0; reopened < 2; ++reopened) {
      StoredOrders stored = ReadOrders(**opened, created->change_sequence());
      EXPECT_TRUE(stored.has_table);
      EXPECT_EQ(stored.rows.size(), 0u);
      opened->reset();
      opened = Database::Open(Options());
      ASSERT_TRUE(opened.ok()) << opened.status();
    }
  }

  // A reader of changes that are gone must get an error.
  static void ExpectTrimmed(Database& database) {
    auto page = Await<v1::ReadChangesReply>([&](auto done) { database.ReadChanges({}, std::move(done)); });
    EXPECT_EQ(ReasonOf(page.status()), kReasonChangesTrimmed) << page.status();
  }

  // Save a copy of the directory, and restore it.
  void Save() {
    fs::remove_all(saved_);
    fs::copy(data_, saved_, fs::copy_options::recursive);
  }
  void Restore() {
    fs::remove_all(data_);
    fs::copy(saved_, data_, fs::copy_options::recursive);
  }

  TemporaryDirectory directory_;
  const std::string root_ = directory_.path() + "/disk";
  const std::string data_ = root_ + "/data";
  const std::string saved_ = directory_.path() + "/saved";
  uint64_t last_sequence_ = 0;
  int items_ = 0;
};

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
  // The table is lost with the log: nothing is left, and the database is consistent.
  EXPECT_FALSE(TableSurvives());
  ExpectNewTableIsEmpty();
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

// A start writes an empty batch into a new log before its MANIFEST says that the older log is not needed.
TEST_F(TornTailTest, PowerCutsWhileItIsDroppedLoseNothing) {
  bool completed = false;
  for (uint64_t operations = 0; !completed && !HasFailure(); ++operations) {
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
  MakeDatabase();
  {
    ASSERT_TRUE(Database::Open(Options()).ok());
  }  // Writes the replayed data to table files, one per family.
  Save();
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(data_ + "/rocksdb")) {
    if (entry.path().extension() == ".sst") files.push_back(entry.path().stem());
  }
  ASSERT_GT(files.size(), 5u);
  int all_left = 0, tables_lost = 0;
  for (const std::string& file : files) {
    SCOPED_TRACE(file + ".sst is missing");
    last_sequence_ = 1 + kItems;
    Restore();
    fs::remove(data_ + "/rocksdb/" + file + ".sst");
    ExpectDataLoss(HasSubstr(file));
    if (HasFailure()) return;
    bool has_table = TableSurvives();
    Restore();
    fs::remove(data_ + "/rocksdb/" + file + ".sst");
    if (has_table) {
      if (ExpectRecovers() == items_) ++all_left;
    } else {
      ++tables_lost;
      ExpectNewTableIsEmpty();  // Its old items exist, and must not appear in it.
    }
  }
  EXPECT_GT(all_left, 0) << "indexes, counters and change records can be done without";
  EXPECT_EQ(tables_lost, 1) << "the catalog cannot";
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
// or opens fully recovered; it never opens half recovered.
class InterruptedRecoveryTest : public RecoveryTest {
 protected:
  void InterruptEverywhere() {
    Save();
    const uint64_t last_sequence = last_sequence_;
    bool completed = false;
    int opened_after_interruption = 0;
    for (uint64_t operations = 0; !completed; operations += kStep) {
      ASSERT_LT(operations, 2'000u);
      SCOPED_TRACE("power cut after " + std::to_string(operations) + " operations");
      last_sequence_ = last_sequence;
      Restore();
      {
        auto disk = std::make_shared<PowerLossFileSystem>(root_);
        disk->SetFreeSpace(200 << 20);
        disk->CutPowerAfter(operations);
        DatabaseOptions options = Options(/*recover_last_good=*/true);
        options.file_system = disk;
        completed = Database::Open(options).ok();
        options.file_system.reset();
        disk->DropUnsynced(operations);
      }
      auto ordinary = Database::Open(Options());
      if (ordinary.ok()) {
        ++opened_after_interruption;
        uint64_t start = (*ordinary)->GetStatus().change_sequence() + 1;
        EXPECT_GT(start, last_sequence);
        StoredOrders stored = ReadOrders(**ordinary, start);
        EXPECT_LE(stored.rows.size(), static_cast<size_t>(items_));
        ExpectTrimmed(**ordinary);
      } else {
        EXPECT_EQ(ReasonOf(ordinary.status()), kReasonDataLoss) << ordinary.status();
        EXPECT_LE(ExpectRecovers(), items_);
      }
      if (HasFailure()) return;
    }
    EXPECT_GT(opened_after_interruption, 0);
  }

 private:
  // Disk operations between one interruption and the next.
  static constexpr uint64_t kStep = 7 * kSanitizerShare;
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
