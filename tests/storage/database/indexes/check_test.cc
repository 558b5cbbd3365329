// CheckDatabase finds derived data that differs from the items. Its report and its resources are bounded. A
// repair corrects what it finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "storage/base/limits.h"
#include "storage/commit/request_tokens.h"
#include "storage/engine/engine.h"
#include "storage/engine/recovery.h"
#include "storage/indexes/check.h"
#include "storage/indexes/findings.h"
#include "storage/indexes/repair.h"
#include "storage/store/catalog_records.h"
#include "storage/store/size_statistics.h"
#include "storage/values/stored_record.h"
#include "tests/storage/database/indexes/damage.h"

namespace itemdb::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class CheckTest : public Damage {
 protected:
  absl::StatusOr<v1::CheckDatabaseReply> Check(const std::string& table_name = "") {
    v1::CheckDatabaseRequest request;
    request.set_table_name(table_name);
    return Await<v1::CheckDatabaseReply>(
        [&](auto done) { database_->CheckDatabase(request, std::move(done)); });
  }

  void PutWithToken(const std::string& sk, const std::string& token) {
    wire::WriteItemRequest request;
    request.set_table_name("Things");
    request.set_key_or_item(Encode({{"pk", S("p")}, {"sk", S(sk)}}));
    request.set_client_request_token(token);
    auto put = Await<wire::WriteItemReply>([&](auto done) { database_->PutItem(request, std::move(done)); });
    ASSERT_TRUE(put.ok()) << put.status();
  }

  void RemoveAll(uint64_t storage_id, Families& families) {
    for (const auto& [key, record] : families.All(storage_id)) families.Delete(storage_id, key);
  }
};

TEST_F(CheckTest, OfOneTableLooksAtNoOther) {
  v1::CreateTableRequest other = TableRequest("Others");
  AddIndex(&other, "ByStatus", {"status:S"}, 1, v1::PROJECTION_TYPE_ALL);
  database_.CreateTable(other);
  ASSERT_TRUE(database_.Put("Others", {{"pk", S("p")}, {"sk", S("s")}, {"status", S("x")}}).ok());
  DamageDatabase([&](Families& families) { RemoveAll(index_, families); });
  auto things = Check("Things");
  ASSERT_TRUE(things.ok()) << things.status();
  EXPECT_EQ(things->items_checked(), 3);
  EXPECT_EQ(things->finding_count(), 4) << "three entries and their number";
  EXPECT_THAT(things->findings(), Each(HasSubstr("Things")));
  auto others = Check("Others");
  ASSERT_TRUE(others.ok()) << others.status();
  EXPECT_EQ(others->items_checked(), 1);
  EXPECT_EQ(others->finding_count(), 0);
  EXPECT_EQ(Check("Nobody").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(CheckTest, NamesAHundredFindingsAndCountsThemAll) {
  for (int i = 0; i < 150; ++i)
    ASSERT_TRUE(
        database_.Put("Things", {{"pk", S("q")}, {"sk", S(std::to_string(i))}, {"status", S("x")}}).ok());
  DamageDatabase([&](Families& families) { RemoveAll(index_, families); });
  auto reply = Check();
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->findings_size(), kMaxFindings);
  EXPECT_EQ(reply->finding_count(), 154) << "153 entries and their number";
}

TEST_F(CheckTest, FindsEntriesThatDoNotDecode) {
  DamageDatabase([&](Families& families) {
    const auto entry = *families.All(index_).begin();
    std::string record = entry.second;
    record.back() ^= 1;
    families.Put(index_, entry.first, record);
  });
  EXPECT_THAT(Findings(), Contains(AllOf(HasSubstr("index ByStatus"), HasSubstr("does not decode"))));
}

// Its record, its size and its entries are right, but it is not what was written last.
TEST_F(CheckTest, FindsAnItemThatIsAnOlderVersion) {
  Records before;
  DamageDatabase([&](Families& families) { before = RecordsIn(families); });
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("b")}, {"status", S("shut")}}).ok());
  EXPECT_THAT(Findings(), IsEmpty());
  DamageDatabase([&](Families& families) { PutBack(before, families); });
  const auto is_not_as_written = [](const std::string& owner) {
    return AllOf(HasSubstr(owner + ": counted 3 items of "), HasSubstr("is not as it was written"));
  };
  EXPECT_THAT(Findings(), UnorderedElementsAre(is_not_as_written("index ByStatus of table Things"),
                                               is_not_as_written("table Things")));
}

TEST_F(CheckTest, ComparesNoContentSumThatAnEarlierVersionLeftOut) {
  DamageDatabase([&](Families& families) { LeaveOutContentSums(families); });
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("b")}, {"status", S("shut")}}).ok());
  EXPECT_THAT(Findings(), IsEmpty());
}

// A token that never expires would fill the disk; after a loss a write could be applied twice (SEM-050).
TEST_F(CheckTest, FindsWhatIsWrongWithRequestTokens) {
  PutWithToken("1", "first");
  PutWithToken("2", "second");
  PutWithToken("3", "third");
  EXPECT_THAT(Findings(), IsEmpty());
  DamageDatabase([](Families& families) {
    for (const auto& [key, record] : families.All("requests")) {
      if (key.starts_with('e') && key.ends_with("first")) families.Delete("requests", key);
      if (key == RequestKey("second")) families.Put("requests", key, record + "x");
    }
  });
  EXPECT_THAT(Findings(), UnorderedElementsAre(HasSubstr("would never expire"), HasSubstr("does not decode"),
                                               HasSubstr("there are 3 tokens, but 2 expire"),
                                               AllOf(HasSubstr("client request tokens: counted 3 of "),
                                                     HasSubstr("recorded are 3 of "))));
}

TEST_F(CheckTest, FindsThatTokensAreMissing) {  // SEM-050
  PutWithToken("1", "first");
  PutWithToken("2", "second");
  DamageDatabase([](Families& families) {
    for (const auto& [key, record] : families.All("requests")) {
      if (key.ends_with("first")) families.Delete("requests", key);
    }
  });
  EXPECT_THAT(Findings(), UnorderedElementsAre(AllOf(HasSubstr("client request tokens: counted 1 of "),
                                                     HasSubstr("recorded are 2 of "))));
}

TEST_F(CheckTest, FindsThatTheRunsOfATablesChangesAreMissing) {
  DamageDatabase(
      [](Families& families) { families.Delete("table_runs", families.All("table_runs").begin()->first); });
  EXPECT_THAT(Findings(), UnorderedElementsAre(AllOf(HasSubstr("change log: it has "),
                                                     HasSubstr("of the table with the storage id "))));
}

// A wrong size, a record that does not decode, and the size of a collection without items (SEM-092).
TEST_F(CheckTest, FindsSizesOfItemCollectionsThatAreWrong) {
  v1::CreateTableRequest local = TableRequest("Local");
  AddLocalIndex(&local, "ByRank", "rate:N", v1::PROJECTION_TYPE_KEYS_ONLY);
  database_.CreateTable(local);
  for (const char* pk : {"a", "b", "c"})
    ASSERT_TRUE(database_.Put("Local", {{"pk", S(pk)}, {"sk", S("s")}, {"rate", N("1")}}).ok());
  EXPECT_THAT(Findings(), IsEmpty());
  DamageDatabase([](Families& families) {
    std::vector<std::pair<std::string, std::string>> records;
    for (const auto& record : families.All("stats"))
      if (record.first.starts_with(kCollectionKeyPrefix)) records.push_back(record);
    ASSERT_THAT(records, SizeIs(3));
    const uint64_t storage_id = *ParseStorageIdKey(records[0].first.substr(1, 8));
    families.Put("stats", records[0].first, EncodeStatistics(storage_id, records[0].first, {9, 9}));
    std::string damaged = records[1].second;
    damaged.back() ^= 1;
    families.Put("stats", records[1].first, damaged);
    std::string nobody = records[2].first;
    nobody.replace(nobody.find('c', 9), 1, "z");
    families.Put("stats", nobody, EncodeStatistics(storage_id, nobody, {1, 1}));
  });
  EXPECT_THAT(Findings(),
              AllOf(SizeIs(3), Each(AllOf(HasSubstr("table Local: the record of an item collection"),
                                          HasSubstr("is wrong: counted ")))));
}

// More entries than one commit of a repair holds.
TEST_F(CheckTest, ARebuildPutsThousandsOfEntriesRight) {
  for (int i = 0; i < 1'050; ++i)
    ASSERT_TRUE(
        database_.Put("Things", {{"pk", S("q")}, {"sk", S(std::to_string(i))}, {"status", S("x")}}).ok());
  DamageDatabase([&](Families& families) {
    RemoveAll(index_, families);
    families.Put("catalog", kNeedsRebuildKey, EncodeCatalogNumber(kNeedsRebuildKey, 1));
  });
  database_.CheckIsClean();
  DamageDatabase([&](Families& families) {
    EXPECT_THAT(families.All(index_), SizeIs(1'053));
    EXPECT_FALSE(families.All("catalog").contains(kNeedsRebuildKey));
  });
}

class RepairTest : public CheckTest {
 protected:
  absl::StatusOr<v1::CheckDatabaseReply> Repair(const std::string& table = "",
                                                const std::string& index = "") {
    v1::CheckDatabaseRequest request;
    request.set_table_name(table);
    request.set_index_name(index);
    request.set_repair(true);
    return Await<v1::CheckDatabaseReply>(
        [&](auto done) { database_->CheckDatabase(request, std::move(done)); });
  }
  void ExpectRepaired(int64_t findings) {
    auto repaired = Repair();
    ASSERT_TRUE(repaired.ok()) << repaired.status();
    EXPECT_EQ(repaired->finding_count(), findings) << repaired->DebugString();
    EXPECT_EQ(repaired->repaired_count(), findings);
    database_.CheckIsClean();
    database_.Reopen();
    database_.CheckIsClean();
  }
};

TEST_F(RepairTest, PutsMissingStaleStrayAndDamagedEntriesRight) {
  DamageDatabase([&](Families& families) { families.Put(index_, PlantWrongEntries(families), "damaged"); });
  // One entry missing, one stale, one damaged and therefore also missing, one stray, one damaged; statistics.
  ExpectRepaired(7);
}

TEST_F(RepairTest, PutsCountersRight) {
  DamageDatabase([&](Families& families) {
    for (uint64_t id : {table_, index_})
      families.Put("stats", StatisticsKey(id), EncodeStatistics(id, StatisticsKey(id), {99, 7}));
  });
  ExpectRepaired(2);
}

TEST_F(RepairTest, PutsContentSumsRightAndCompletesThem) {
  Records before;
  DamageDatabase([&](Families& families) { before = RecordsIn(families); });
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("b")}, {"status", S("shut")}}).ok());
  DamageDatabase([&](Families& families) { PutBack(before, families); });
  ExpectRepaired(2);

  DamageDatabase([&](Families& families) { LeaveOutContentSums(families); });
  ExpectRepaired(0);
  DamageDatabase([&](Families& families) { ExpectWholeContentSums(families); });
}

// Such as a check with repair and the background check.
TEST_F(RepairTest, TwoThatCompleteAContentSumAtOnceCompleteItOnce) {
  DamageDatabase([&](Families& families) { LeaveOutContentSums(families); });
  database_.Close();
  {
    auto engine = Engine::Open(database_.options());
    ASSERT_TRUE(engine.ok()) << engine.status();
    auto view = (*engine)->View();
    ASSERT_TRUE(view.ok()) << view.status();
    const std::shared_ptr<const Table> table = (*view)->catalog().FindByName("Things");
    ASSERT_NE(table, nullptr);
    storage::Repair first(**engine, **view, *table), second(**engine, **view, *table);
    for (storage::Repair* repair : {&first, &second}) {
      v1::CheckDatabaseReply reply;
      storage::Findings findings(&reply);
      storage::Checked checked;
      const absl::Status compared = CompareTable({**engine, **view, nullptr}, *table, /*only_index=*/nullptr,
                                                 Repairing(findings.Report(*table), *repair), &checked);
      ASSERT_TRUE(compared.ok()) << compared;
    }
    EXPECT_TRUE(first.Finish().ok());
    EXPECT_TRUE(second.Finish().ok());
  }
  database_.Reopen();
  database_.CheckIsClean();
  DamageDatabase([&](Families& families) { ExpectWholeContentSums(families); });
}

TEST_F(RepairTest, PutsSizesOfItemCollectionsRight) {  // SEM-092
  v1::CreateTableRequest local = TableRequest("Local");
  AddLocalIndex(&local, "ByRank", "rate:N", v1::PROJECTION_TYPE_KEYS_ONLY);
  database_.CreateTable(local);
  for (const char* pk : {"a", "b", "c", "d"})
    ASSERT_TRUE(database_.Put("Local", {{"pk", S(pk)}, {"sk", S("s")}, {"rate", N("1")}}).ok());
  DamageDatabase([](Families& families) {
    std::vector<std::pair<std::string, std::string>> records;
    for (const auto& record : families.All("stats"))
      if (record.first.starts_with(kCollectionKeyPrefix)) records.push_back(record);
    ASSERT_THAT(records, SizeIs(4));
    const uint64_t storage_id = *ParseStorageIdKey(records[0].first.substr(1, 8));
    families.Put("stats", records[0].first, EncodeStatistics(storage_id, records[0].first, {9, 9}));
    families.Put("stats", records[1].first, "damaged");
    families.Delete("stats", records[2].first);
    std::string nobody = records[3].first;
    nobody.replace(nobody.find('d', 9), 1, "z");
    families.Put("stats", nobody, EncodeStatistics(storage_id, nobody, {1, 1}));
  });
  ExpectRepaired(4);
}

TEST_F(RepairTest, OfOneIndexLeavesTheRest) {
  v1::CreateTableRequest other = TableRequest("Others");
  AddIndex(&other, "ByStatus", {"status:S"}, 1, v1::PROJECTION_TYPE_ALL);
  AddIndex(&other, "ByName", {"name:S"}, 1, v1::PROJECTION_TYPE_ALL);
  database_.CreateTable(other);
  const auto put =
      database_.Put("Others", {{"pk", S("p")}, {"sk", S("s")}, {"status", S("x")}, {"name", S("n")}});
  ASSERT_TRUE(put.ok());
  v1::DescribeTableRequest describe;
  describe.set_table_name("Others");
  const auto described = database_->DescribeTable(describe);
  ASSERT_TRUE(described.ok());
  DamageDatabase([&](Families& families) {
    for (const auto& index : described->table().global_secondary_indexes())
      RemoveAll(index.storage_id(), families);
  });
  auto repaired = Repair("Others", "ByName");
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  EXPECT_EQ(repaired->finding_count(), 2) << "the entry and their number";
  EXPECT_EQ(repaired->repaired_count(), 2);
  EXPECT_EQ(repaired->change_records_checked(), 0);
  EXPECT_THAT(Findings(), AllOf(SizeIs(2), Each(HasSubstr("index ByStatus of table Others"))));
  EXPECT_EQ(Repair("", "ByName").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Repair("Others", "Nothing").status().code(), absl::StatusCode::kInvalidArgument);
}

// An item collection counts the entries of all local indexes; a check of one index reads only that one.
TEST_F(RepairTest, OfOneIndexLeavesItemCollections) {  // SEM-092
  v1::CreateTableRequest table = TableRequest("Collections");
  AddIndex(&table, "ByStatus", {"status:S"}, 1, v1::PROJECTION_TYPE_ALL);
  AddLocalIndex(&table, "ByRate", "rate:N", v1::PROJECTION_TYPE_ALL);
  database_.CreateTable(table);
  for (const char* pk : {"a", "b", "c"}) {
    const auto put =
        database_.Put("Collections", {{"pk", S(pk)}, {"sk", S("s")}, {"status", S("x")}, {"rate", N("1")}});
    ASSERT_TRUE(put.ok()) << put.status();
  }
  const auto repaired = Repair("Collections", "ByStatus");
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  EXPECT_EQ(repaired->finding_count(), 0);
  database_.CheckIsClean();
}

// Items cannot be computed from other data, so a repair reports a damaged item and leaves it.
TEST_F(RepairTest, LeavesDamagedItemsAndTheirEntries) {
  DamageDatabase(
      [&](Families& families) { families.Put(table_, families.All(table_).begin()->first, "damaged"); });
  auto repaired = Repair();
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  EXPECT_EQ(repaired->finding_count(), 3) << "the item, its entry, the number of items";
  EXPECT_EQ(repaired->repaired_count(), 1);
  DamageDatabase([&](Families& families) { EXPECT_THAT(families.All(index_), SizeIs(3)); });
}

// A repair does not undo a write that comes between its reading and its correction.
TEST_F(RepairTest, GoesOnBesideWrites) {
  for (int i = 0; i < 300; ++i)
    ASSERT_TRUE(
        database_.Put("Things", {{"pk", S("q")}, {"sk", S(std::to_string(i))}, {"status", S("x")}}).ok());
  for (int round = 0; round < 5; ++round) {
    DamageDatabase([&](Families& families) { RemoveAll(index_, families); });
    std::atomic<bool> stop = false;
    std::thread writer([&] {
      for (int i = 0; !stop; ++i) {
        const v1::AttributeValue sk = S(std::to_string(i % 300));
        if (i % 3 == 0) {
          ASSERT_TRUE(database_.Delete("Things", {{"pk", S("q")}, {"sk", sk}}).ok());
        } else {
          ASSERT_TRUE(
              database_.Put("Things", {{"pk", S("q")}, {"sk", sk}, {"status", S(std::to_string(i))}}).ok());
        }
      }
    });
    auto repaired = Repair();
    stop = true;
    writer.join();
    ASSERT_TRUE(repaired.ok()) << repaired.status();
    EXPECT_EQ(repaired->repaired_count(), repaired->finding_count());
    database_.CheckIsClean();
  }
}

class CheckOfAnEngine : public ::testing::Test {
 protected:
  void SetUp() override {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory_.path());
    options.io_threads = 1;
    auto engine = Engine::Open(std::move(options));
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
  }
  absl::StatusOr<v1::CheckDatabaseReply> Check() {
    return Await<v1::CheckDatabaseReply>(
        [&](auto done) { CheckDatabase(*engine_, v1::CheckDatabaseRequest(), std::move(done), nullptr); });
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(CheckOfAnEngine, RunsAloneOnly) {
  ASSERT_TRUE(engine_->TryBeginCheck());
  const absl::Status refused = Check().status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(refused), kReasonLimitExceeded);
  EXPECT_EQ(MessageOf(refused), "another check is running; try again when it is done");
  engine_->EndCheck();
  EXPECT_TRUE(Check().ok());
}

// Only records of tables and indexes count, and a record that is read twice counts twice.
TEST_F(CheckOfAnEngine, IsNeverFurtherThanItsTotal) {
  const std::string directory = directory_.path();
  engine_.reset();
  {
    TestDatabase database(TestDatabase::DefaultOptions(directory));
    v1::CreateTableRequest table = TableRequest("Things");
    AddIndex(&table, "ByStatus", {"status:S"}, 1, v1::PROJECTION_TYPE_ALL);
    AddLocalIndex(&table, "ByRank", "rank:N", v1::PROJECTION_TYPE_KEYS_ONLY);
    database.CreateTable(table);
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(
          database
              .Put("Things",
                   {{"pk", S(std::to_string(i))}, {"sk", S("s")}, {"rank", N("1")}, {"status", S("open")}})
              .ok());
    }
    database.Close();
    Families families(directory);
    const std::string gone = families.All("global_entries").begin()->first;
    families.Delete("global_entries", gone);
  }
  SetUp();
  const auto checked = Check();
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->finding_count(), 2) << "an entry and their number";
  // The items and the entries of one index are read twice, the entries of the other index once.
  EXPECT_EQ(engine_->check_progress().total, 5 * 200);
  EXPECT_LE(engine_->check_progress().done, 5 * 200);
  EXPECT_GT(engine_->check_progress().done, 4 * 200);
}

TEST_F(CheckOfAnEngine, IsRefusedWhileTooManyReadsWait) {
  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future().share();
  // The pool's thread takes its task before the queue is filled; taking it later would make room.
  std::promise<void> started;
  IoPool::Task first = [opened, &started] {
    started.set_value();
    opened.wait();
  };
  ASSERT_TRUE(engine_->io().Submit(first, IoPriority::kLong));
  started.get_future().wait();
  bool taken = true;
  for (int i = 0; taken && i < 1'000'000; ++i) {
    IoPool::Task task = [opened] { opened.wait(); };
    taken = engine_->io().Submit(task, IoPriority::kLong);
  }
  ASSERT_FALSE(taken);
  EXPECT_EQ(ReasonOf(Check().status()), kReasonQueueFull);
  gate.set_value();
  // The refused check does not prevent the next one.
  absl::StatusOr<v1::CheckDatabaseReply> reply = Check();
  while (!reply.ok() && ReasonOf(reply.status()) == kReasonQueueFull) reply = Check();
  EXPECT_TRUE(reply.ok()) << reply.status();
}

}  // namespace
}  // namespace itemdb::testing
