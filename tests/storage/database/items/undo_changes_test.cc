// UndoChanges: items become what they were before a stretch of changes.
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "gmock/gmock.h"
#include "storage/restore.h"
#include "tests/storage/database/requests.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

class UndoChangesTest : public ::testing::Test {
 protected:
  UndoChangesTest() {
    v1::CreateTableRequest table = TableRequest("Things");
    AddIndex(&table, "ByState", {"state:S"}, 1, v1::PROJECTION_TYPE_ALL);
    table.set_stream_enabled(true);
    table.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES);
    database_.CreateTable(table);
    database_.CreateTable(TableRequest("Plain"));
  }

  uint64_t Put(const std::string& sk, const std::string& state, const std::string& table = "Things") {
    const auto put = database_.Put(table, {{"pk", S("p")}, {"sk", S(sk)}, {"state", S(state)}});
    EXPECT_TRUE(put.ok()) << put.status();
    return put.ok() ? put->change_sequence() : 0;
  }
  uint64_t Delete(const std::string& sk) {
    wire::WriteItemRequest request;
    request.set_table_name("Things");
    request.set_key_or_item(Encode({{"pk", S("p")}, {"sk", S(sk)}}));
    const auto deleted =
        Await<wire::WriteItemReply>([&](auto done) { database_->DeleteItem(request, std::move(done)); });
    EXPECT_TRUE(deleted.ok()) << deleted.status();
    return deleted.ok() ? deleted->change_sequence() : 0;
  }
  absl::StatusOr<v1::UndoChangesReply> Undo(v1::UndoChangesRequest request) {
    if (request.table_name().empty()) request.set_table_name("Things");
    return Await<v1::UndoChangesReply>([&](auto done) { database_->UndoChanges(request, std::move(done)); });
  }
  static v1::UndoChangesRequest Stretch(uint64_t from, uint64_t to, bool dry_run = false) {
    v1::UndoChangesRequest request;
    request.set_from_sequence(from);
    request.set_to_sequence(to);
    request.set_dry_run(dry_run);
    return request;
  }
  // "SK OUTCOME", and the change.
  static std::vector<std::string> Shown(const v1::UndoChangesReply& reply) {
    std::vector<std::string> shown;
    for (const v1::UndoneItem& item : reply.items()) {
      std::string text = v1::UndoOutcome_Name(item.outcome());
      for (const auto& attribute : item.key().attributes())
        if (attribute.name() == "sk") text = attribute.value().s() + " " + text.substr(13);
      if (item.changed_sequence() != 0) text += " " + std::to_string(item.changed_sequence());
      shown.push_back(std::move(text));
    }
    return shown;
  }
  std::vector<std::string> Items() { return ScanAll(database_, ScanRequest("Things")); }

  TestDatabase database_;
};

TEST_F(UndoChangesTest, ItemsBecomeWhatTheyWereBefore) {
  Put("changed", "old");
  Put("deleted", "old");
  Put("twice", "old");
  const std::vector<std::string> before = Items();
  const uint64_t from = Put("changed", "new");
  Delete("deleted");
  Put("twice", "new");
  Put("created", "new");
  Put("there and back", "new");
  Delete("there and back");
  const uint64_t to = Put("twice", "newer");
  Put("other", "stays");

  const auto dry = Undo(Stretch(from, to, /*dry_run=*/true));
  ASSERT_TRUE(dry.ok()) << dry.status();
  const auto expected = UnorderedElementsAre("changed PUT", "deleted PUT", "twice PUT", "created DELETED",
                                             "there and back UNCHANGED");
  EXPECT_THAT(Shown(*dry), expected);
  EXPECT_EQ(Items().size(), 4u) << "nothing was written";
  const auto undone = Undo(Stretch(from, to));
  ASSERT_TRUE(undone.ok()) << undone.status();
  EXPECT_THAT(Shown(*undone), expected);
  EXPECT_EQ(undone->change_sequence(), to + 1 + 4);
  std::vector<std::string> after = before;
  after.push_back("pk=p sk=other state=stays");
  EXPECT_THAT(Items(), UnorderedElementsAreArray(after));
  database_.CheckIsClean();

  const auto again = Undo(Stretch(from, to));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT(Shown(*again), UnorderedElementsAre("changed UNCHANGED", "deleted UNCHANGED", "twice UNCHANGED",
                                                  "created UNCHANGED", "there and back UNCHANGED"));
  EXPECT_EQ(again->change_sequence(), undone->change_sequence());
}

TEST_F(UndoChangesTest, AnItemThatWasChangedSinceIsLeftAndReported) {
  Put("a", "old");
  Put("b", "old");
  const uint64_t from = Put("a", "new");
  const uint64_t to = Put("b", "new");
  const uint64_t since = Put("a", "newest");
  const auto undone = Undo(Stretch(from, to));
  ASSERT_TRUE(undone.ok()) << undone.status();
  EXPECT_THAT(Shown(*undone), UnorderedElementsAre("a CHANGED_SINCE " + std::to_string(since), "b PUT"));
  EXPECT_THAT(Items(), UnorderedElementsAre("pk=p sk=a state=newest", "pk=p sk=b state=old"));
}

TEST_F(UndoChangesTest, NeverOverwritesAWriteOfTheSameMoment) {
  for (int i = 0; i < 100; ++i) {
    const std::string sk = std::to_string(i);
    Put(sk, "old");
    const uint64_t change = Put(sk, "new");
    std::thread writer([&] { Put(sk, "newest"); });
    const auto undone = Undo(Stretch(change, change));
    writer.join();
    ASSERT_TRUE(undone.ok()) << undone.status();
    v1::UndoneItem item = undone->items(0);
    if (item.outcome() != v1::UNDO_OUTCOME_PUT) {
      EXPECT_EQ(item.outcome(), v1::UNDO_OUTCOME_CHANGED_SINCE);
    }
    ASSERT_THAT(Items(), Contains("pk=p sk=" + sk + " state=newest"));
  }
}

TEST_F(UndoChangesTest, OnlyTheGivenKeys) {
  const uint64_t from = Put("a", "new");
  const uint64_t to = Put("b", "new");
  v1::UndoChangesRequest request = Stretch(from, to);
  *request.add_keys() = Item({{"sk", S("b")}, {"pk", S("p")}});
  const auto undone = Undo(request);
  ASSERT_TRUE(undone.ok()) << undone.status();
  EXPECT_THAT(Shown(*undone), ElementsAre("b DELETED"));
  EXPECT_THAT(Items(), ElementsAre("pk=p sk=a state=new"));
}

TEST_F(UndoChangesTest, PagesHaveAllItemsOnce) {
  constexpr int kItems = 1'100, kBatch = 25;
  const uint64_t from = Put("first", "new") + 1;
  for (int i = 0; i < kItems; i += kBatch) {
    wire::BatchWriteItemRequest batch;
    auto& writes = *batch.add_request_items();
    writes.set_table_name("Things");
    for (int k = i; k < i + kBatch; ++k) {
      writes.add_write_requests()->mutable_put_request()->set_item(
          Encode({{"pk", S("p")}, {"sk", S(std::to_string(k))}, {"state", S("new")}}));
    }
    const auto written = Await<wire::BatchWriteItemReply>(
        [&](auto done) { database_->BatchWriteItem(batch, std::move(done)); });
    ASSERT_TRUE(written.ok()) << written.status();
  }
  const uint64_t to = from + kItems - 1;
  v1::UndoChangesRequest request = Stretch(from, to);
  size_t deleted = 0;
  int pages = 0;
  while (true) {
    const auto undone = Undo(request);
    ASSERT_TRUE(undone.ok()) << undone.status();
    ++pages;
    for (const v1::UndoneItem& item : undone->items()) deleted += item.outcome() == v1::UNDO_OUTCOME_DELETED;
    if (!undone->has_last_evaluated_key()) break;
    *request.mutable_exclusive_start_key() = undone->last_evaluated_key();
  }
  EXPECT_EQ(deleted, static_cast<size_t>(kItems));
  EXPECT_EQ(pages, 2);
  EXPECT_THAT(Items(), ElementsAre("pk=p sk=first state=new"));
  database_.CheckIsClean();
}

TEST_F(UndoChangesTest, WhatCannotBeTakenBackIsRefused) {
  const uint64_t first = Put("a", "old");
  const auto expect = [&](v1::UndoChangesRequest request, absl::StatusCode code, const std::string& text) {
    const auto undone = Undo(std::move(request));
    EXPECT_EQ(undone.status().code(), code) << undone.status();
    EXPECT_THAT(std::string(undone.status().message()), HasSubstr(text));
  };
  expect(Stretch(0, 5), absl::StatusCode::kInvalidArgument, "they are 0 and 5");
  expect(Stretch(first, first - 1), absl::StatusCode::kInvalidArgument, "not less");
  expect(Stretch(first, first + 1), absl::StatusCode::kInvalidArgument,
         "does not exist; the last change is " + std::to_string(first));
  v1::UndoChangesRequest request = Stretch(first, first);
  request.set_table_name("Nothing");
  expect(request, absl::StatusCode::kNotFound, "Nothing");
  request = Stretch(first, first);
  *request.add_keys() = Item({{"pk", S("p")}});
  expect(request, absl::StatusCode::kInvalidArgument, "does not match the schema");
  request.clear_keys();
  for (int i = 0; i < 101; ++i) *request.add_keys() = Item({{"pk", S("p")}, {"sk", S(std::to_string(i))}});
  expect(request, absl::StatusCode::kInvalidArgument, "at most 100 keys");

  Put("a", "old", "Plain");
  const uint64_t plain = Put("a", "new", "Plain");
  request = Stretch(plain, plain);
  request.set_table_name("Plain");
  expect(request, absl::StatusCode::kFailedPrecondition, "OLD_IMAGE");
  expect(request, absl::StatusCode::kFailedPrecondition, "this archive does not");

  wire::TransactWriteItemsRequest transaction;
  for (const char* sk : {"x", "y", "z"}) {
    wire::WriteItemRequest* put = transaction.add_transact_items()->mutable_put();
    put->set_table_name("Things");
    put->set_key_or_item(Encode({{"pk", S("p")}, {"sk", S(sk)}}));
  }
  const auto written = Await<wire::TransactWriteItemsReply>(
      [&](auto done) { database_->TransactWriteItems(transaction, std::move(done)); });
  ASSERT_TRUE(written.ok()) << written.status();
  const uint64_t last = written->change_sequence();
  const std::string both = std::to_string(last - 2) + " to " + std::to_string(last);
  expect(Stretch(last - 1, last), absl::StatusCode::kInvalidArgument, both);
  expect(Stretch(last - 2, last - 1), absl::StatusCode::kInvalidArgument, both);
  EXPECT_TRUE(Undo(Stretch(last - 2, last)).ok());
}

// Of tables without old images: the archive has the items as they were.
class UndoByArchiveTest : public ::testing::Test {
 protected:
  UndoByArchiveTest() : database_(Options(directory_.path())) {
    v1::CreateTableRequest table = TableRequest("Plain");
    AddIndex(&table, "ByState", {"state:S"}, 1, v1::PROJECTION_TYPE_ALL);
    database_.CreateTable(table);
    database_.CreateTable(TableRequest("Other"));
    // The archive begins with a backup.
    for (int i = 0; i < 6'000; ++i) {
      const v1::ArchiveStatus archive = database_->GetStatus().archive();
      if (archive.oldest_time_us() != 0 && !archive.needs_backup()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  static DatabaseOptions Options(const std::string& directory) {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory + "/data");
    options.backup_directory = directory + "/backups";
    options.archive_directory = directory + "/archive";
    options.archive_interval = std::chrono::milliseconds(5);
    return options;
  }
  uint64_t Put(int sk, const std::string& state, const std::string& table = "Plain") {
    const auto put =
        database_.Put(table, {{"pk", S("p")}, {"sk", S(std::to_string(sk))}, {"state", S(state)}});
    EXPECT_TRUE(put.ok()) << put.status();
    return put.ok() ? put->change_sequence() : 0;
  }
  uint64_t Delete(int sk) {
    wire::WriteItemRequest request;
    request.set_table_name("Plain");
    request.set_key_or_item(Encode({{"pk", S("p")}, {"sk", S(std::to_string(sk))}}));
    const auto deleted =
        Await<wire::WriteItemReply>([&](auto done) { database_->DeleteItem(request, std::move(done)); });
    EXPECT_TRUE(deleted.ok()) << deleted.status();
    return deleted.ok() ? deleted->change_sequence() : 0;
  }
  // The last change of a transaction that puts two items into Other.
  uint64_t PutTwoOthers(const std::string& state) {
    wire::TransactWriteItemsRequest transaction;
    for (const int sk : {1, 2}) {
      wire::WriteItemRequest* put = transaction.add_transact_items()->mutable_put();
      put->set_table_name("Other");
      put->set_key_or_item(Encode({{"pk", S("p")}, {"sk", S(std::to_string(sk))}, {"state", S(state)}}));
    }
    const auto written = Await<wire::TransactWriteItemsReply>(
        [&](auto done) { database_->TransactWriteItems(transaction, std::move(done)); });
    EXPECT_TRUE(written.ok()) << written.status();
    return written.ok() ? written->change_sequence() : 0;
  }
  absl::StatusOr<v1::UndoChangesReply> Undo(const v1::UndoChangesRequest& request,
                                            CancellationPtr cancellation = nullptr) {
    return Await<v1::UndoChangesReply>(
        [&](auto done) { database_->UndoChanges(request, std::move(done), cancellation); });
  }
  static v1::UndoChangesRequest Stretch(uint64_t from, uint64_t to) {
    v1::UndoChangesRequest request;
    request.set_table_name("Plain");
    request.set_from_sequence(from);
    request.set_to_sequence(to);
    return request;
  }
  std::vector<std::string> Items() { return ScanAll(database_, ScanRequest("Plain")); }

  TemporaryDirectory directory_;
  TestDatabase database_;
};

TEST_F(UndoByArchiveTest, ItemsBecomeWhatTheyWereBefore) {
  Put(1, "old");
  Put(2, "old");
  Put(3, "old");
  const std::vector<std::string> before = Items();
  // The stretch begins inside of a transaction of another table.
  const uint64_t from = PutTwoOthers("new");
  Put(3, "new");
  Put(1, "new");
  Delete(2);
  Put(4, "new");
  const uint64_t to = Put(1, "newer");
  for (const bool dry_run : {true, false}) {
    v1::UndoChangesRequest request = Stretch(from, to);
    request.set_dry_run(dry_run);
    const auto undone = Undo(request);
    ASSERT_TRUE(undone.ok()) << undone.status();
    std::map<v1::UndoOutcome, int> outcomes;
    for (const v1::UndoneItem& item : undone->items()) ++outcomes[item.outcome()];
    EXPECT_EQ(outcomes,
              (std::map<v1::UndoOutcome, int>{{v1::UNDO_OUTCOME_PUT, 3}, {v1::UNDO_OUTCOME_DELETED, 1}}));
  }
  EXPECT_THAT(Items(), UnorderedElementsAreArray(before));
  EXPECT_EQ(ScanAll(database_, ScanRequest("Other")).size(), 2u);
  database_.CheckIsClean();
  // Taking back what was taken back: another commit is restored, while the first one is kept.
  const auto again = Undo(Stretch(to + 1, to + 4));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT(Items(),
              UnorderedElementsAre("pk=p sk=1 state=newer", "pk=p sk=3 state=new", "pk=p sk=4 state=new"));
  database_.CheckIsClean();
}

TEST_F(UndoByArchiveTest, PagesReadOneRestoredDatabase) {
  constexpr int kItems = 1'500;
  for (int i = 0; i < kItems; ++i) Put(i, "old");
  const uint64_t from = Put(0, "new");
  for (int i = 1; i < kItems; ++i) Put(i, "new");
  v1::UndoChangesRequest request = Stretch(from, from + kItems - 1);
  int pages = 0, put = 0;
  for (bool has_more = true; has_more; ++pages) {
    const auto undone = Undo(request);
    ASSERT_TRUE(undone.ok()) << undone.status();
    for (const v1::UndoneItem& item : undone->items()) put += item.outcome() == v1::UNDO_OUTCOME_PUT ? 1 : 0;
    has_more = undone->has_last_evaluated_key();
    *request.mutable_exclusive_start_key() = undone->last_evaluated_key();
  }
  EXPECT_EQ(pages, 2);
  EXPECT_EQ(put, kItems);
  for (const std::string& item : Items()) EXPECT_THAT(item, HasSubstr("state=old"));
  database_.CheckIsClean();
}

// Large items end a page by their bytes, which are known only after they were restored.
TEST_F(UndoByArchiveTest, APageOfLargeItemsEndsEarlier) {
  for (int i = 0; i < 20; ++i) {
    const auto put = database_.Put(
        "Plain", {{"pk", S("p")}, {"sk", S(std::to_string(i))}, {"text", S(std::string(300'000, 'x'))}});
    ASSERT_TRUE(put.ok()) << put.status();
  }
  const uint64_t from = Delete(0);
  uint64_t to = from;
  for (int i = 1; i < 20; ++i) to = Delete(i);
  v1::UndoChangesRequest request = Stretch(from, to);
  int pages = 0;
  for (bool has_more = true; has_more; ++pages) {
    ASSERT_LT(pages, 20);
    const auto undone = Undo(request);
    ASSERT_TRUE(undone.ok()) << undone.status();
    EXPECT_LE(undone->items_size(), 14);
    has_more = undone->has_last_evaluated_key();
    *request.mutable_exclusive_start_key() = undone->last_evaluated_key();
  }
  EXPECT_EQ(pages, 2);
  EXPECT_EQ(Items().size(), 20u);
}

TEST_F(UndoByArchiveTest, ACancelledCallIsRefusedAndALaterOneIsNot) {
  Put(1, "old");
  const uint64_t change = Put(1, "new");
  auto cancelled = std::make_shared<Cancellation>();
  cancelled->Cancel();
  EXPECT_EQ(Undo(Stretch(change, change), cancelled).status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(Undo(Stretch(change, change)).ok());
  EXPECT_THAT(Items(), ElementsAre("pk=p sk=1 state=old"));
}

TEST_F(UndoByArchiveTest, ACallThatWaitsForABackupCanBeCancelled) {
  Put(1, "old");
  const uint64_t change = Put(1, "new");
  const std::filesystem::path backups = directory_.path() + "/backups";
  std::filesystem::remove_all(backups);
  // No backup can be made there.
  std::filesystem::create_directory_symlink("/nowhere/backups", backups);
  const auto begin = std::chrono::steady_clock::now();
  const auto cancelled = std::make_shared<Cancellation>(begin + std::chrono::milliseconds(300));
  const auto undone = Undo(Stretch(change, change), cancelled);
  EXPECT_EQ(undone.status().code(), absl::StatusCode::kDeadlineExceeded) << undone.status();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
}

TEST_F(UndoByArchiveTest, ClosingTheDatabaseLeavesNothingBehind) {
  Put(1, "old");
  const uint64_t change = Put(1, "new");
  ASSERT_TRUE(Undo(Stretch(change, change)).ok());
  const std::filesystem::path folder = directory_.path() + "/data/undo";
  EXPECT_TRUE(std::filesystem::exists(folder)) << "kept for the next page";
  database_.Close();
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// A key that may write one table must not be able to keep the disk busy with the whole database.
TEST_F(UndoByArchiveTest, RestoresOnlySoOften) {
  std::vector<uint64_t> changes;
  for (int i = 0; i < 12; ++i) Put(i, "old");
  for (int i = 0; i < 12; ++i) changes.push_back(Put(i, "new"));
  const auto dry_run = [&](uint64_t change) {
    v1::UndoChangesRequest request = Stretch(change, change);
    request.set_dry_run(true);
    return Undo(request);
  };
  size_t restored = 0;
  absl::Status refused;
  for (; restored < changes.size() && refused.ok(); ++restored) {
    refused = dry_run(changes[restored]).status();
    // The same state is not restored again.
    if (!refused.ok()) continue;
    EXPECT_TRUE(dry_run(changes[restored]).ok());
  }
  EXPECT_EQ(restored, 11u);
  EXPECT_EQ(ReasonOf(refused), storage::kReasonQueueFull);
  EXPECT_THAT(storage::MessageOf(refused), HasSubstr("were restored 10 times in the last hour"));
  EXPECT_THAT(storage::MessageOf(refused), HasSubstr(std::to_string(changes[9] - 1)));
  // What is restored already is not refused.
  EXPECT_TRUE(dry_run(changes[9]).ok());
}

// Cancels when it is told that a restore begins.
class CancelAtRestore : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit CancelAtRestore(std::function<void()> cancel) : cancel_(std::move(cancel)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& line) override {
    if (std::string_view(line.payload.data(), line.payload.size()).starts_with("restoring backup_id"))
      cancel_();
  }
  void flush_() override {}

  const std::function<void()> cancel_;
};

class RestoreStopsTest : public UndoByArchiveTest {
 protected:
  // Puts, and another backup.
  void SetUp() override {
    for (int i = 0; i < 200; ++i) Put(i, std::string(20'000, 'x'), "Other");
    Put(1, "old");
    const auto made = Await<v1::DatabaseBackup>(
        [&](auto done) { database_->CreateDatabaseBackup({}, std::move(done), nullptr); });
    ASSERT_TRUE(made.ok()) << made.status();
  }
  // A log that calls `cancel` when a restore begins.
  static std::shared_ptr<spdlog::logger> Log(std::function<void()> cancel) {
    return std::make_shared<spdlog::logger>("", std::make_shared<CancelAtRestore>(std::move(cancel)));
  }
};

TEST_F(RestoreStopsTest, WithinAFile) {
  Cancellation cancellation;
  storage::RestoreOptions restore;
  restore.backup_directory = directory_.path() + "/backups";
  restore.data_directory = directory_.path() + "/restored";
  restore.encryption_keys = database_.options().encryption_keys;
  restore.log = Log([&] { cancellation.Cancel(); });
  restore.cancellation = &cancellation;
  for (const bool by_archive : {false, true}) {
    restore.archive_directory = by_archive ? directory_.path() + "/archive" : "";
    const absl::Status stopped = storage::RestoreDatabase(restore).status();
    EXPECT_TRUE(absl::IsCancelled(stopped)) << stopped;
    EXPECT_FALSE(std::filesystem::exists(restore.data_directory + "/restoring"));
    EXPECT_FALSE(std::filesystem::exists(restore.data_directory + "/rocksdb"));
  }
  // The directory can be used for another restore.
  restore.cancellation = nullptr;
  const auto restored = storage::RestoreDatabase(restore);
  EXPECT_TRUE(restored.ok()) << restored.status();
}

TEST_F(RestoreStopsTest, WhenTheDatabaseCloses) {
  DatabaseOptions options = database_.options();
  database_.Close();
  std::promise<void> begun;
  std::promise<void> goes_on;
  options.log = Log([&] {
    begun.set_value();
    goes_on.get_future().wait();
  });
  auto database = std::make_unique<TestDatabase>(options);
  const auto put = database->Put("Plain", {{"pk", S("p")}, {"sk", S("1")}, {"state", S("new")}});
  ASSERT_TRUE(put.ok()) << put.status();
  absl::Status answer;
  (*database)->UndoChanges(
      Stretch(put->change_sequence(), put->change_sequence()),
      [&](const absl::StatusOr<v1::UndoChangesReply>& reply) { answer = reply.status(); }, nullptr);
  begun.get_future().wait();
  std::thread closing([&] { database.reset(); });
  // Closing has cancelled the restore by now, or does it while the files are copied.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  goes_on.set_value();
  closing.join();
  EXPECT_TRUE(absl::IsUnavailable(answer)) << answer;
  EXPECT_FALSE(std::filesystem::exists(options.data_directory + "/undo"));
}

}  // namespace
}  // namespace itemdb::testing
