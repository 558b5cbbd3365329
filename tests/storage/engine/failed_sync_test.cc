// Disks that fail, are full or are slow while the database runs. The database must report exactly which
// outcomes are unknown, recover by itself, and never give two changes the same number.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/engine/engine.h"
#include "storage/schema/table_changes.h"
#include "storage/store/dropped_keyspace.h"
#include "tests/storage/engine/gate_file_system.h"
#include "tests/storage/engine/order_workload.h"
#include "tests/support/power_loss_file_system.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

using Operation = InjectedFault::Operation;
using ::testing::HasSubstr;

bool IsLog(const std::string& path) { return path.ends_with(".log"); }

// Polls until `attempt` returns true; fails the test after 30 seconds. The awaited events happen on the
// database's own threads, some of them once a second, without a notification.
template <typename Attempt>
void Poll(const char* what, Attempt attempt) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!attempt()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "waited in vain for: " << what;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// A database on a disk that can be made to fail.
class FailingDiskTest : public ::testing::Test {
 protected:
  FailingDiskTest() {
    std::filesystem::create_directory(root_);
    PowerOn();
  }

  void PowerOn() {
    disk_.reset();
    disk_ = std::make_shared<PowerLossFileSystem>(root_);
    disk_->SetFreeSpace(200 << 20);  // Too little for a ballast.
  }

  DatabaseOptions Options() {
    DatabaseOptions options = TestDatabase::DefaultOptions(root_ + "/data");
    options.file_system = disk_;
    return options;
  }

  // Opens the database; an error returns null and fails the test.
  std::unique_ptr<Database> Open(const DatabaseOptions& options) {
    auto opened = Database::Open(options);
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  static absl::StatusOr<v1::CreateTableReply> CreateTable(Database& database,
                                                          const v1::CreateTableRequest& request) {
    return Await<v1::CreateTableReply>([&](auto done) { database.CreateTable(request, std::move(done)); });
  }

  static wire::WriteItemRequest PutRequest(const std::string& pk) {
    wire::WriteItemRequest request;
    request.set_table_name("Plain");
    request.set_key_or_item(Encode({{"pk", S(pk)}, {"sk", S("#")}}));
    return request;
  }
  static absl::StatusOr<wire::WriteItemReply> Put(Database& database, const std::string& pk) {
    return Await<wire::WriteItemReply>([&](auto done) { database.PutItem(PutRequest(pk), std::move(done)); });
  }
  static absl::Status Delete(Database& database, const std::string& pk) {
    return Await<wire::WriteItemReply>(
               [&](auto done) { database.DeleteItem(PutRequest(pk), std::move(done)); })
        .status();
  }
  static bool Has(Database& database, const std::string& pk) {
    wire::GetItemRequest request;
    request.set_table_name("Plain");
    request.set_key(Encode({{"pk", S(pk)}, {"sk", S("#")}}));
    auto reply = Await<wire::GetItemReply>([&](auto done) { database.GetItem(request, std::move(done)); });
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() && reply->has_item();
  }

  // For two seconds, in which the store would be opened again: "before" can be read, nothing can be written.
  static void ExpectOnlyReads(Database& database) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    do {
      EXPECT_TRUE(Has(database, "before"));
      EXPECT_EQ(Put(database, "refused").status().code(), absl::StatusCode::kUnavailable);
    } while (!HasFailure() && std::chrono::steady_clock::now() < end);
  }

  TemporaryDirectory directory_;
  const std::string root_ = directory_.path() + "/disk";
  std::shared_ptr<PowerLossFileSystem> disk_;
};

// ---- operations that fail ----

struct FailureCase {
  std::string name;
  Operation operation;
  std::string file;  // The end or a part of the file's name.
  int times = 1;
  bool no_space = false;
  // Whether a writer must have got an unknown outcome.
  bool expect_unknown = true;

  friend std::ostream& operator<<(std::ostream& out, const FailureCase& failure) {
    return out << failure.name;
  }
};

class FailedOperationTest : public FailingDiskTest, public ::testing::WithParamInterface<FailureCase> {
 protected:
  // Every writer makes up to `steps` steps and stops when a write is not acknowledged.
  static void Write(Database& database, std::vector<OrderWriter>& writers, int steps) {
    std::vector<std::thread> threads;
    for (OrderWriter& writer : writers) {
      threads.emplace_back([&writer, &database, steps] {
        for (int step = 0; step < steps && writer.Step(database); ++step) {
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
};

TEST_P(FailedOperationTest, IsSurvivedInProcess) {
  const FailureCase& failure = GetParam();
  DatabaseOptions options = Options();
  options.memtable_bytes = 1 << 20;  // So that flushes and new logs fail too.
  std::unique_ptr<Database> database = Open(options);
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(CreateTable(*database, OrderTableRequest()).ok());
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());
  std::vector<OrderWriter> writers;
  for (int i = 0; i < 3; ++i)
    writers.push_back(OrderWriter({.seed = 7, .number = i, .max_padding_bytes = 8'000}));
  Write(*database, writers, 10);

  InjectedFault fault;
  fault.operation = failure.operation;
  fault.matches = [file = failure.file](const std::string& path) {
    return path.find(file) != std::string::npos;
  };
  fault.times = failure.times;
  if (failure.no_space) fault.status = rocksdb::IOStatus::NoSpace("injected full disk");
  disk_->Inject(fault);
  Poll("the fault to be met", [&] {
    Write(*database, writers, 20);
    // No write is accepted between a failure and the reopening, so a write that is acknowledged now comes
    // after it. The writers must learn the unknown outcomes before they write to these items again.
    Poll("the database to serve again", [&] { return Put(*database, "ping").ok(); });
    ExpectExplained(writers, ReadOrders(*database));
    return HasFailure() || disk_->faults_left() == 0;
  });
  int64_t unknown = 0;
  for (const OrderWriter& writer : writers) unknown += writer.unknown_writes();
  if (failure.expect_unknown) {
    EXPECT_GT(unknown, 0);
  }

  // The database continues, and what was read after the failure survives a power cut.
  Write(*database, writers, 10);
  Poll("the database to serve", [&] { return Put(*database, "ping").ok(); });
  ExpectExplained(writers, ReadOrders(*database));
  Write(*database, writers, 5);
  database.reset();
  disk_->DropUnsynced(1);
  PowerOn();
  database = Open(Options());
  ASSERT_NE(database, nullptr);
  ExpectExplained(writers, ReadOrders(*database));
}

INSTANTIATE_TEST_SUITE_P(
    Failures, FailedOperationTest,
    ::testing::Values(FailureCase{"SyncOfTheLog", Operation::kSync, ".log"},
                      FailureCase{"SyncOfTheLogSeveralTimes", Operation::kSync, ".log", 3},
                      FailureCase{"AppendToTheLog", Operation::kAppend, ".log"},
                      FailureCase{"AppendToTheLogOnAFullDisk", Operation::kAppend, ".log", 2, true},
                      FailureCase{"CreationOfALog", Operation::kCreateFile, ".log"},
                      FailureCase{"SyncOfATableFile", Operation::kSync, ".sst"},
                      FailureCase{"CreationOfATableFileOnAFullDisk", Operation::kCreateFile, ".sst", 2, true},
                      FailureCase{"SyncOfTheManifest", Operation::kSync, "MANIFEST"},
                      FailureCase{"ReplacementOfTheWatermark", Operation::kRename, "WATERMARK", 1, false,
                                  false}),
    [](const auto& info) { return info.param.name; });

using FailedSyncTest = FailingDiskTest;

// RocksDB's own way out of a full disk is to flush all families, and there may be space for some of them
// only. The write that failed is in the log and in no memtable, so those would never get it: once an item had
// an index entry and a change record, and was not there.
TEST_F(FailedSyncTest, OnAFullDiskIsTheSameForAllFamilies) {
  rocksdb::IOStatus full = rocksdb::IOStatus::IOError("injected, and may go away");
  full.SetRetryable(true);
  std::unique_ptr<Database> database = Open(Options());
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(CreateTable(*database, OrderTableRequest()).ok());
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());
  std::vector<OrderWriter> writers;
  writers.push_back(OrderWriter({.seed = 7, .number = 0}));
  // So many families are flushed before the MANIFEST cannot be written either.
  for (int flushed = 1; flushed <= 6; ++flushed) {
    SCOPED_TRACE(flushed);
    for (int step = 0; step < 20; ++step) ASSERT_TRUE(writers[0].Step(*database));
    // The store stays open, as there is no space to open it again.
    disk_->SetFreeSpace(0);
    auto edits = std::make_shared<std::atomic<int>>(0);
    const auto is_late_edit = [edits, flushed](const std::string& path) {
      return path.find("MANIFEST-") != std::string::npos && edits->fetch_add(1) >= flushed;
    };
    disk_->Inject({.operation = Operation::kAppend, .matches = is_late_edit, .times = 100, .status = full});
    disk_->Inject({.operation = Operation::kSync, .matches = IsLog, .status = full});
    // Some steps write nothing.
    int step = 0;
    while (step < 50 && writers[0].Step(*database)) ++step;
    EXPECT_LT(step, 50);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    disk_->ClearFaults();
    disk_->SetFreeSpace(200 << 20);
    Poll("the database to serve again", [&] { return Put(*database, "ping").ok(); });
    ExpectExplained(writers, ReadOrders(*database));
  }
}

// A write fills several memtables, which begins a new log and writes to the MANIFEST. The packaged RocksDB,
// left to itself, would end the process when the store is closed.
class FullMemtablesTest : public FailingDiskTest {
 protected:
  void ExpectSurvives(const InjectedFault& fault) {
    DatabaseOptions options = Options();
    options.memtable_bytes = 8 << 20;   // Each memtable may take a quarter.
    options.spare_log_after_bytes = 0;  // A spare becomes a log without a file being created.
    std::unique_ptr<Database> database = Open(options);
    ASSERT_NE(database, nullptr);
    v1::CreateTableRequest table = TableRequest("Plain");
    AddIndex(&table, "ByGroup", {"grp:S"}, 1, v1::PROJECTION_TYPE_ALL);
    ASSERT_TRUE(CreateTable(*database, table).ok());
    wire::BatchWriteItemRequest batch;
    auto& writes = *batch.add_request_items();
    writes.set_table_name("Plain");
    for (int i = 0; i < 6; ++i) {
      writes.add_write_requests()->mutable_put_request()->set_item(
          Encode({{"pk", S("large-" + std::to_string(i))},
                  {"sk", S("#")},
                  {"grp", S("g")},
                  {"text", S(std::string(390'000, 'x'))}}));
    }
    disk_->Inject(fault);
    auto large = Await<wire::BatchWriteItemReply>(
        [&](auto done) { database->BatchWriteItem(batch, std::move(done)); });
    ASSERT_TRUE(large.ok()) << large.status();
    // Fails if the fault was met before it.
    (void)Put(*database, "unknown");
    Poll("the fault to be met", [&] { return disk_->faults_left() == 0; });
    Poll("a write to be acknowledged", [&] { return Put(*database, "after").ok(); });
    EXPECT_TRUE(Has(*database, "large-0"));
    ReadOrders(*database);
  }
};

TEST_F(FullMemtablesTest, SurviveALogThatCannotBeCreated) {
  ExpectSurvives({.operation = Operation::kCreateFile, .matches = IsLog});
}

TEST_F(FullMemtablesTest, SurviveAManifestThatCannotBeWritten) {
  ExpectSurvives({.operation = Operation::kAppend, .matches = [](const std::string& path) {
                    return path.find("MANIFEST-") != std::string::npos;
                  }});
}

// The write is in the log and not durable: no reader sees it now, and it is there after reopening, because
// RocksDB replays what it can read. Its number must neither be lost nor used twice.
TEST_F(FailedSyncTest, AnswersThatTheOutcomeIsUnknownAndNumbersOn) {
  std::unique_ptr<Database> database = Open(Options());
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());
  auto before = Put(*database, "before");
  ASSERT_TRUE(before.ok());
  disk_->Inject({.operation = Operation::kSync, .matches = IsLog});
  auto failed = Put(*database, "failed");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kUnknown) << failed.status();
  EXPECT_EQ(ReasonOf(failed.status()), kReasonWriteOutcomeUnknown);
  EXPECT_THAT(MessageOf(failed.status()), HasSubstr("may or may not"));

  absl::StatusOr<wire::WriteItemReply> after;
  Poll("a write to be acknowledged", [&] {
    after = Put(*database, "after");
    if (after.ok()) return true;
    EXPECT_EQ(ReasonOf(after.status()), kReasonUnavailable);
    EXPECT_GT(RetryAfterMsOf(after.status()), 0);
    return false;
  });
  bool reappeared = Has(*database, "failed");
  EXPECT_EQ(after->change_sequence(), before->change_sequence() + (reappeared ? 2 : 1));
  ReadOrders(*database);  // The log has no gaps; the check finds nothing.
}

// Reopening the store keeps the recorded access patterns (SEED-049).
TEST_F(FailedSyncTest, ForgetsNoAccessPatternByReopening) {
  std::unique_ptr<Database> database = Open(Options());
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());
  ASSERT_TRUE(Put(*database, "before").ok());
  disk_->Inject({.operation = Operation::kSync, .matches = IsLog});
  ASSERT_FALSE(Put(*database, "failed").ok());
  Poll("a write to be acknowledged", [&] { return Put(*database, "after").ok(); });
  auto patterns = database->GetAccessPatterns({});
  ASSERT_TRUE(patterns.ok()) << patterns.status();
  ASSERT_EQ(patterns->patterns_size(), 1);
  const v1::AccessPattern& puts = patterns->patterns(0);
  EXPECT_EQ(puts.calls() - puts.errors(), 2);
  EXPECT_GE(puts.errors(), 1);
}

// A pinned snapshot, however long it may live, does not prevent the reopening of the store, and does not
// exist in the new store (EXT-02).
TEST_F(FailedSyncTest, GivesUpHeldStatesToReopen) {
  DatabaseOptions options = Options();
  options.max_pinned_snapshot_age = std::chrono::hours(1);
  std::unique_ptr<Database> database = Open(options);
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());
  ASSERT_TRUE(Put(*database, "before").ok());
  wire::PageRequest request;
  request.set_table_name("Plain");
  auto scan = [&](const PinnedSnapshot& state) {
    return Await<Page>([&](auto done) { database->ScanSnapshot(state, request, std::move(done)); });
  };
  auto held = database->PinSnapshot();
  ASSERT_TRUE(held.ok()) << held.status();
  EXPECT_TRUE(scan(**held).ok());

  disk_->Inject({.operation = Operation::kSync, .matches = IsLog});
  EXPECT_EQ(ReasonOf(Put(*database, "failed").status()), kReasonWriteOutcomeUnknown);
  Poll("a write to be acknowledged", [&] { return Put(*database, "after").ok(); });
  const absl::Status given_up = scan(**held).status();
  EXPECT_EQ(given_up.code(), absl::StatusCode::kAborted) << given_up;
  EXPECT_EQ(ReasonOf(given_up), kReasonStateTooOld);

  auto again = database->PinSnapshot();
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_TRUE(Put(*database, "later").ok());
  auto page = scan(**again);
  ASSERT_TRUE(page.ok()) << page.status();
  const std::vector<std::string> items = ShowItems(*page);
  EXPECT_EQ(std::count(items.begin(), items.end(), "pk=after sk=#"), 1);
  EXPECT_EQ(std::count(items.begin(), items.end(), "pk=later sk=#"), 0);
}

// The store must be released while the space of a deleted table is reclaimed: reopening waits for everything
// that uses the store.
TEST_F(FailedSyncTest, ReopensAlthoughSpaceIsBeingReclaimed) {
  auto gate =
      std::make_shared<GateFileSystem>(disk_, [](const std::string& path) { return path.ends_with(".sst"); });
  DatabaseOptions options = Options();
  options.file_system = gate;
  std::unique_ptr<Database> database = Open(options);
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());
  ASSERT_TRUE(CreateTable(*database, TableRequest("Gone")).ok());
  wire::WriteItemRequest put;
  put.set_table_name("Gone");
  put.set_key_or_item(Encode({{"pk", S("p")}, {"sk", S("s")}}));
  ASSERT_TRUE(Await<wire::WriteItemReply>([&](auto done) { database->PutItem(put, std::move(done)); }).ok());
  gate->Shut();
  v1::DeleteTableRequest request;
  request.set_table_name("Gone");
  ASSERT_TRUE(
      Await<v1::DeleteTableReply>([&](auto done) { database->DeleteTable(request, std::move(done)); }).ok());
  gate->AwaitWaiting();  // A file with its items is being written.
  disk_->Inject({.operation = Operation::kSync, .matches = IsLog});
  EXPECT_EQ(ReasonOf(Put(*database, "failing").status()), kReasonWriteOutcomeUnknown);
  gate->Open();
  Poll("a write to be acknowledged", [&] { return Put(*database, "after").ok(); });
  Poll("the space to be reclaimed", [&] { return database->GetStatus().disk().dropped_count() == 0; });
  ReadOrders(*database);
}

// A disk that hangs shows in a figure although no write ends.
TEST_F(FailedSyncTest, WaitingWritesShowWhileADiskHangs) {
  auto gate = std::make_shared<GateFileSystem>(disk_, IsLog);
  DatabaseOptions options = Options();
  options.file_system = gate;
  std::unique_ptr<Database> database = Open(options);
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());
  const auto wait = [&] { return database->MeasureFigures().commits.queue_wait; };
  EXPECT_EQ(wait(), std::chrono::nanoseconds(0));
  gate->Shut();
  std::thread first([&] { EXPECT_TRUE(Put(*database, "first").ok()); });
  gate->AwaitWaiting();
  std::thread second([&] { EXPECT_TRUE(Put(*database, "second").ok()); });
  Poll("the queue to wait", [&] { return wait() >= std::chrono::milliseconds(50); });
  gate->Open();
  first.join();
  second.join();
  EXPECT_EQ(wait(), std::chrono::nanoseconds(0));
}

// A request that is the last user of a failed store does not wait until RocksDB has finished its files.
TEST_F(FailedSyncTest, ClosesTheStoreOnAThreadOfItsOwn) {
  auto gate =
      std::make_shared<GateFileSystem>(disk_, [](const std::string& path) { return path.ends_with(".sst"); });
  DatabaseOptions options = Options();
  options.file_system = gate;
  auto engine = Engine::Open(options);
  ASSERT_TRUE(engine.ok()) << engine.status();
  const auto commit = [&] {
    return CommitAndWait(**engine,
                         [](CommitGroup& group) {
                           group.DeleteCatalog(DroppedKey(1));
                           return absl::OkStatus();
                         })
        .status();
  };
  ASSERT_TRUE(commit().ok());
  auto view = (*engine)->View();
  ASSERT_TRUE(view.ok()) << view.status();
  gate->Shut();
  rocksdb::FlushOptions without_waiting;
  without_waiting.wait = false;
  ASSERT_TRUE((*view)->store()->db()->Flush(without_waiting, (*view)->store()->catalog()).ok());
  gate->AwaitWaiting();
  disk_->Inject({.operation = Operation::kSync, .matches = IsLog});
  EXPECT_FALSE(commit().ok());
  Poll("everybody else to let go",
       [&] { return view->use_count() == 1 && (*view)->store().use_count() == 1; });

  std::future<void> let_go = std::async(std::launch::async, [&] { view->reset(); });
  EXPECT_EQ(let_go.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  gate->Open();
  Poll("the store to be open again", [&] { return (*engine)->View().ok(); });
  EXPECT_TRUE(commit().ok());
}

// ---- a full disk ----

using FullDiskTest = FailingDiskTest;

// RocksDB knows ENOSPC, and of EDQUOT only the text.
TEST_F(FullDiskTest, AnExhaustedQuotaIsAFullDisk) {
  const auto status =
      rocksdb::Status::IOError("While appending to file: /data/000004.log", std::strerror(EDQUOT));
  EXPECT_EQ(ReasonOf(FromRocksDB("a commit group could not be written", status)), kReasonDiskFull);
  EXPECT_EQ(ReasonOf(FromRocksDB("x", rocksdb::Status::IOError("x", std::strerror(EIO)))),
            kReasonUnavailable);
}

TEST_F(FullDiskTest, RefusesWritesBelowTheFloorAndTakesThemAgainAbove) {
  DatabaseOptions options = Options();
  options.free_space_floor_bytes = 100 << 20;
  std::unique_ptr<Database> database = Open(options);
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());
  ASSERT_TRUE(Put(*database, "first").ok());

  disk_->SetFreeSpace(50 << 20);
  int accepted = 0;
  absl::Status refusal;
  Poll("a refusal", [&] {
    auto reply = Put(*database, "while-filling-" + std::to_string(accepted));
    if (!reply.ok()) refusal = reply.status();
    accepted += reply.ok() ? 1 : 0;
    return !reply.ok();
  });
  EXPECT_EQ(refusal.code(), absl::StatusCode::kResourceExhausted) << refusal;
  EXPECT_EQ(ReasonOf(refusal), kReasonDiskFull);
  EXPECT_EQ(MessageOf(refusal), "nothing was written: the disk has less than 104857600 bytes free");
  EXPECT_GT(RetryAfterMsOf(refusal), 0);
  uint64_t sequence = database->GetStatus().change_sequence();
  uint64_t operations = disk_->operations();
  EXPECT_EQ(ReasonOf(Put(*database, "refused").status()), kReasonDiskFull);
  EXPECT_EQ(disk_->operations(), operations);
  EXPECT_EQ(ReasonOf(CreateTable(*database, TableRequest("Refused")).status()), kReasonDiskFull);
  EXPECT_EQ(ReasonOf(database->FlushBeforeStop(std::chrono::minutes(1), Cancellation())), kReasonDiskFull);
  EXPECT_FALSE(Has(*database, "refused"));  // Reads still work.
  EXPECT_TRUE(Has(*database, "first"));
  EXPECT_EQ(database->GetStatus().change_sequence(), sequence);

  disk_->SetFreeSpace(200 << 20);
  absl::StatusOr<wire::WriteItemReply> taken;
  Poll("a write to be taken again", [&] {
    taken = Put(*database, "again");
    return taken.ok();
  });
  EXPECT_EQ(taken->change_sequence(), sequence + 1);
  EXPECT_EQ(ReadOrders(*database).last_sequence, sequence + 1);
}

TEST_F(FullDiskTest, DeletesBelowTheFloorUntilTheBallastIsUsedUp) {
  DatabaseOptions options = Options();
  options.free_space_floor_bytes = 100 << 20;
  disk_->SetFreeSpace(1 << 30);
  std::unique_ptr<Database> database = Open(options);
  ASSERT_NE(database, nullptr);
  const std::string ballast = options.data_directory + "/BALLAST";
  Poll("the ballast", [&] { return std::filesystem::exists(ballast); });
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());
  ASSERT_TRUE(CreateTable(*database, TableRequest("Unneeded")).ok());
  for (const char* pk : {"a", "b", "c"}) ASSERT_TRUE(Put(*database, pk).ok());
  const auto is_refused = [&] { return ReasonOf(Put(*database, "more").status()) == kReasonDiskFull; };

  disk_->SetFreeSpace(50 << 20);
  Poll("a refusal", is_refused);
  EXPECT_TRUE(Delete(*database, "a").ok());
  EXPECT_FALSE(Has(*database, "a"));
  EXPECT_TRUE(std::filesystem::exists(ballast));

  disk_->SetFreeSpace(1 << 20);
  Poll("the ballast to be given up", [&] { return !std::filesystem::exists(ballast); });
  EXPECT_TRUE(Delete(*database, "b").ok());
  v1::DeleteTableRequest unneeded;
  unneeded.set_table_name("Unneeded");
  const auto deleted =
      Await<v1::DeleteTableReply>([&](auto done) { database->DeleteTable(unneeded, std::move(done)); });
  EXPECT_TRUE(deleted.ok()) << deleted.status();

  Poll("deletions to be refused", [&] { return ReasonOf(Delete(*database, "none")) == kReasonDiskFull; });
  EXPECT_TRUE(is_refused());
  EXPECT_TRUE(Has(*database, "c"));

  disk_->SetFreeSpace(1 << 30);
  Poll("a write to be taken again", [&] { return Put(*database, "more").ok(); });
  Poll("the ballast again", [&] { return std::filesystem::exists(ballast); });
}

// A start on a full disk accepts nothing, not even in its first second.
TEST_F(FullDiskTest, RefusesTheFirstWriteAfterAStartBelowTheFloor) {
  DatabaseOptions options = Options();
  ASSERT_TRUE(CreateTable(*Open(options), TableRequest("Plain")).ok());
  options.free_space_floor_bytes = 100 << 20;
  disk_->SetFreeSpace(50 << 20);
  std::unique_ptr<Database> database = Open(options);
  ASSERT_NE(database, nullptr);
  EXPECT_EQ(ReasonOf(Put(*database, "first").status()), kReasonDiskFull);
}

// Reopening would fail and leave nothing to read, so the view from before the failed write is kept.
TEST_F(FullDiskTest, ReadsGoOnAfterAWriteThatFoundNoSpace) {
  std::unique_ptr<Database> database = Open(Options());
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());
  ASSERT_TRUE(Put(*database, "before").ok());
  disk_->SetFreeSpace(0);
  disk_->Inject({.operation = Operation::kAppend,
                 .matches = IsLog,
                 .times = 1'000'000,
                 .status = rocksdb::IOStatus::NoSpace("injected full disk")});
  EXPECT_FALSE(Put(*database, "without-space").ok());
  ExpectOnlyReads(*database);

  disk_->ClearFaults();
  disk_->SetFreeSpace(200 << 20);
  Poll("a write to be taken again", [&] { return Put(*database, "again").ok(); });
  EXPECT_FALSE(Has(*database, "refused"));
}

// The same when no file can be written for another reason.
TEST_F(FailedSyncTest, ReadsGoOnWhileNoFileCanBeWritten) {
  std::unique_ptr<Database> database = Open(Options());
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());
  ASSERT_TRUE(Put(*database, "before").ok());
  for (const Operation operation : {Operation::kAppend, Operation::kCreateFile})
    disk_->Inject({.operation = operation, .matches = nullptr, .times = 1'000'000});
  EXPECT_FALSE(Put(*database, "failed").ok());
  ExpectOnlyReads(*database);
  disk_->ClearFaults();
  Poll("a write to be taken again", [&] { return Put(*database, "again").ok(); });
}

// ---- a slow disk ----

using SlowDiskTest = FailingDiskTest;

// The thread may be a network thread, whose other connections must not wait for this sync.
TEST_F(SlowDiskTest, AfterASlowSyncTheSubmittingThreadDoesNotWaitForTheNext) {
  auto gate = std::make_shared<GateFileSystem>(disk_, IsLog);
  DatabaseOptions options = Options();
  options.file_system = gate;
  std::unique_ptr<Database> database = Open(options);
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());
  gate->Shut();
  auto slow = std::async(std::launch::async, [&] { return Put(*database, "slow"); });
  gate->AwaitWaiting();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  gate->Open();
  ASSERT_TRUE(slow.get().ok());

  gate->Shut();
  std::promise<absl::StatusOr<wire::WriteItemReply>> put;
  auto submitted = std::async(std::launch::async, [&] {
    database->PutItem(PutRequest("next"), [&](auto reply) { put.set_value(std::move(reply)); });
  });
  gate->AwaitWaiting();
  EXPECT_EQ(submitted.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  gate->Open();
  EXPECT_TRUE(put.get_future().get().ok());
}

// Many large writes must not keep small ones out of the queue.
TEST_F(SlowDiskTest, LargeWritesLeaveHalfOfTheQueueToSmallOnes) {
  auto gate = std::make_shared<GateFileSystem>(disk_, IsLog);
  DatabaseOptions options = Options();
  options.file_system = gate;
  options.max_queue_bytes = 8 << 20;
  std::unique_ptr<Database> database = Open(options);
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());
  gate->Shut();
  auto held_up = std::async(std::launch::async, [&] { return Put(*database, "held-up"); });
  gate->AwaitWaiting();

  std::vector<std::future<absl::Status>> queued;
  absl::Status refusal;
  // Three items of 400 KB each: above kLargeCommitUnitBytes.
  for (int i = 0; refusal.ok() && i < 100; ++i) {
    wire::BatchWriteItemRequest batch;
    auto& writes = *batch.add_request_items();
    writes.set_table_name("Plain");
    for (int j = 0; j < 3; ++j) {
      const std::string pk = "large-" + std::to_string(i) + "-" + std::to_string(j);
      writes.add_write_requests()->mutable_put_request()->set_item(
          Encode({{"pk", S(pk)}, {"sk", S("#")}, {"text", S(std::string(400'000, 'x'))}}));
    }
    auto answer = std::make_shared<std::promise<absl::Status>>();
    auto future = answer->get_future();
    database->BatchWriteItem(batch, [answer](auto reply) { answer->set_value(reply.status()); });
    if (future.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
      refusal = future.get();
    } else {
      queued.push_back(std::move(future));
    }
  }
  EXPECT_EQ(ReasonOf(refusal), kReasonQueueFull) << refusal;
  EXPECT_LE(queued.size(), 4u) << "half of the queue";
  std::promise<absl::Status> small;
  database->PutItem(PutRequest("small"), [&](auto reply) { small.set_value(reply.status()); });
  gate->Open();
  EXPECT_TRUE(small.get_future().get().ok());
  EXPECT_TRUE(held_up.get().ok());
  for (auto& answer : queued) EXPECT_TRUE(answer.get().ok());
}

// One put waits in its sync, and the pipeline waits with it; later writes are queued until the queue is full.
TEST_F(SlowDiskTest, FullQueueRefusesAtOnceAndLosesNothing) {
  auto gate = std::make_shared<GateFileSystem>(disk_, IsLog);
  DatabaseOptions options = Options();
  options.file_system = gate;
  options.max_queue_bytes = 20'000;
  std::unique_ptr<Database> database = Open(options);
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());

  gate->Shut();
  int syncs = gate->syncs();
  auto held_up = std::async(std::launch::async, [&] { return Put(*database, "held-up"); });
  gate->AwaitWaiting();
  EXPECT_FALSE(Has(*database, "held-up")) << "what is not durable must not be seen";

  std::vector<std::future<absl::StatusOr<wire::WriteItemReply>>> queued;
  absl::Status refusal;
  for (int i = 0; refusal.ok() && i < 1'000; ++i) {
    auto answer = std::make_shared<std::promise<absl::StatusOr<wire::WriteItemReply>>>();
    auto future = answer->get_future();
    database->PutItem(
        PutRequest("queued-" + std::to_string(i)),
        [answer](absl::StatusOr<wire::WriteItemReply> reply) { answer->set_value(std::move(reply)); });
    if (future.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
      refusal = future.get().status();  // The disk is blocked, so the refusal came at once.
    } else {
      queued.push_back(std::move(future));
    }
  }
  EXPECT_EQ(refusal.code(), absl::StatusCode::kResourceExhausted) << refusal;
  EXPECT_EQ(ReasonOf(refusal), kReasonQueueFull);
  EXPECT_EQ(MessageOf(refusal), "the write queue is full (20000 bytes); try again later");
  EXPECT_GT(RetryAfterMsOf(refusal), 0);
  EXPECT_GT(queued.size(), 5u);

  gate->Open();
  EXPECT_TRUE(held_up.get().ok());
  for (auto& answer : queued) EXPECT_TRUE(answer.get().ok());
  EXPECT_EQ(gate->syncs(), syncs + 2) << "all that was queued is one commit group with one sync";
  for (size_t i = 0; i < queued.size(); ++i) EXPECT_TRUE(Has(*database, "queued-" + std::to_string(i)));
  EXPECT_FALSE(Has(*database, "queued-" + std::to_string(queued.size())));
  EXPECT_EQ(ReadOrders(*database).last_sequence, 2 + queued.size());
  EXPECT_TRUE(Put(*database, "afterwards").ok());
}

// What the watchdog of the daemon asks: a probe waits as long as the pipeline hangs, also when the queue is
// full, and writes nothing.
TEST_F(SlowDiskTest, AProbeWaitsWhileThePipelineHangs) {
  auto gate = std::make_shared<GateFileSystem>(disk_, IsLog);
  DatabaseOptions options = Options();
  options.file_system = gate;
  options.max_queue_bytes = 1;
  std::unique_ptr<Database> database = Open(options);
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(CreateTable(*database, TableRequest("Plain")).ok());
  const int syncs = gate->syncs();
  database->ProbeWrites();
  EXPECT_EQ(gate->syncs(), syncs);

  gate->Shut();
  auto held_up = std::async(std::launch::async, [&] { return Put(*database, "held-up"); });
  gate->AwaitWaiting();
  auto queued = std::async(std::launch::async, [&] { return Put(*database, "queued"); });
  auto probe = std::async(std::launch::async, [&] { database->ProbeWrites(); });
  EXPECT_EQ(probe.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  gate->Open();
  EXPECT_EQ(probe.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_TRUE(held_up.get().ok());
  (void)queued.get();
}

}  // namespace
}  // namespace itemdb::testing
