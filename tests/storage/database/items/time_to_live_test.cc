// Time to live: expired items are deleted (SEM-108 to SEM-111, OP-11, OP-12).
#include <atomic>
#include <set>
#include <thread>

#include "itemdb/v1/data.pb.h"
#include "storage/base/limits.h"
#include "tests/storage/database/items/time_to_live.h"
#include "tests/storage/engine/gate_file_system.h"
#include "tests/support/live_index.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr int64_t kClockStart = TestClock::kStart;
constexpr int64_t kYear = int64_t{365} * 24 * 60 * 60;

class TimeToLive : public ::testing::Test {
 protected:
  TimeToLive() { database_.CreateTable(TableRequest("Things")); }
  // Opens the gate, because closing the database waits for the file that is being written.
  void TearDown() override { gate_->Open(); }

  static DatabaseOptions Gated(const std::string& directory, std::shared_ptr<rocksdb::FileSystem> gate) {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory);
    options.file_system = std::move(gate);
    return options;
  }
  absl::Status Enable(const std::string& attribute = "ttl", const std::string& table = "Things") {
    return SetTimeToLive(*database_, table, true, attribute);
  }
  absl::Status Disable(const std::string& attribute = "ttl", const std::string& table = "Things") {
    return SetTimeToLive(*database_, table, false, attribute);
  }
  v1::DescribeTimeToLiveReply State(const std::string& table = "Things") {
    return DescribeTimeToLive(*database_, table);
  }
  void EnableAndAwait(const std::string& attribute = "ttl", const std::string& table = "Things") {
    const absl::Status enabled = Enable(attribute, table);
    ASSERT_TRUE(enabled.ok()) << enabled;
    ASSERT_TRUE(AwaitEnabled(*database_, table));
  }
  void Put(const std::string& sk, const v1::AttributeValue& time, const std::string& table = "Things") {
    auto put = database_.Put(table, {{"pk", S("p")}, {"sk", S(sk)}, {"ttl", time}});
    ASSERT_TRUE(put.ok()) << put.status();
  }
  bool Has(const std::string& sk, const std::string& table = "Things") {
    return database_.Get(table, {{"pk", S("p")}, {"sk", S(sk)}}) != "";
  }
  bool AwaitGone(const std::string& sk, const std::string& table = "Things") {
    return Await([&] { return !Has(sk, table); });
  }
  // Returns when all items are deleted that expire now or earlier.
  void AwaitSweep(const std::string& table = "Things") {
    Put("the last to expire", N(std::to_string(clock_.seconds())), table);
    ASSERT_TRUE(AwaitGone("the last to expire", table));
  }
  std::set<std::string> Left(const std::string& table = "Things") {
    std::set<std::string> left;
    wire::PageRequest request = ScanRequest(table);
    request.set_projection_expression("sk");
    for (const std::string& item : ScanAll(database_, request)) left.insert(item.substr(3));
    return left;
  }

  TestClock clock_;
  TemporaryDirectory directory_;
  // While it is shut, a build stops when its entries are sorted and not yet in the index.
  std::shared_ptr<GateFileSystem> gate_ = std::make_shared<GateFileSystem>(
      rocksdb::FileSystem::Default(),
      [](const std::string& path) { return path.find("/builds/") != std::string::npos; });
  TestDatabase database_{clock_.With(Gated(directory_.path() + "/data", gate_))};
};

TEST_F(TimeToLive, IsANumberOfSecondsThatHasComeNotFiveYearsAgo) {  // SEM-108
  EnableAndAwait();
  clock_.Set(kClockStart - 1);
  Put("whole", At(0));
  Put("fraction", N(std::to_string(kClockStart - 1) + ".999999"));
  Put("fine fraction", N(std::to_string(kClockStart - 1) + ".9999999999999999999999999999"));
  Put("exponent", N("1.9e9"));
  Put("small exponent", N("19000000000e-1"));
  Put("almost five years ago", At(-5 * kYear));
  Put("five years ago", N(std::to_string(kClockStart - 5 * kYear - 1) + ".999"));
  Put("later", N(std::to_string(kClockStart) + ".000001"));
  Put("much later", At(100));
  Put("string", S(std::to_string(kClockStart - 1)));
  Put("bytes", B(std::to_string(kClockStart - 1)));
  Put("zero", N("0"));
  Put("small", N("0.5"));
  Put("before 1970", N("-1899999999"));
  Put("least", N("-9.9999999999999999999999999999999999999E+125"));
  Put("greatest", N("9.9999999999999999999999999999999999999E+125"));
  v1::AttributeValue list;
  *list.mutable_l()->add_values() = At(-1);
  Put("list", list);
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("none")}}).ok());
  clock_.Set(kClockStart);
  AwaitSweep();
  EXPECT_THAT(Left(), ElementsAre("before 1970", "bytes", "five years ago", "greatest", "later", "least",
                                  "list", "much later", "none", "small", "string", "zero"));
  EXPECT_EQ(State().items_with_time(), 8);
  EXPECT_TRUE(AwaitExpired(*database_, "Things", 7));
  database_.CheckIsClean();
}

// Items from before time to live was turned on expire too (SEM-110).
TEST_F(TimeToLive, TakesItemsThatWereThereBeforeWithTheirIndexEntries) {
  v1::CreateTableRequest table = TableRequest("Indexed");
  AddIndex(&table, "ByGroup", {"grp:S"}, 1, v1::PROJECTION_TYPE_ALL);
  AddLocalIndex(&table, "ByRank", "rank:N", v1::PROJECTION_TYPE_ALL);
  table.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES);
  database_.CreateTable(table);
  for (int i = 0; i < 1'000; ++i) {
    auto put = database_.Put("Indexed", {{"pk", S("p" + std::to_string(i % 3))},
                                         {"sk", S(std::to_string(i))},
                                         {"grp", S("g")},
                                         {"rank", N(std::to_string(i))},
                                         {"ttl", i % 2 == 0 ? At(-i) : At(1 + i)}});
    ASSERT_TRUE(put.ok()) << put.status();
  }
  EnableAndAwait("ttl", "Indexed");
  ASSERT_TRUE(Await([&] { return Describe(database_, "Indexed").item_count() == 500; }));
  const v1::TableDescription described = Describe(database_, "Indexed");
  EXPECT_EQ(described.global_secondary_indexes(0).item_count(), 500);
  EXPECT_EQ(described.local_secondary_indexes(0).item_count(), 500);
  EXPECT_EQ(State("Indexed").items_with_time(), 500);
  database_.CheckIsClean();
  clock_.Set(kClockStart + 2'000);
  ASSERT_TRUE(Await([&] { return Describe(database_, "Indexed").item_count() == 0; }));
  EXPECT_EQ(State("Indexed").items_with_time(), 0);
  EXPECT_TRUE(AwaitExpired(*database_, "Indexed", 1'000));
  database_.CheckIsClean();
}

TEST_F(TimeToLive, IsInTheChangeRecordOfADeletion) {  // SEM-102
  v1::CreateTableRequest table = TableRequest("Imaged");
  table.set_stream_view_type(v1::STREAM_VIEW_TYPE_OLD_IMAGE);
  database_.CreateTable(table);
  EnableAndAwait("ttl", "Imaged");
  Put("by hand", At(100), "Imaged");
  ASSERT_TRUE(database_.Delete("Imaged", {{"pk", S("p")}, {"sk", S("by hand")}}).ok());
  Put("expired", At(1), "Imaged");
  clock_.Set(kClockStart + 1);
  ASSERT_TRUE(AwaitGone("expired", "Imaged"));
  std::vector<v1::ChangeRecord> removed;
  for (const v1::ChangeRecord& record : Changes(database_))
    if (record.kind() == v1::CHANGE_KIND_REMOVE) removed.push_back(record);
  ASSERT_THAT(removed, SizeIs(2));
  EXPECT_FALSE(removed[0].expired());
  EXPECT_TRUE(removed[1].expired());
  EXPECT_EQ(Show(removed[1].key()), "pk=p sk=expired");
  EXPECT_EQ(Show(removed[1].old_image()), "pk=p sk=expired ttl=" + std::to_string(kClockStart + 1));
  EXPECT_EQ(removed[1].commit_first_sequence(), removed[1].change_sequence());
  EXPECT_EQ(removed[1].commit_last_sequence(), removed[1].change_sequence());
  EXPECT_EQ(removed[1].commit_time_us(), (kClockStart + 1) * 1'000'000);
}

TEST_F(TimeToLive, CostsNoCapacity) {  // SEM-110
  EnableAndAwait();
  wire::WriteItemRequest request = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}, {"ttl", At(100)}});
  request.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_INDEXES);
  auto put = PutItem(database_, request);
  ASSERT_TRUE(put.ok()) << put.status();
  EXPECT_EQ(put->consumed_capacity().capacity_units(), 1);
  EXPECT_EQ(put->consumed_capacity().global_secondary_indexes_size(), 0);
  EXPECT_EQ(put->consumed_capacity().local_secondary_indexes_size(), 0);
}

TEST_F(TimeToLive, MayBeAKeyAttribute) {  // SEM-110
  v1::CreateTableRequest table = TableRequest("Timed", /*sorted=*/false);
  table.mutable_attribute_definitions()->Add()->set_attribute_name("at");
  table.mutable_attribute_definitions(1)->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_N);
  auto* key = table.add_key_schema();
  key->set_attribute_name("at");
  key->set_key_type(v1::KEY_TYPE_RANGE);
  AddIndex(&table, "ByTime", {"at:N"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
  database_.CreateTable(table);
  for (int i = -3; i < 3; ++i) ASSERT_TRUE(database_.Put("Timed", {{"pk", S("p")}, {"at", At(i)}}).ok());
  EnableAndAwait("at", "Timed");
  ASSERT_TRUE(Await([&] { return Describe(database_, "Timed").item_count() == 2; }));
  EXPECT_THAT(ScanAll(database_, ScanRequest("Timed")),
              ElementsAre("at=1900000001 pk=p", "at=1900000002 pk=p"));
  database_.CheckIsClean();
  // A string is not a time, so no item expires.
  EnableAndAwait("pk", "Things");
  Put("s", At(-1));
  EXPECT_EQ(State().items_with_time(), 0);
}

TEST_F(TimeToLive, LeavesExpiredItemsReadableAndWritableUntilTheyGo) {  // SEM-109
  Put("read", At(-10));
  Put("extended", At(-10));
  Put("not any more", At(-10));
  gate_->Shut();
  ASSERT_TRUE(Enable().ok());
  gate_->AwaitWaiting();
  EXPECT_EQ(State().time_to_live_status(), v1::TIME_TO_LIVE_STATUS_ENABLING);
  EXPECT_EQ(State().attribute_name(), "ttl");
  EXPECT_EQ(State().build().phase(), v1::IndexBuild::PHASE_WRITING);
  EXPECT_TRUE(Has("read"));
  EXPECT_THAT(Left(), SizeIs(3));
  auto update = [&](const std::string& sk, const std::string& expression, Attributes values) {
    auto updated =
        database_.Update(UpdateRequest("Things", {{"pk", S("p")}, {"sk", S(sk)}}, expression, values));
    EXPECT_TRUE(updated.ok()) << updated.status();
  };
  update("extended", "SET more = :m", {{":m", N("1")}});
  auto extend =
      UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("extended")}}, "SET #t = :t", {{":t", At(10)}});
  SetName(&extend, "#t", "ttl");
  ASSERT_TRUE(database_.Update(extend).ok());
  auto remove = UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("not any more")}}, "REMOVE #t");
  SetName(&remove, "#t", "ttl");
  ASSERT_TRUE(database_.Update(remove).ok());
  gate_->Open();
  ASSERT_TRUE(AwaitEnabled(*database_, "Things"));
  ASSERT_TRUE(AwaitGone("read"));
  AwaitSweep();
  EXPECT_THAT(Left(), ElementsAre("extended", "not any more"));
  EXPECT_EQ(State().items_with_time(), 1);
  database_.CheckIsClean();
}

// Writers extend items just when they expire: no extended item may be deleted.
TEST_F(TimeToLive, DeletesNoItemThatWasGivenMoreTime) {
  constexpr int kItems = 600;
  constexpr int kWriters = 3;
  EnableAndAwait();
  for (int i = 0; i < kItems; ++i) Put(std::to_string(i), At(1 + i % 3));
  std::vector<std::set<std::string>> extended(kWriters);
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = writer; i < kItems; i += kWriters) {
        const std::string sk = std::to_string(i);
        auto request =
            If(UpdateRequest("Things", {{"pk", S("p")}, {"sk", S(sk)}}, "SET #t = :t", {{":t", At(1'000)}}),
               "attribute_exists(pk)");
        SetName(&request, "#t", "ttl");
        auto updated = database_.Update(request);
        ASSERT_TRUE(updated.ok()) << updated.status();
        if (updated->has_result()) extended[writer].insert(sk);
        if (i >= kItems / 4) clock_.Set(kClockStart + 1 + i * 3 / kItems);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  clock_.Set(kClockStart + 4);
  AwaitSweep();
  std::set<std::string> all;
  for (const auto& some : extended) all.insert(some.begin(), some.end());
  EXPECT_EQ(Left(), all);
  EXPECT_EQ(State().items_with_time(), static_cast<int64_t>(all.size()));
  database_.CheckIsClean();
}

TEST_F(TimeToLive, GoesByTheClockWhicheverWayItIsSet) {
  EnableAndAwait();
  Put("soon", At(10));
  Put("later", At(20));
  Put("six years ago", At(-6 * kYear));
  clock_.Set(kClockStart + 10);
  ASSERT_TRUE(AwaitGone("soon"));
  // The clock goes back: items that had not expired expire even later.
  clock_.Set(kClockStart - 100);
  Put("soon", At(-50));
  AwaitSweep();
  EXPECT_THAT(Left(), ElementsAre("later", "six years ago", "soon"));
  // Far back: an item whose time was more than five years ago is now only expired.
  clock_.Set(kClockStart - 2 * kYear);
  ASSERT_TRUE(AwaitGone("six years ago"));
  AwaitSweep();
  EXPECT_THAT(Left(), ElementsAre("later", "soon"));
  // Far ahead: the time of the remaining items is now more than five years ago.
  clock_.Set(kClockStart + 6 * kYear);
  AwaitSweep();
  EXPECT_THAT(Left(), ElementsAre("later", "soon"));
  // Back again: commit times do not go back, but times to live are compared with the clock.
  clock_.Set(kClockStart - 50);
  ASSERT_TRUE(AwaitGone("soon"));
  AwaitSweep();
  EXPECT_THAT(Left(), ElementsAre("later"));
  clock_.Set(kClockStart + 20);
  ASSERT_TRUE(AwaitGone("later"));
  database_.CheckIsClean();
}

// The clock counts when a deletion is applied, not when it is submitted.
TEST_F(TimeToLive, GoesByTheClockThatIsSetBackBeforeADeletionsTurn) {
  constexpr int64_t kPadding = 10'000;
  auto log_gate = std::make_shared<GateFileSystem>(
      rocksdb::FileSystem::Default(), [](const std::string& path) { return path.ends_with(".log"); });
  TestDatabase database(clock_.With(Gated(directory_.path() + "/log-gated", log_gate)));
  database.CreateTable(TableRequest("Things"));
  ASSERT_TRUE(SetTimeToLive(*database, "Things", true).ok());
  ASSERT_TRUE(AwaitEnabled(*database, "Things"));
  auto put = [&](const std::string& sk, int64_t time) {
    auto reply = database.Put(
        "Things",
        {{"pk", S("p")}, {"sk", S(sk)}, {"padding", S(std::string(kPadding, 'x'))}, {"ttl", At(time)}});
    EXPECT_TRUE(reply.ok()) << reply.status();
  };
  auto has = [&](const std::string& sk) {
    return database.Get("Things", {{"pk", S("p")}, {"sk", S(sk)}}) != "";
  };
  put("item", 10);
  log_gate->Shut();
  std::thread writer([&] { put("other", 100); });
  log_gate->AwaitWaiting();
  clock_.Set(kClockStart + 10);
  const bool queued = Await([&] { return database->GetStatus().memory().write_queue() >= kPadding; });
  clock_.Set(kClockStart + 5);
  log_gate->Open();
  writer.join();
  EXPECT_TRUE(queued) << "the deletion waits for its turn";
  put("later", 200);  // Submitted after the deletion.
  EXPECT_TRUE(has("item"));
  clock_.Set(kClockStart + 10);
  EXPECT_TRUE(Await([&] { return !has("item"); }));
  EXPECT_TRUE(has("other"));
  EXPECT_TRUE(has("later"));
  database.CheckIsClean();
}

TEST_F(TimeToLive, SweepsEveryTable) {
  database_.CreateTable(TableRequest("Others"));
  EnableAndAwait();
  EnableAndAwait("ttl", "Others");
  for (int i = 0; i < 700; ++i) {
    Put(std::to_string(i), At(i % 2), "Things");
    Put(std::to_string(i), At(i % 5), "Others");
  }
  clock_.Set(kClockStart + 4);
  ASSERT_TRUE(Await([&] { return Left().empty() && Left("Others").empty(); }));
  EXPECT_TRUE(AwaitExpired(*database_, "Others", 700));
  database_.CheckIsClean();
}

TEST_F(TimeToLive, IsTurnedOnAndOffByItsRules) {  // SEM-009, SEM-111
  EXPECT_EQ(State().time_to_live_status(), v1::TIME_TO_LIVE_STATUS_DISABLED);
  EXPECT_THAT(Disable(), IsInvalid("TimeToLive is already disabled"));
  EXPECT_THAT(Enable(""), IsInvalid("AttributeName of TimeToLiveSpecification must be 1 to 255 bytes long"));
  EXPECT_THAT(Enable(std::string(256, 'a')), IsInvalid("this one has 256"));
  EXPECT_THAT(Enable("ttl", "Nothing"), IsTableNotFound());
  EXPECT_EQ(RuleOf(Disable()), "SEM-111");
  EnableAndAwait();
  EXPECT_THAT(Enable(), IsInvalid("TimeToLive is already enabled"));
  const std::string other = "TimeToLive is active on a different AttributeName: current AttributeName is ttl";
  EXPECT_THAT(Enable("other"), IsInvalid(other));
  EXPECT_THAT(Disable("other"), IsInvalid(other));
  EXPECT_TRUE(Disable("ttl", "arn:aws:dynamodb:local:000000000000:table/Things").ok());
  EXPECT_EQ(State().time_to_live_status(), v1::TIME_TO_LIVE_STATUS_DISABLED);
  EXPECT_EQ(State().attribute_name(), "");
  Put("s", At(-1));
  EnableAndAwait(std::string(255, 'a'));
  EXPECT_TRUE(Has("s")) << "the attribute that counts is another one";
  EXPECT_TRUE(Disable(std::string(255, 'a')).ok());
  EnableAndAwait();
  EXPECT_TRUE(AwaitGone("s"));
  database_.CheckIsClean();
  database_.Reopen();
  EXPECT_EQ(State().time_to_live_status(), v1::TIME_TO_LIVE_STATUS_ENABLED);
  database_.CheckIsClean();
}

TEST_F(TimeToLive, CanBeChangedOnlySoOftenWhenThatIsAskedFor) {  // SEM-111
  DatabaseOptions options = database_.options();
  options.time_to_live_wait = std::chrono::hours(1);
  options.data_directory = directory_.path() + "/waits";
  TestDatabase waits(options);
  waits.CreateTable(TableRequest("Things"));
  ASSERT_TRUE(SetTimeToLive(*waits, "Things", true).ok());
  const std::string too_soon = "Time to live has been modified multiple times within a fixed interval";
  EXPECT_THAT(SetTimeToLive(*waits, "Things", false), IsInvalid(too_soon));
  clock_.Set(kClockStart + 3'599);
  EXPECT_THAT(SetTimeToLive(*waits, "Things", false), IsInvalid(too_soon));
  waits.Reopen();
  EXPECT_THAT(SetTimeToLive(*waits, "Things", false), IsInvalid(too_soon));
  clock_.Set(kClockStart + 3'600);
  EXPECT_TRUE(SetTimeToLive(*waits, "Things", false).ok());
  EXPECT_THAT(SetTimeToLive(*waits, "Things", true), IsInvalid(too_soon));
  clock_.Set(kClockStart);
  EXPECT_TRUE(SetTimeToLive(*waits, "Things", true).ok()) << "a clock that was set back does not lengthen it";
}

TEST_F(TimeToLive, CanBeTurnedOffWhileItIsBeingTurnedOn) {
  Put("s", At(-1));
  gate_->Shut();
  ASSERT_TRUE(Enable().ok());
  gate_->AwaitWaiting();
  EXPECT_THAT(Enable(), IsInvalid("TimeToLive is already enabled"));
  ASSERT_TRUE(Disable().ok());
  EXPECT_EQ(State().time_to_live_status(), v1::TIME_TO_LIVE_STATUS_DISABLED);
  gate_->Open();
  EnableAndAwait("other");
  EXPECT_TRUE(Has("s"));
  database_.CheckIsClean();
}

// Items that are written while the existing items are read are not lost, and do not hold it up.
TEST_F(TimeToLive, IsTurnedOnWhileItemsWithATimeAreWritten) {
  constexpr int kItems = 1'000;
  for (int i = 0; i < kItems; ++i) Put(std::to_string(i), At(1'000));
  std::atomic<bool> stop = false;
  std::atomic<int> written = 0;
  std::thread writer([&] {
    while (!stop) Put(std::to_string(written++ % kItems), At(1'000 + written % 7));
  });
  while (written == 0) std::this_thread::yield();
  EXPECT_TRUE(Enable().ok());
  EXPECT_TRUE(AwaitEnabled(*database_, "Things"));
  stop = true;
  writer.join();
  EXPECT_EQ(State().items_with_time(), kItems);
  database_.CheckIsClean();
}

// Other indexes of the table are created and deleted at the same time, one after another.
TEST_F(TimeToLive, IsTurnedOnBesideIndexesThatAreCreated) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(database_
                    .Put("Things", {{"pk", S("p")},
                                    {"sk", S(std::to_string(i))},
                                    {"grp", S("g")},
                                    {"ttl", At(i < 10 ? 0 : 100)}})
                    .ok());
  }
  gate_->Shut();
  ASSERT_TRUE(UpdateTable(*database_, CreateIndexRequest("Things", "ByGroup", {"grp:S"}, 1)).ok());
  gate_->AwaitWaiting();
  ASSERT_TRUE(Enable().ok());
  EXPECT_EQ(State().build().phase(), v1::IndexBuild::PHASE_WAITING);
  EXPECT_EQ(Describe(database_, "Things").table_status(), v1::TABLE_STATUS_UPDATING);
  gate_->Open();
  ASSERT_TRUE(AwaitEnabled(*database_, "Things"));
  ASSERT_TRUE(Await([&] { return Describe(database_, "Things").item_count() == 10; }));
  gate_->Shut();
  ASSERT_TRUE(Disable().ok());
  ASSERT_TRUE(Enable().ok());
  gate_->AwaitWaiting();
  EXPECT_EQ(Describe(database_, "Things").table_status(), v1::TABLE_STATUS_ACTIVE);
  ASSERT_TRUE(UpdateTable(*database_, CreateIndexRequest("Things", "Other", {"grp:S"}, 1)).ok());
  ASSERT_TRUE(UpdateTable(*database_, DeleteIndexRequest("Things", "Other")).ok());
  gate_->Open();
  ASSERT_TRUE(AwaitEnabled(*database_, "Things"));
  AwaitIndexes(*database_, "Things");
  EXPECT_EQ(Describe(database_, "Things").global_secondary_indexes(0).item_count(), 10);
  database_.CheckIsClean();
}

TEST_F(TimeToLive, GoesWithItsTable) {
  Put("s", At(100));
  EnableAndAwait();
  ASSERT_TRUE(DeleteTable(database_, "Things").ok());
  database_.CreateTable(TableRequest("Things"));
  Put("s", At(-1));
  EXPECT_EQ(State().time_to_live_status(), v1::TIME_TO_LIVE_STATUS_DISABLED);
  EXPECT_EQ(State().items_expired(), 0);
  gate_->Shut();
  ASSERT_TRUE(Enable().ok());
  gate_->AwaitWaiting();
  ASSERT_TRUE(DeleteTable(database_, "Things").ok());
  gate_->Open();
  database_.CreateTable(TableRequest("Things"));
  database_.CheckIsClean();
  database_.Reopen();
  database_.CheckIsClean();
}

// The index behind time to live is invisible to users.
TEST_F(TimeToLive, IsNoIndexToUsers) {
  v1::CreateTableRequest table = TableRequest("Full");
  for (int i = 0; i < kMaxGlobalSecondaryIndexes; ++i)
    AddIndex(&table, "Index" + std::to_string(i), {"grp:S"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
  database_.CreateTable(table);
  EnableAndAwait("ttl", "Full");
  const v1::TableDescription described = Describe(database_, "Full");
  EXPECT_EQ(described.global_secondary_indexes_size(), kMaxGlobalSecondaryIndexes);
  EXPECT_FALSE(described.has_time_to_live());
  EXPECT_EQ(described.attribute_definitions_size(), 3);
  const v1::GetStatusReply status = StatusWithTables(*database_);
  EXPECT_EQ(status.tables(0).index_count(), kMaxGlobalSecondaryIndexes);
  wire::PageRequest scan = ScanRequest("Full");
  scan.set_index_name("time to live");
  EXPECT_THAT(database_.Scan(scan).status(), IsInvalid("does not have the specified index"));
  v1::CheckDatabaseRequest check;
  check.set_table_name("Full");
  check.set_index_name("time to live");
  auto checked =
      Await<v1::CheckDatabaseReply>([&](auto done) { database_->CheckDatabase(check, std::move(done)); });
  EXPECT_THAT(checked.status(), IsInvalid("does not have the specified index"));
  v1::UpdateTableRequest update;
  update.set_table_name("Full");
  update.set_deletion_protection_enabled(true);
  auto updated = UpdateTable(*database_, update);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_FALSE(updated->table().has_time_to_live());
  EXPECT_TRUE(AwaitEnabled(*database_, "Full"));
  // Elements inside the attribute may be updated, unlike those inside an index key attribute (SEM-071).
  EnableAndAwait();
  v1::AttributeValue map;
  auto* attribute = map.mutable_m()->add_attributes();
  attribute->set_name("a");
  *attribute->mutable_value() = N("1");
  Put("map", map);
  auto nested =
      UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("map")}}, "SET #t.a = :n", {{":n", N("2")}});
  SetName(&nested, "#t", "ttl");
  EXPECT_TRUE(database_.Update(nested).ok());
}

}  // namespace
}  // namespace itemdb::testing
