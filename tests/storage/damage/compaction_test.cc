// A compaction that meets an unreadable block: writes and other reads go on.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/storage/engine/recovery_fixture.h"
#include "tests/support/power_loss_file_system.h"
#include "tests/support/repetitions.h"

namespace itemdb::testing {
namespace {

using ::testing::HasSubstr;

size_t CountOf(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// Whether the calling thread has a name that begins with `name`.
bool OnThread(std::string_view name) {
  char own[32] = "";
  ::pthread_getname_np(::pthread_self(), own, sizeof(own));
  return std::string_view(own).starts_with(name);
}

// Compactions cannot read the file.
InjectedFault Unreadable(const std::string& path) {
  return {
      .operation = InjectedFault::Operation::kRead,
      .matches = [path](const std::string& read) { return read == path && OnThread("rocksdb:"); },
      .times = 1'000'000,
      .status = rocksdb::IOStatus::IOError("While pread offset 4096 len 100: " + path, "Input/output error")};
}

class DamageInCompaction : public DamagedFilesTest {
 protected:
  // Memtables are written after about a MiB, so that a few thousand items are a compaction.
  DatabaseOptions SmallMemtables() {
    DatabaseOptions options = Options();
    options.memtable_bytes = 4 << 20;
    return options;
  }

  // Writes until a compaction has met the damage, and `more` MiB after that. All writes must succeed.
  void WriteUntilCompacted(Database& database, int more) {
    int written = 0;
    for (int i = 0; written < more; ++i) {
      ASSERT_LT(i, 60'000) << "nothing was compacted";
      // Between the keys of the first items.
      const auto put = Put(database, 100'000 + i, 3'000);
      ASSERT_TRUE(put.ok()) << put.status() << " after " << i;
      if (i % 400 == 399 && log_.str().find(kPauseLine) != std::string::npos) ++written;
    }
  }

  static constexpr char kDamageLine[] = "damage: a block of a table file cannot be read";
  static constexpr char kPauseLine[] = "compactions of a column family met damage";
};

TEST_F(DamageInCompaction, OfABlockStopsNoWriteAndCostsOnlyTheItemsInIt) {
  MakeLargeItemsInTableFiles();
  const std::vector<std::string> files = FilesOf("items");
  ASSERT_EQ(files.size(), 1u);
  Flip(PathOf(files[0]), DataBytes(files[0]) / 2);
  for (int opening = 0; opening < 2; ++opening) {
    SCOPED_TRACE(opening);
    log_.Clear();
    auto database = Database::Open(SmallMemtables());
    ASSERT_TRUE(database.ok()) << database.status();
    WriteUntilCompacted(**database, 30);
    if (HasFatalFailure()) return;
    const int readable = CountReadable(**database, /*missing_is_ok=*/false);
    EXPECT_LT(readable, items_);
    EXPECT_GE(readable, items_ - 8);
    database->reset();
    // Once, with all that an operator needs.
    const std::string log = log_.str();
    EXPECT_THAT(log, ::testing::Not(HasSubstr("reopened")));
    EXPECT_EQ(CountOf(log, kDamageLine), 1u);
    for (const char* part :
         {"family=items", "owner=\"table Order\"", "met_by=compaction", "offset=", "itemctl damage list"})
      EXPECT_THAT(log, HasSubstr(part));
    EXPECT_THAT(log, HasSubstr("file=" + files[0] + " "));
  }
}

// RocksDB itself repeats the compaction each second, for ever.
TEST_F(DamageInCompaction, PausesTheCompactionsOfItsFamily) {
  MakeLargeItemsInTableFiles();
  const std::string path = PathOf(FilesOf("items").at(0));
  const auto disk = std::make_shared<PowerLossFileSystem>(root_, std::make_shared<QuickDisk>());
  // An attempt reads the block once or more at the same time: a failed read is repeated.
  std::atomic<int> attempts = 0;
  std::mutex mutex;
  std::chrono::steady_clock::time_point last_read;
  InjectedFault fault = Unreadable(path);
  fault.matches = [&, matches = fault.matches](const std::string& read) {
    if (!matches(read)) return false;
    const std::lock_guard lock(mutex);
    const auto now = std::chrono::steady_clock::now();
    if (now - last_read > std::chrono::milliseconds(500)) ++attempts;
    last_read = now;
    return true;
  };
  disk->Inject(fault);
  DatabaseOptions options = SmallMemtables();
  options.file_system = disk;
  options.compaction_pause = std::chrono::seconds(2);
  auto database = Database::Open(options);
  ASSERT_TRUE(database.ok()) << database.status();
  WriteUntilCompacted(**database, 1);
  if (HasFatalFailure()) return;
  // Two to six seconds of pauses: two attempts, where RocksDB makes one a second and more.
  const int before = attempts;
  std::this_thread::sleep_for(std::chrono::seconds(5));
  EXPECT_GE(attempts - before, 1) << "it was never tried again";
  EXPECT_LE(attempts - before, 2);
}

// RocksDB stops writes when level 0 has 36 files.
TEST_F(DamageInCompaction, LetsHundredThousandsOfWritesGoOn) {
  constexpr int kBatches = kHasSanitizer ? 800 : 8'000;
  constexpr int kPutsOfBatch = 25;
  MakeLargeItemsInTableFiles();
  const std::string file = FilesOf("items").at(0);
  Flip(PathOf(file), DataBytes(file) / 2);
  auto database = Database::Open(SmallMemtables());
  ASSERT_TRUE(database.ok()) << database.status();
  for (int batch = 0; batch < kBatches; ++batch) {
    wire::BatchWriteItemRequest request;
    wire::TableWriteRequests& table = *request.add_request_items();
    table.set_table_name(kOrderTable);
    for (int i = 0; i < kPutsOfBatch; ++i) {
      // Between the keys of the first items, in another order than theirs.
      const std::string number = std::to_string(100'000 + (batch * kPutsOfBatch + i) * 7'919 % 200'003);
      table.add_write_requests()->mutable_put_request()->set_item(
          Encode({{"pk", S("order-" + number)}, {"sk", S("#")}, {"padding", S(std::string(200, 'p'))}}));
    }
    const auto written = Await<wire::BatchWriteItemReply>(
        [&](auto done) { (*database)->BatchWriteItem(request, std::move(done)); });
    ASSERT_TRUE(written.ok()) << written.status() << " after " << batch;
    ASSERT_EQ(written->unprocessed_items_size(), 0) << batch;
  }
  EXPECT_THAT(log_.str(), HasSubstr(kPauseLine));
  EXPECT_THAT(log_.str(), ::testing::Not(HasSubstr("reopened")));
  const v1::GetStatusReply status = (*database)->GetStatus();
  EXPECT_EQ(status.damage().files(), 1);
  const auto damage =
      Await<v1::ListDamageReply>([&](auto done) { (*database)->ListDamage({}, std::move(done)); });
  ASSERT_TRUE(damage.ok()) << damage.status();
  EXPECT_THAT(damage->paused_families(), ::testing::Contains("items"));
  database->reset();
  // A tenth of the writes makes fewer files.
  if (!kHasSanitizer) {
    EXPECT_GT(FilesOf("items").size(), 36u);
  }
}

// The limits for writes, which were off, are set again.
TEST_F(DamageInCompaction, ThatWasOneFailedReadEndsByItself) {
  MakeLargeItemsInTableFiles();
  const auto disk = std::make_shared<PowerLossFileSystem>(root_, std::make_shared<QuickDisk>());
  InjectedFault fault = Unreadable(PathOf(FilesOf("items").at(0)));
  fault.times = 1;
  disk->Inject(fault);
  DatabaseOptions options = SmallMemtables();
  options.file_system = disk;
  options.compaction_pause = std::chrono::milliseconds(100);
  auto database = Database::Open(options);
  ASSERT_TRUE(database.ok()) << database.status();
  WriteUntilCompacted(**database, 1);
  if (HasFatalFailure()) return;
  EXPECT_TRUE(Await([&] { return log_.str().find("succeed again family=items") != std::string::npos; }));
  EXPECT_THAT(log_.str(), ::testing::Not(HasSubstr(kDamageLine)));
  EXPECT_EQ((*database)->GetStatus().damage().files(), 0);
}

// A sector that cannot be read is an I/O error and not a corruption.
TEST_F(DamageInCompaction, OfTheDiskStopsNoWriteEither) {
  MakeLargeItemsInTableFiles();
  const std::string file = FilesOf("items").at(0);
  const auto disk = std::make_shared<PowerLossFileSystem>(root_, std::make_shared<QuickDisk>());
  disk->Inject(Unreadable(PathOf(file)));
  DatabaseOptions options = SmallMemtables();
  options.file_system = disk;
  auto database = Database::Open(options);
  ASSERT_TRUE(database.ok()) << database.status();
  WriteUntilCompacted(**database, 10);
  if (HasFatalFailure()) return;
  EXPECT_EQ(CountReadable(**database, /*missing_is_ok=*/false), items_);
  // The recheck could read it, as it is no compaction.
  EXPECT_TRUE(Await([&] { return log_.str().find("file=" + file + " ") != std::string::npos; }));
  database->reset();
  EXPECT_THAT(log_.str(), ::testing::Not(HasSubstr("reopened")));
}

// A compaction that cannot write is no damage: the store must be opened again, as the disk may have lost what
// was written.
TEST_F(DamageInCompaction, IsNotWhatAFailedWriteIs) {
  MakeLargeItemsInTableFiles();
  const auto disk = std::make_shared<PowerLossFileSystem>(root_, std::make_shared<QuickDisk>());
  DatabaseOptions options = SmallMemtables();
  options.file_system = disk;
  auto database = Database::Open(options);
  ASSERT_TRUE(database.ok()) << database.status();
  disk->Inject(
      {.operation = InjectedFault::Operation::kSync,
       .matches = [](const std::string& path) { return path.ends_with(".sst") && OnThread("rocksdb:low"); },
       .status = rocksdb::IOStatus::IOError("While pread offset 0 len 1: /000001.sst", "broken")});
  for (int i = 0; disk->faults_left() > 0; ++i) {
    ASSERT_LT(i, 60'000) << "nothing was compacted";
    (void)Put(**database, 100'000 + i, 3'000);
  }
  EXPECT_TRUE(Await([&] { return log_.str().find("the store was reopened") != std::string::npos; }));
  EXPECT_THAT(log_.str(), ::testing::Not(HasSubstr(kDamageLine)));
}

}  // namespace
}  // namespace itemdb::testing
