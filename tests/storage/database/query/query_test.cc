// Query: pages, limits, start keys, order, filters and projections.

#include <future>
#include <thread>

#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A number with leading zeros, so that its text sorts as the number does.
std::string Padded(int number) {
  std::string text = std::to_string(number);
  return std::string(5 - text.size(), '0') + text;
}

class Query : public ::testing::Test {
 protected:
  Query() {
    auto table = TableRequest("Things");
    AddIndex(&table, "Ranks", {"grp:S", "rate:N"}, 1, v1::PROJECTION_TYPE_INCLUDE, {"small"});
    database_.CreateTable(table);
    database_.CreateTable(TableRequest("Single", /*sorted=*/false));
  }

  void Put(const std::string& pk, const std::string& sk, Attributes more = {}) {
    v1::Item item = Item(more);
    item.MergeFrom(Item({{"pk", S(pk)}, {"sk", S(sk)}}));
    wire::WriteItemRequest request;
    request.set_table_name("Things");
    request.set_key_or_item(item.SerializeAsString());
    auto reply = PutItem(database_, request);
    ASSERT_TRUE(reply.ok()) << reply.status();
  }
  static wire::PageRequest Collection(const std::string& pk) {
    return QueryRequest("Things", "pk = :pk", {{":pk", S(pk)}});
  }
  static wire::PageRequest Ranks(const std::string& group) {
    auto query = QueryRequest("Things", "grp = :grp", {{":grp", S(group)}});
    query.set_index_name("Ranks");
    return query;
  }

  TestDatabase database_;
};

// A page has 1 MiB of items, counted by item size, and the item that crosses this bound, whatever the filter
// and projection leave out (SEM-027).
TEST_F(Query, APageIsAMebibyteAndTheItemThatCrosses) {
  constexpr int kItems = 12;
  constexpr size_t kItemBytes = 200'000;
  for (int i = 0; i < kItems; ++i)
    Put("p", Padded(i), {{"fat", S(std::string(kItemBytes - 2 - 1 - 2 - 5 - 3, 'x'))}});
  auto query = Collection("p");
  query.set_projection_expression("sk");
  for (const char* filter : {"", "attribute_not_exists(fat)"}) {
    query.set_filter_expression(filter);
    for (bool forward : {true, false}) {
      query.set_scan_index_forward(forward);
      query.clear_exclusive_start_key();
      for (int scanned : {6, 6, 0}) {
        auto page = database_.Query(query);
        ASSERT_TRUE(page.ok()) << page.status();
        EXPECT_EQ(page->reply.scanned_count(), scanned);
        EXPECT_EQ(page->reply.count(), filter[0] == '\0' ? scanned : 0);
        EXPECT_EQ(page->reply.has_last_evaluated_key(), scanned > 0);
        query.set_exclusive_start_key(page->reply.last_evaluated_key());
      }
    }
  }
}

TEST_F(Query, APageStopsExactlyAtAMebibyte) {  // SEM-027
  // Four items of a quarter of the bound each; the second time the last one is a byte shorter.
  for (int i = 0; i < 5; ++i) Put("p", Padded(i), {{"fat", S(std::string((1 << 18) - 13, 'x'))}});
  auto page = database_.Query(Collection("p"));
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->reply.scanned_count(), 4);
  Put("p", Padded(3), {{"fat", S(std::string((1 << 18) - 14, 'x'))}});
  page = database_.Query(Collection("p"));
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->reply.scanned_count(), 5);
  EXPECT_TRUE(page->reply.has_last_evaluated_key());
}

TEST_F(Query, APageOfAnIndexCountsEntriesNotItems) {  // SEM-028
  for (int i = 0; i < 8; ++i) {
    Put("p", Padded(i),
        {{"grp", S("g")}, {"rate", N(std::to_string(i))}, {"fat", S(std::string(200'000, 'x'))}});
  }
  auto page = database_.Query(Ranks("g"));
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->reply.count(), 8);
  EXPECT_FALSE(page->reply.has_last_evaluated_key());
}

TEST_F(Query, ItemsOfTheLargestSizeComeThreeToAPage) {  // SEM-001, SEM-027
  for (int i = 0; i < 7; ++i) Put("p", Padded(i), {{"fat", S(std::string(409'600 - 13, 'x'))}});
  int pages = 0;
  EXPECT_THAT(QueryAll(database_, Collection("p"), &pages), SizeIs(7));
  EXPECT_EQ(pages, 3);
  auto backward = Collection("p");
  backward.set_scan_index_forward(false);
  EXPECT_THAT(QueryAll(database_, backward, &pages), SizeIs(7));
  EXPECT_EQ(pages, 3);
}

TEST_F(Query, LimitCountsItemsBeforeTheFilter) {  // SEM-029, SEM-030
  for (int i = 0; i < 6; ++i) Put("p", Padded(i), {{"n", N(std::to_string(i % 3))}});
  auto query = Collection("p");
  query.set_limit(2);
  query.set_filter_expression("n = :two");
  SetValue(&query, ":two", N("2"));
  struct Row {
    std::vector<std::string> items;
    bool more;
  };
  // A page may be empty and not the last. A page that ends with the last item does not know that it is the
  // last.
  const Row rows[] = {{{}, true}, {{"n=2 pk=p sk=00002"}, true}, {{"n=2 pk=p sk=00005"}, true}, {{}, false}};
  for (const Row& row : rows) {
    auto page = database_.Query(query);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_EQ(ShowItems(*page), row.items);
    EXPECT_EQ(page->reply.count(), static_cast<int>(row.items.size()));
    EXPECT_EQ(page->reply.scanned_count(), row.more ? 2 : 0);
    EXPECT_EQ(page->reply.has_last_evaluated_key(), row.more);
    query.set_exclusive_start_key(page->reply.last_evaluated_key());
  }
  for (int limit : {0, -1}) {
    query.set_limit(limit);
    EXPECT_THAT(database_.Query(query).status(), IsInvalid("Limit"));
  }
}

// Long pages continue on another thread, where no item may be lost or repeated.
TEST_F(Query, PagesOfThousandsOfItemsAreWhole) {  // SEM-035, OP-17
  constexpr int kItems = 1200;
  std::vector<std::string> forward;
  for (int i = 0; i < kItems; ++i) {
    Put("p", Padded(i), {{"grp", S("g")}, {"rate", N(std::to_string(i))}});
    forward.push_back("sk=" + Padded(i));
  }
  Put("o", "before");
  Put("q", "behind");
  std::vector<std::string> backward(forward.rbegin(), forward.rend());
  for (bool reopened : {false, true}) {
    if (reopened) database_.Reopen();
    for (auto query : {Collection("p"), Ranks("g")}) {
      query.set_projection_expression("sk");
      for (int limit : {0, 1, 255, 256, 257, 300, 1199, 1200, 1201}) {
        if (limit == 1 && reopened) continue;
        query.clear_limit();
        if (limit > 0) query.set_limit(limit);
        query.set_scan_index_forward(true);
        EXPECT_EQ(QueryAll(database_, query), forward) << limit;
        query.set_scan_index_forward(false);
        EXPECT_EQ(QueryAll(database_, query), backward) << limit;
      }
    }
  }
}

TEST_F(Query, AStartKeyNeedNotBeThatOfAnItem) {  // SEM-032
  for (const char* sk : {"b", "d", "f"}) Put("p", sk, {{"grp", S("g")}, {"rate", N(std::to_string(sk[0]))}});
  auto query = Collection("p");
  query.set_projection_expression("sk");
  query.set_exclusive_start_key(Encode({{"sk", S("c")}, {"pk", S("p")}}));
  EXPECT_THAT(QueryAll(database_, query), ElementsAre("sk=d", "sk=f"));
  query.set_scan_index_forward(false);
  EXPECT_THAT(QueryAll(database_, query), ElementsAre("sk=b"));
  query.set_exclusive_start_key(Encode({{"pk", S("p")}, {"sk", S("a")}}));
  EXPECT_THAT(QueryAll(database_, query), IsEmpty());
  auto ranks = Ranks("g");
  ranks.set_projection_expression("sk");
  // After all entries of rate 'b' whose table key is less than this one.
  ranks.set_exclusive_start_key(Encode({{"pk", S("a")}, {"sk", S("z")}, {"grp", S("g")}, {"rate", N("98")}}));
  EXPECT_THAT(QueryAll(database_, ranks), ElementsAre("sk=b", "sk=d", "sk=f"));
  ranks.set_exclusive_start_key(
      Encode({{"pk", S("z")}, {"sk", S("z")}, {"grp", S("g")}, {"rate", N("98.0")}}));
  EXPECT_THAT(QueryAll(database_, ranks), ElementsAre("sk=d", "sk=f"));
}

TEST_F(Query, AStartKeyThatDoesNotFitIsRefused) {  // SEM-032
  Put("p", "b", {{"grp", S("g")}, {"rate", N("1")}});
  auto narrow = QueryRequest("Things", "pk = :pk AND sk BETWEEN :a AND :c",
                             {{":pk", S("p")}, {":a", S("a")}, {":c", S("c")}});
  auto single = QueryRequest("Single", "pk = :pk", {{":pk", S("p")}});
  struct Row {
    const char* name;
    wire::PageRequest query;
    v1::Item key;
    const char* message;
  };
  const Row rows[] = {
      {"empty", narrow, Item({}), "exactly these attributes: pk, sk"},
      {"no sort key", narrow, Item({{"pk", S("p")}}), "exactly these attributes: pk, sk"},
      {"one too many", narrow, Item({{"pk", S("p")}, {"sk", S("b")}, {"x", S("x")}}),
       "exactly these attributes: pk, sk"},
      {"another name", narrow, Item({{"pk", S("p")}, {"x", S("b")}}), "exactly these attributes: pk, sk"},
      {"wrong type", narrow, Item({{"pk", S("p")}, {"sk", N("1")}}), "starting key is invalid"},
      {"empty value", narrow, Item({{"pk", S("p")}, {"sk", S("")}}), "starting key is invalid"},
      {"too long", narrow, Item({{"pk", S("p")}, {"sk", S(std::string(1025, 'b'))}}),
       "starting key is invalid"},
      {"another partition", narrow, Item({{"pk", S("q")}, {"sk", S("b")}}), "outside query boundaries"},
      {"below the range", narrow, Item({{"pk", S("p")}, {"sk", S("A")}}), "range key predicate"},
      {"above the range", narrow, Item({{"pk", S("p")}, {"sk", S("cc")}}), "range key predicate"},
      {"table key on an index", Ranks("g"), Item({{"pk", S("p")}, {"sk", S("b")}}),
       "exactly these attributes: grp, pk, rate, sk"},
      {"index key alone", Ranks("g"), Item({{"grp", S("g")}, {"rate", N("1")}}),
       "exactly these attributes: grp, pk, rate, sk"},
      {"another index partition", Ranks("g"),
       Item({{"grp", S("h")}, {"rate", N("1")}, {"pk", S("p")}, {"sk", S("b")}}), "outside"},
      {"wrong index type", Ranks("g"),
       Item({{"grp", S("g")}, {"rate", S("1")}, {"pk", S("p")}, {"sk", S("b")}}), "invalid"},
      {"table without sort key", single, Item({{"pk", S("p")}}), "without a sort key"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto query = row.query;
    query.set_exclusive_start_key(row.key.SerializeAsString());
    EXPECT_THAT(database_.Query(query).status(), IsInvalid(row.message));
  }
  narrow.set_exclusive_start_key("\xff\xff");
  EXPECT_THAT(database_.Query(narrow).status(), IsInvalid(""));
}

TEST_F(Query, OfATableWithoutSortKeyEndsWithItsItem) {  // SEM-030, SEM-032
  ASSERT_TRUE(database_.Put("Single", {{"pk", S("p")}, {"a", N("1")}}).ok());
  auto query = QueryRequest("Single", "pk = :pk", {{":pk", S("p")}});
  query.set_limit(1);
  auto page = database_.Query(query);
  ASSERT_TRUE(page.ok());
  EXPECT_THAT(ShowItems(*page), ElementsAre("a=1 pk=p"));
  EXPECT_FALSE(page->reply.has_last_evaluated_key());
}

TEST_F(Query, SortConditionsSelectByOrder) {  // SEM-014
  for (const char* sk : {"a", "ab", "abc", "ac", "b"}) Put("p", sk);
  Put("p", std::string("ab\0", 3));
  Put("pp", "a");
  struct Row {
    const char* condition;
    std::vector<std::string> items;
  };
  const std::string zero("sk=ab\0", 6);
  const Row rows[] = {{"sk = :v", {"sk=ab"}},
                      {"sk < :v", {"sk=a"}},
                      {"sk <= :v", {"sk=a", "sk=ab"}},
                      {"sk > :v", {zero, "sk=abc", "sk=ac", "sk=b"}},
                      {"sk >= :v", {"sk=ab", zero, "sk=abc", "sk=ac", "sk=b"}},
                      {":v < sk", {zero, "sk=abc", "sk=ac", "sk=b"}},
                      {"begins_with(sk, :v)", {"sk=ab", zero, "sk=abc"}},
                      {"sk BETWEEN :v AND :w", {"sk=ab", zero, "sk=abc", "sk=ac"}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.condition);
    auto query = QueryRequest("Things", "pk = :pk AND " + std::string(row.condition),
                              {{":pk", S("p")}, {":v", S("ab")}});
    if (std::string(row.condition).find(":w") != std::string::npos) SetValue(&query, ":w", S("ac"));
    query.set_projection_expression("sk");
    EXPECT_EQ(QueryAll(database_, query), row.items);
    std::vector<std::string> reversed(row.items.rbegin(), row.items.rend());
    query.set_scan_index_forward(false);
    query.set_limit(1);
    EXPECT_EQ(QueryAll(database_, query), reversed);
  }
}

TEST_F(Query, RefusesKeyAttributesOfTheTableInItsFilter) {  // SEM-040
  auto query = Collection("p");
  for (const char* filter :
       {"sk = :pk", "attribute_exists(pk)", "a = :pk OR NOT sk = :pk", "begins_with(#alias, :pk)"}) {
    SCOPED_TRACE(filter);
    query.set_filter_expression(filter);
    query.clear_expression_attribute_names();
    if (std::string(filter).find('#') != std::string::npos) SetName(&query, "#alias", "sk");
    EXPECT_THAT(database_.Query(query).status(),
                IsInvalid("Filter Expression can only contain non-primary key attributes"));
  }
}

TEST_F(Query, IndexItemsCarryTheProjectedAttributesAndBothKeys) {  // SEM-041
  Put("p", "s", {{"grp", S("g")}, {"rate", N("1")}, {"small", S("x")}, {"large", S("y")}});
  EXPECT_THAT(QueryAll(database_, Ranks("g")), ElementsAre("grp=g pk=p rate=1 sk=s small=x"));
}

TEST_F(Query, MalformedRequestsAreRefused) {
  struct Row {
    const char* name;
    std::function<void(wire::PageRequest*)> change;
    const char* message;
  };
  const Row rows[] = {
      {"no key condition", [](auto* q) { q->clear_key_condition_expression(); }, "KeyConditionExpression"},
      {"no partition key", [](auto* q) { q->set_key_condition_expression("sk = :pk"); }, "pk"},
      {"attribute outside the key", [](auto* q) { q->set_key_condition_expression("pk = :pk AND a = :pk"); },
       "a"},
      {"wrong type",
       [](auto* q) { q->set_key_condition_expression("pk = :pk AND sk = :n"), SetValue(q, ":n", N("1")); },
       "sk"},
      {"bounds out of order",
       [](auto* q) {
         q->set_key_condition_expression("pk = :pk AND sk BETWEEN :b AND :a");
         SetValue(q, ":a", S("a"));
         SetValue(q, ":b", S("b"));
       },
       ""},
      {"unused value", [](auto* q) { SetValue(q, ":x", S("x")); }, ":x"},
      {"undefined value", [](auto* q) { q->set_filter_expression("a = :x"); }, ":x"},
      {"overlapping projection", [](auto* q) { q->set_projection_expression("a, a.b"); }, "overlap"},
      {"no such index", [](auto* q) { q->set_index_name("None"); }, "does not have the specified index"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto query = Collection("p");
    row.change(&query);
    EXPECT_THAT(database_.Query(query).status(), IsInvalid(row.message));
  }
}

// A deleted queue leaves deletions in RocksDB; skipping them must not block the network thread.
TEST_F(Query, PastManyDeletedItemsIsAnsweredByAnIoThread) {
  Put("short", "one");
  for (int i = 0; i < 1'500; ++i) {
    Put("queue", Padded(i));
    ASSERT_TRUE(database_.Delete("Things", {{"pk", S("queue")}, {"sk", S(Padded(i))}}).ok());
  }
  Put("queue", Padded(1'500));
  Put("queue", "#");
  const auto answered_by = [&](const std::string& pk, bool forward) {
    wire::PageRequest request = Collection(pk);
    request.set_scan_index_forward(forward);
    std::promise<std::thread::id> promise;
    database_->Query(request, [&](absl::StatusOr<Page> page) {
      EXPECT_TRUE(page.ok()) << page.status();
      EXPECT_THAT(ShowItems(*page), SizeIs(pk == "queue" ? 2 : 1));
      promise.set_value(std::this_thread::get_id());
    });
    return promise.get_future().get();
  };
  EXPECT_EQ(answered_by("short", true), std::this_thread::get_id());
  EXPECT_NE(answered_by("queue", true), std::this_thread::get_id());
  EXPECT_NE(answered_by("queue", false), std::this_thread::get_id());
}

// storage/store/empty_heads.h
TEST_F(Query, OfAQueuesHeadDoesNotStepOverAllDeletedItems) {
  constexpr int kRounds = 1'500;
  auto head = [&](bool forward = true) {
    wire::PageRequest request = Collection("queue");
    request.set_limit(1);
    request.set_scan_index_forward(forward);
    return ShowItems(*database_.Query(request));
  };
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  const uint64_t& stepped_over = rocksdb::get_perf_context()->internal_delete_skipped_count;
  const uint64_t before = stepped_over;
  for (int i = 0; i < kRounds; ++i) {
    Put("queue", Padded(i));
    if (i < 3) continue;
    ASSERT_THAT(head(), ElementsAre("pk=queue sk=" + Padded(i - 3)));
    ASSERT_TRUE(database_.Delete("Things", {{"pk", S("queue")}, {"sk", S(Padded(i - 3))}}).ok());
  }
  EXPECT_LT(stepped_over - before, 300u * kRounds);
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  Put("queue", "#");
  EXPECT_THAT(head(), ElementsAre("pk=queue sk=#"));
  EXPECT_THAT(head(/*forward=*/false), ElementsAre("pk=queue sk=" + Padded(kRounds - 1)));
  EXPECT_THAT(ShowItems(*database_.Query(Collection("queue"))), SizeIs(4));
}

}  // namespace
}  // namespace itemdb::testing
