// CheckDatabase finds whatever is derived from the items and differs from them, says it in bounded length,
// and is bounded itself; what it finds a rebuild puts right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "storage/base/limits.h"
#include "storage/engine/counters.h"
#include "storage/engine/engine.h"
#include "storage/engine/recovery.h"
#include "storage/engine/request_tokens.h"
#include "storage/indexes/check.h"
#include "storage/values/stored_record.h"
#include "tests/storage/database/damage.h"

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
  Do([&](Families& families) { RemoveAll(index_, families); });
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
  Do([&](Families& families) { RemoveAll(index_, families); });
  auto reply = Check();
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->findings_size(), kMaxFindings);
  EXPECT_EQ(reply->finding_count(), 154) << "153 entries and their number";
}

TEST_F(CheckTest, FindsEntriesThatDoNotDecode) {
  Do([&](Families& families) {
    const auto entry = *families.All(index_).begin();
    std::string record = entry.second;
    record.back() ^= 1;
    families.Put(index_, entry.first, record);
  });
  EXPECT_THAT(Findings(), Contains(AllOf(HasSubstr("index ByStatus"), HasSubstr("does not decode"))));
}

// SEM-050: a token that never expires would fill the disk; one that is lost would let a write be applied
// twice.
TEST_F(CheckTest, FindsWhatIsWrongWithRequestTokens) {
  PutWithToken("1", "first");
  PutWithToken("2", "second");
  PutWithToken("3", "third");
  EXPECT_THAT(Findings(), IsEmpty());
  Do([](Families& families) {
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
  Do([](Families& families) {
    for (const auto& [key, record] : families.All("requests")) {
      if (key.ends_with("first")) families.Delete("requests", key);
    }
  });
  EXPECT_THAT(Findings(), UnorderedElementsAre(AllOf(HasSubstr("client request tokens: counted 1 of "),
                                                     HasSubstr("recorded are 2 of "))));
}

// SEM-092: one that is wrong, one that does not decode, one of a collection that has no items.
TEST_F(CheckTest, FindsSizesOfItemCollectionsThatAreWrong) {
  v1::CreateTableRequest local = TableRequest("Local");
  AddLocalIndex(&local, "ByRank", "rate:N", v1::PROJECTION_TYPE_KEYS_ONLY);
  database_.CreateTable(local);
  for (const char* pk : {"a", "b", "c"})
    ASSERT_TRUE(database_.Put("Local", {{"pk", S(pk)}, {"sk", S("s")}, {"rate", N("1")}}).ok());
  EXPECT_THAT(Findings(), IsEmpty());
  Do([](Families& families) {
    std::vector<std::pair<std::string, std::string>> records;
    for (const auto& record : families.All("stats"))
      if (record.first.starts_with(kCollectionKeyPrefix)) records.push_back(record);
    ASSERT_THAT(records, SizeIs(3));
    const uint64_t storage_id = *ParseSequenceKey(records[0].first.substr(1, 8));
    families.Put("stats", records[0].first, EncodeCounters(storage_id, records[0].first, {9, 9}));
    std::string damaged = records[1].second;
    damaged.back() ^= 1;
    families.Put("stats", records[1].first, damaged);
    std::string nobody = records[2].first;
    nobody.replace(nobody.find('c', 9), 1, "z");
    families.Put("stats", nobody, EncodeCounters(storage_id, nobody, {1, 1}));
  });
  EXPECT_THAT(Findings(),
              AllOf(SizeIs(3), Each(AllOf(HasSubstr("table Local: the record of an item collection"),
                                          HasSubstr("is wrong: counted ")))));
}

// More than one commit of a rebuild takes.
TEST_F(CheckTest, ARebuildPutsThousandsOfEntriesRight) {
  for (int i = 0; i < 1'050; ++i)
    ASSERT_TRUE(
        database_.Put("Things", {{"pk", S("q")}, {"sk", S(std::to_string(i))}, {"status", S("x")}}).ok());
  Do([&](Families& families) {
    RemoveAll(index_, families);
    families.Put("catalog", kNeedsRebuildKey, EncodeCatalogNumber(kNeedsRebuildKey, 1));
  });
  database_.CheckIsClean();
  Do([&](Families& families) {
    EXPECT_THAT(families.All(index_), SizeIs(1'053));
    EXPECT_FALSE(families.All("catalog").contains(kNeedsRebuildKey));
  });
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

TEST_F(CheckOfAnEngine, IsRefusedWhileTooManyReadsWait) {
  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future().share();
  bool taken = true;
  for (int i = 0; taken && i < 1'000'000; ++i) {
    IoPool::Task task = [opened] { opened.wait(); };
    taken = engine_->io().Submit(task);
  }
  ASSERT_FALSE(taken);
  EXPECT_EQ(ReasonOf(Check().status()), kReasonQueueFull);
  gate.set_value();
  // It left nothing behind that would keep the next one from running.
  absl::StatusOr<v1::CheckDatabaseReply> reply = Check();
  while (!reply.ok() && ReasonOf(reply.status()) == kReasonQueueFull) reply = Check();
  EXPECT_TRUE(reply.ok()) << reply.status();
}

}  // namespace
}  // namespace itemdb::testing
