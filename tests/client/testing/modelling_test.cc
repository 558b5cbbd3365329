// Shards, keys, reservations and resumable reads, on the fake database.
#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "itemdb/keys.h"
#include "itemdb/reservations.h"
#include "itemdb/resumable.h"
#include "itemdb/sharding.h"
#include "itemdb/testing/fake_database.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace itemdb;  // NOLINT: as a user's program would.
using itemdb::testing::FakeDatabase;

// ---- how many shards -----------------------------------------------------------------------------

TEST(PlanShards, DerivesTheWorkedExampleStepByStep) {
  // The formula (SEED-037) with its worked example (SEED-038): items of 250 bytes, a fifth of three million
  // at once. Numbers are rounded to whole items and shards (INC-16).
  const auto plan = PlanShards({.max_items = 3'000'000, .fraction = 0.2, .item_bytes = 250});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->items_per_read_unit, 16);
  EXPECT_EQ(plan->partition_items_per_second, 48'000);
  EXPECT_EQ(plan->wanted_items_per_second, 600'000);
  EXPECT_EQ(plan->shards_for_reads, 13);
  EXPECT_EQ(plan->shards_for_writes, 1);
  EXPECT_EQ(plan->shards, 13);
}

TEST(PlanShards, TakesTheLargerOfReadsAndWrites) {
  // The larger of the two numbers of shards counts (INC-31).
  const auto plan =
      PlanShards({.max_items = 3'000'000, .fraction = 0.2, .item_bytes = 250, .writes_per_second = 20'000});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->shards_for_writes, 20);
  EXPECT_EQ(plan->shards, 20);
  const auto writes_only = PlanShards({.item_bytes = 250, .writes_per_second = 5'000});
  ASSERT_TRUE(writes_only.ok());
  EXPECT_EQ(writes_only->shards, 5);
}

TEST(PlanShards, CountsItemsLargerThanAUnit) {
  const auto plan = PlanShards({.max_items = 3'000, .item_bytes = 10'000, .writes_per_second = 1'000});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->items_per_read_unit, 0);
  EXPECT_EQ(plan->partition_items_per_second, 1'000);
  EXPECT_EQ(plan->shards_for_reads, 3);
  EXPECT_EQ(plan->partition_writes_per_second, 100);
  EXPECT_EQ(plan->shards_for_writes, 10);
}

TEST(PlanShards, NamesTheFigureThatIsOutOfItsBounds) {
  EXPECT_THAT(PlanShards({.item_bytes = 0}).status().message(), HasSubstr("0 bytes"));
  EXPECT_THAT(PlanShards({.item_bytes = 409'601}).status().message(), HasSubstr("409601"));
  EXPECT_THAT(PlanShards({.max_items = -1, .item_bytes = 1}).status().message(), HasSubstr("-1 items"));
  EXPECT_THAT(PlanShards({.fraction = 0, .item_bytes = 1}).status().message(), HasSubstr("fraction 0"));
  EXPECT_THAT(PlanShards({.fraction = 1.5, .item_bytes = 1}).status().message(), HasSubstr("fraction 1.5"));
  EXPECT_THAT(PlanShards({.item_bytes = 1, .writes_per_second = -5}).status().message(),
              HasSubstr("-5 writes"));
  EXPECT_THAT(PlanShards({.item_bytes = 1, .writes_per_second = 2'000'000'000}).status().message(),
              HasSubstr("1000000"));
}

TEST(ShardOf, StaysTheSameForEverAndReachesEveryShard) {
  EXPECT_EQ(ShardOf("ord_001", 5), ShardOf("ord_001", 5));
  // Values of 64-bit FNV-1a. They must never change: programs find stored items by them.
  EXPECT_EQ(ShardOf("", 1'000), 37);
  EXPECT_EQ(ShardOf("a", 1'000), 996);
  std::set<int> hashed, random;
  for (int i = 0; i < 10'000; ++i) {
    hashed.insert(ShardOf(std::to_string(i), 15));
    random.insert(RandomShard(15));
  }
  // 15 shards have the numbers 0 to 14 (INC-14).
  EXPECT_EQ(hashed.size(), 15u);
  EXPECT_EQ(*hashed.rbegin(), 14);
  EXPECT_EQ(random.size(), 15u);
  EXPECT_EQ(*random.rbegin(), 14);
}

// ---- keys ----------------------------------------------------------------------------------------

TEST(CompositeKey, IsClosedSoThatNoNeighbourWithALongerNameMatches) {
  // Every part of a key ends with "#" (INC-26).
  EXPECT_EQ(*CompositeKey({"NE", "OMAHA"}), "NE#OMAHA#");
  EXPECT_FALSE(CompositeKey({"NE", "OMAHA HEIGHTS"})->starts_with(*CompositeKey({"NE", "OMAHA"})));
  EXPECT_EQ(*CompositeKey({}), "");
  EXPECT_THAT(*PartsOfKey("NE#OMAHA#68144#"), ElementsAre("NE", "OMAHA", "68144"));
  EXPECT_TRUE(PartsOfKey("")->empty());
}

TEST(CompositeKey, RefusesPartsThatCouldNotBeToldApart) {
  EXPECT_THAT(CompositeKey({"a#b"}).status().message(), HasSubstr("a#b"));
  EXPECT_FALSE(CompositeKey({"a", ""}).ok());
  EXPECT_FALSE(PartsOfKey("a").ok());
  EXPECT_FALSE(PartsOfKey("a##").ok());
  EXPECT_FALSE(PartsOfKey("#").ok());
}

TEST(TimeOrderedId, AscendsAlsoWithinAMillisecondAndTellsItsTime) {
  // Ids of fixed width that begin with the time (INC-27).
  const absl::Time time = absl::FromUnixMillis(1'700'000'000'123);
  std::string before = FirstIdOf(time);
  EXPECT_EQ(before.size(), 26u);
  for (int i = 0; i < 1'000; ++i) {
    const std::string id = TimeOrderedId(time);
    EXPECT_EQ(id.size(), 26u);
    EXPECT_LT(before, id);
    EXPECT_EQ(*TimeOfId(id), time);
    before = id;
  }
  EXPECT_LT(before, FirstIdOf(time + absl::Milliseconds(1)));
  EXPECT_LT(before, TimeOrderedId(time + absl::Milliseconds(1)));
  EXPECT_EQ(*TimeOfId(TimeOrderedId(absl::InfinitePast())), absl::UnixEpoch());
  EXPECT_TRUE(TimeOfId(TimeOrderedId(absl::InfiniteFuture())).ok());
}

TEST(TimeOrderedId, RefusesOtherText) {
  for (const char* text :
       {"", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAVX", "01arz3ndektsv4rrffq69g5fav",
        "81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAU"}) {
    EXPECT_EQ(TimeOfId(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_TRUE(TimeOfId("01ARZ3NDEKTSV4RRFFQ69G5FAV").ok());
}

// ---- with a database -----------------------------------------------------------------------------

class ModellingTest : public ::testing::Test {
 protected:
  static constexpr int kShards = 4;

  void SetUp() override {
    ASSERT_TRUE(client_
                    .CreateTable({.table_name = "App",
                                  .attribute_definitions = {{"PK", ScalarAttributeType::kString},
                                                            {"SK", ScalarAttributeType::kString},
                                                            {"shard", ScalarAttributeType::kNumber},
                                                            {"age", ScalarAttributeType::kNumber}},
                                  .key_schema = {{"PK", KeyType::kHash}, {"SK", KeyType::kRange}},
                                  .global_secondary_indexes = {{.index_name = "ByAge",
                                                                .key_schema = {{"shard", KeyType::kHash},
                                                                               {"age", KeyType::kRange}}}}})
                    .ok());
  }

  void PutAged(int count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<BatchWrite> writes;
    for (int i = 0; i < count; ++i) {
      const std::string id = absl::StrCat("item", i);
      writes.push_back(BatchPut{.table_name = "App",
                                .item = {{"PK", id},
                                         {"SK", id},
                                         {"shard", ShardOf(id, kShards)},
                                         {"age", static_cast<int>(random() % 120)}}});
    }
    ASSERT_TRUE(client_.BatchWriteItem({.writes = writes}).ok());
  }

  ShardedQuery ByAge(bool forward) const {
    return {.request = {.table_name = "App",
                        .index_name = "ByAge",
                        .key_condition_expression = "#shard = :shard",
                        .expression_attribute_names = {{"#shard", "shard"}},
                        .scan_index_forward = forward},
            .shards = ShardNumbers(kShards),
            .order_by = {"age", "PK"}};
  }

  static std::vector<int64_t> Ages(const std::vector<Item>& items) {
    std::vector<int64_t> ages;
    for (const Item& item : items) ages.push_back(*item.find_or_null("age")->number_or_null()->ToInt64());
    return ages;
  }

  std::unique_ptr<FakeDatabase> database_ = *FakeDatabase::Open();
  Client client_ = database_->NewClient();
};

TEST_F(ModellingTest, ShardsAreReadAsOneSequenceInBothDirections) {
  PutAged(300, 1);
  for (const bool forward : {true, false}) {
    const auto items = QueryShards(client_, ByAge(forward)).ToVector();
    ASSERT_TRUE(items.ok()) << items.status();
    ASSERT_EQ(items->size(), 300u);
    std::vector<int64_t> ages = Ages(*items);
    if (!forward) std::reverse(ages.begin(), ages.end());
    EXPECT_TRUE(std::is_sorted(ages.begin(), ages.end())) << "numbers are ordered by value: 9 before 10";
  }
}

TEST_F(ModellingTest, PagesOverShardsAreTogetherTheWholeSequence) {
  PutAged(137, 2);
  for (const bool forward : {true, false}) {
    const auto whole = QueryShards(client_, ByAge(forward)).ToVector();
    ASSERT_TRUE(whole.ok());
    for (const int limit : {1, 7, 50, 137, 1'000}) {
      SCOPED_TRACE(absl::StrCat("limit ", limit));
      std::vector<Item> items;
      std::string position;
      int pages = 0;
      do {
        const auto page = QueryShardsPage(client_, ByAge(forward), limit, position);
        ASSERT_TRUE(page.ok()) << page.status();
        EXPECT_LE(page->items.size(), static_cast<size_t>(limit));
        items.insert(items.end(), page->items.begin(), page->items.end());
        position = page->position;
        ASSERT_LT(++pages, 300);
      } while (!position.empty());
      EXPECT_EQ(Ages(items), Ages(*whole));
      std::set<std::string> ids;
      for (const Item& item : items) ids.insert(*item.find_or_null("PK")->string_or_null());
      EXPECT_EQ(ids.size(), 137u) << "each once";
    }
  }
}

TEST_F(ModellingTest, PagesOverShardsGoOnPastFilteredItems) {
  PutAged(200, 3);
  ShardedQuery query = ByAge(true);
  query.request.filter_expression = "begins_with(PK, :p)";
  query.request.expression_attribute_values[":p"] = "item1";
  // A key attribute of the table is not a key attribute of the index, so a filter on it is allowed.
  std::vector<Item> items;
  std::string position;
  int pages = 0;
  do {
    const auto page = QueryShardsPage(client_, query, 5, position);
    ASSERT_TRUE(page.ok()) << page.status();
    items.insert(items.end(), page->items.begin(), page->items.end());
    position = page->position;
    ASSERT_LT(++pages, 400);
  } while (!position.empty());
  EXPECT_EQ(items.size(), 111u);
  const std::vector<int64_t> ages = Ages(items);
  EXPECT_TRUE(std::is_sorted(ages.begin(), ages.end()));
}

TEST_F(ModellingTest, PositionsOfOtherReadsAreRefused) {
  PutAged(10, 4);
  const auto page = QueryShardsPage(client_, ByAge(true), 2);
  ASSERT_TRUE(page.ok());
  ShardedQuery fewer = ByAge(true);
  fewer.shards.pop_back();
  for (const auto& [query, position] :
       {std::pair(fewer, page->position), std::pair(ByAge(true), std::string("garbage"))}) {
    const absl::Status status = QueryShardsPage(client_, query, 2, position).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("not a position of this read"));
  }
  EXPECT_FALSE(QueryShardsPage(client_, ByAge(true), 0).ok());
  ShardedQuery narrow = ByAge(true);
  narrow.request.projection_expression = "age";
  EXPECT_THAT(QueryShardsPage(client_, narrow, 2).status().message(), HasSubstr("projection"));
}

TEST_F(ModellingTest, AReadGoesOnInAnotherRunWhereItWasLeft) {
  PutAged(100, 5);
  const ScanRequest scan = {.table_name = "App", .limit = 7};
  std::vector<std::string> seen;
  std::string saved;
  // Every run returns two pages; only the saved position is kept for the next run.
  for (int run = 0; run < 20; ++run) {
    auto read = ResumableRead::Open(client_, scan, saved);
    ASSERT_TRUE(read.ok()) << read.status();
    for (int i = 0; i < 2 && !read->done(); ++i) {
      const auto page = read->NextPage();
      ASSERT_TRUE(page.ok()) << page.status();
      for (const Item& item : page->items) seen.push_back(*item.find_or_null("PK")->string_or_null());
      saved = read->position();
    }
    if (read->done()) break;
  }
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 100u);
  auto done = ResumableRead::Open(client_, scan, saved);
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(done->done());
  EXPECT_EQ(done->NextPage().status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(done->position(), saved);
}

TEST_F(ModellingTest, AResumedReadRefusesThePositionOfAnotherTableOrIndex) {
  PutAged(20, 6);
  auto read = ResumableRead::Open(client_, ScanRequest{.table_name = "App", .limit = 5});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->position(), "");
  ASSERT_TRUE(read->NextPage().ok());
  EXPECT_FALSE(
      ResumableRead::Open(client_, ScanRequest{.table_name = "App", .index_name = "ByAge"}, read->position())
          .ok());
  EXPECT_FALSE(ResumableRead::Open(client_, ScanRequest{.table_name = "Other"}, read->position()).ok());
  EXPECT_FALSE(ResumableRead::Open(client_, ScanRequest{.table_name = "App"}, "%%%").ok());
}

// ---- reservations --------------------------------------------------------------------------------

class ReservationsTest : public ModellingTest {
 protected:
  static Item User(const std::string& id, const std::string& email) {
    return {{"PK", "USER#" + id}, {"SK", "USER#" + id}, {"email", email}};
  }
  static Reservation Email(const std::string& email, const std::string& user) {
    return {.table_name = "App",
            .item = {{"PK", "EMAIL#" + email}, {"SK", "EMAIL#" + email}, {"user_id", user}},
            .key_attributes = {"PK", "SK"}};
  }
  static TransactWriteItemsRequest Put(Item item) {
    return {.actions = {TransactPut{.table_name = "App", .item = std::move(item)}}};
  }
  bool Exists(const std::string& key) {
    const auto got = client_.GetItem({.table_name = "App", .key = {{"PK", key}, {"SK", key}}});
    return got.ok() && got->item.has_value();
  }
};

TEST_F(ReservationsTest, AValueHasOneOwnerAndTheLoserWritesNothing) {
  // A reserved value is an item of its own, put in the same transaction (SEED-074).
  ASSERT_TRUE(WriteWithReservations(client_, Put(User("1", "a@x")), {Email("a@x", "1")}).ok());
  const absl::Status taken =
      WriteWithReservations(client_, Put(User("2", "a@x")), {Email("b@x", "2"), Email("a@x", "2")}).status();
  EXPECT_EQ(taken.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ReasonOf(taken), kReasonValueReserved);
  EXPECT_THAT(taken.message(), HasSubstr("App {PK: EMAIL#a@x, SK: EMAIL#a@x}"));
  EXPECT_FALSE(Exists("USER#2"));
  EXPECT_FALSE(Exists("EMAIL#b@x"));
}

TEST_F(ReservationsTest, AValueIsChangedInOneStepAndReleasedByItsOwnerOnly) {
  ASSERT_TRUE(WriteWithReservations(client_, Put(User("1", "a@x")), {Email("a@x", "1")}).ok());
  const absl::Status anothers =
      WriteWithReservations(client_, Put(User("2", "b@x")), {Email("b@x", "2")}, {Email("a@x", "2")})
          .status();
  EXPECT_EQ(ReasonOf(anothers), kReasonTransactionCancelled);
  EXPECT_TRUE(Exists("EMAIL#a@x"));
  ASSERT_TRUE(
      WriteWithReservations(client_, Put(User("1", "b@x")), {Email("b@x", "1")}, {Email("a@x", "1")}).ok());
  EXPECT_FALSE(Exists("EMAIL#a@x"));
  EXPECT_TRUE(Exists("EMAIL#b@x"));
}

TEST_F(ReservationsTest, AFalseConditionOfTheWriteItselfIsToldAsSuch) {
  TransactWriteItemsRequest request = Put(User("1", "a@x"));
  std::get<TransactPut>(request.actions[0]).condition_expression = "attribute_exists(PK)";
  const absl::Status status = WriteWithReservations(client_, request, {Email("a@x", "1")}).status();
  EXPECT_EQ(ReasonOf(status), kReasonTransactionCancelled);
  ASSERT_EQ(CancellationReasons(status).size(), 2u);
  EXPECT_EQ(CancellationReasons(status)[0].code, CancellationReason::Code::kConditionalCheckFailed);
}

TEST_F(ReservationsTest, AReservationWithoutItsKeyIsRefused) {
  Reservation reservation = Email("a@x", "1");
  reservation.item.Remove("SK");
  EXPECT_THAT(WriteWithReservations(client_, Put(User("1", "a@x")), {reservation}).status().message(),
              HasSubstr("lacks its key attribute SK"));
  reservation.key_attributes.clear();
  EXPECT_THAT(WriteWithReservations(client_, Put(User("1", "a@x")), {reservation}).status().message(),
              HasSubstr("names no key attributes"));
}

}  // namespace
