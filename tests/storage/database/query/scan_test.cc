// Scan returns every item once, in a stable order.

#include <algorithm>
#include <random>
#include <set>

#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Scan : public ::testing::Test {
 protected:
  Scan() {
    auto table = TableRequest("Things");
    AddIndex(&table, "Ranks", {"rate:N"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
    database_.CreateTable(table);
  }

  void Fill(int items) {
    for (int i = 0; i < items; ++i) {
      auto put = WriteRequest(
          "Things",
          {{"pk", S(std::to_string(i % 7))}, {"sk", S(std::to_string(i))}, {"n", N(std::to_string(i))}});
      if (i % 2 == 0) {
        put.set_key_or_item(put.key_or_item() + Encode({{"rate", N(std::to_string(i % 5))}}));
      }
      auto reply = PutItem(database_, put);
      ASSERT_TRUE(reply.ok()) << reply.status();
    }
  }

  TestDatabase database_;
};

TEST_F(Scan, OfAnEmptyTableIsOneEmptyPage) {
  auto page = database_.Scan(ScanRequest("Things"));
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->reply.count(), 0);
  EXPECT_EQ(page->reply.scanned_count(), 0);
  EXPECT_FALSE(page->reply.has_last_evaluated_key());
  EXPECT_EQ(page->reply.change_sequence(), 1u);
}

TEST_F(Scan, ShowsEveryItemOnceForEveryPageSize) {  // SEM-034, OP-18
  constexpr int kItems = 600;
  Fill(kItems);
  auto whole = ScanAll(database_, ScanRequest("Things"));
  EXPECT_EQ(std::set<std::string>(whole.begin(), whole.end()).size(), static_cast<size_t>(kItems));
  EXPECT_EQ(whole.size(), static_cast<size_t>(kItems));
  database_.Reopen();
  for (int limit : {7, 100, 256, 257, 599, 600, 601}) {
    auto scan = ScanRequest("Things");
    scan.set_limit(limit);
    int pages = 0;
    EXPECT_EQ(ScanAll(database_, scan, &pages), whole) << limit;
    EXPECT_EQ(pages, kItems / limit + 1);
  }
}

TEST_F(Scan, OfATableLargerThanAQuarterOfTheBlockCacheIsNotKeptInIt) {
  wire::PageRequest scan = ScanRequest("Things");
  const auto cached_by_a_scan = [&] {
    database_.Reopen();
    const int64_t before = database_->GetStatus().memory().block_cache();
    EXPECT_TRUE(database_.Scan(scan).ok());
    return database_->GetStatus().memory().block_cache() - before;
  };
  const auto put = [&](int items) {
    // Random text, so that the size on disk is the same. Small items, because the cache has shards: of a few
    // large blocks some could fall into one shard, which has no room for them.
    std::mt19937_64 random(items);
    for (int i = 0; i < items; ++i) {
      std::string text(16 << 10, ' ');
      for (char& c : text) c = static_cast<char>('!' + random() % 90);
      ASSERT_TRUE(
          database_.Put("Things", {{"pk", S("p")}, {"sk", S(std::to_string(i))}, {"s", S(text)}}).ok());
    }
  };
  put(60);
  EXPECT_GT(cached_by_a_scan(), 768 << 10);
  put(240);
  EXPECT_LT(cached_by_a_scan(), 768 << 10);
  scan.set_limit(60);
  EXPECT_GT(cached_by_a_scan(), 768 << 10) << "the first items are read again and again";
}

TEST_F(Scan, OfAnIndexShowsOnlyItsItems) {  // SEM-076
  Fill(300);
  auto scan = ScanRequest("Things");
  scan.set_index_name("Ranks");
  auto entries = ScanAll(database_, scan);
  EXPECT_EQ(entries.size(), 150u);
  scan.set_limit(11);
  EXPECT_EQ(ScanAll(database_, scan), entries);
  EXPECT_EQ(entries[0], "pk=0 rate=0 sk=0");
}

TEST_F(Scan, MayFilterByKeys) {  // SEM-040
  Fill(20);
  auto scan = ScanRequest("Things");
  scan.set_filter_expression("pk = :p AND sk > :s");
  SetValue(&scan, ":p", S("1"));
  SetValue(&scan, ":s", S("15"));
  scan.set_projection_expression("sk");
  EXPECT_THAT(ScanAll(database_, scan), ElementsAre("sk=8"));
  scan.set_index_name("Ranks");
  scan.set_filter_expression("rate = :r");
  scan.clear_expression_attribute_values();
  SetValue(&scan, ":r", N("3"));
  EXPECT_THAT(ScanAll(database_, scan), ElementsAre("sk=8", "sk=18"));
}

TEST_F(Scan, ShowsNoDeletedItem) {
  Fill(50);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(
        database_.Delete("Things", {{"pk", S(std::to_string(i % 7))}, {"sk", S(std::to_string(i))}}).ok());
  }
  EXPECT_THAT(ScanAll(database_, ScanRequest("Things")), IsEmpty());
  auto scan = ScanRequest("Things");
  scan.set_index_name("Ranks");
  EXPECT_THAT(ScanAll(database_, scan), IsEmpty());
  EXPECT_EQ(Describe(database_, "Things").item_count(), 0);
  EXPECT_EQ(Describe(database_, "Things").table_size_bytes(), 0);
}

TEST_F(Scan, AStartKeyThatDoesNotFitIsRefused) {  // SEM-032
  struct Row {
    const char* index;
    v1::Item key;
  };
  const Row rows[] = {{"", Item({{"pk", S("p")}})},
                      {"", Item({{"pk", S("p")}, {"sk", N("1")}})},
                      {"", Item({{"pk", S("p")}, {"sk", S("s")}, {"rate", N("1")}})},
                      {"Ranks", Item({{"pk", S("p")}, {"sk", S("s")}})},
                      {"Ranks", Item({{"pk", S("p")}, {"sk", S("s")}, {"rate", S("1")}})}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.key.ShortDebugString());
    auto scan = ScanRequest("Things");
    scan.set_index_name(row.index);
    scan.set_exclusive_start_key(row.key.SerializeAsString());
    EXPECT_THAT(database_.Scan(scan).status(), IsInvalid("starting key is invalid"));
  }
}

TEST_F(Scan, TakesNoParametersOfAQuery) {
  auto scan = ScanRequest("Things");
  scan.set_key_condition_expression("pk = :p");
  SetValue(&scan, ":p", S("p"));
  EXPECT_THAT(database_.Scan(scan).status(), IsInvalid("use Query"));
  scan = ScanRequest("Things");
  scan.set_scan_index_forward(false);
  EXPECT_THAT(database_.Scan(scan).status(), IsInvalid("use Query"));
  scan = ScanRequest("Things");
  scan.set_limit(0);
  EXPECT_THAT(database_.Scan(scan).status(), IsInvalid("Limit"));
  scan = ScanRequest("Things");
  scan.set_index_name("None");
  EXPECT_THAT(database_.Scan(scan).status(), IsInvalid("does not have the specified index"));
}

}  // namespace
}  // namespace itemdb::testing
