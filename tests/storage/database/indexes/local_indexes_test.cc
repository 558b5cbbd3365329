// Local secondary indexes: their definitions, their entries, and reads of other attributes (SEM-091).

#include <algorithm>
#include <functional>

#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(LocalIndexes, RefusedDefinitionsSayWhatIsWrong) {
  using Request = v1::CreateTableRequest;
  struct Row {
    const char* name;
    std::function<void(Request*)> change;
    const char* message;
  };
  auto the_index = [](Request* t) { return t->mutable_local_secondary_indexes(0); };
  const Row rows[] = {
      {"SEM-091 six",
       [](Request* t) {
         for (int i = 0; i < 5; ++i)
           AddLocalIndex(t, "More" + std::to_string(i), "rate:N", v1::PROJECTION_TYPE_ALL);
       },
       "has 6 local secondary indexes; at most 5 are allowed"},
      {"SEM-091 table without a sort key",
       [](Request* t) {
         t->mutable_key_schema()->RemoveLast();
         t->mutable_attribute_definitions()->DeleteSubrange(1, 1);
       },
       "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"},
      {"SEM-091 another partition key",
       [&](Request* t) { the_index(t)->mutable_key_schema(0)->set_attribute_name("sk"); },
       "does not have the same leading hash key as table KeySchema for index: ByRate. index hash key: sk, "
       "table hash key: pk"},
      {"SEM-091 no sort key",
       [&](Request* t) {
         the_index(t)->mutable_key_schema()->RemoveLast();
         t->mutable_attribute_definitions()->RemoveLast();
       },
       "Index KeySchema does not have a range key for index: ByRate"},
      {"SEM-077 two sort keys", [&](Request* t) { *the_index(t)->add_key_schema() = t->key_schema(1); },
       "index ByRate may have 1 HASH and 1 RANGE"},
      {"SEM-077 two partition keys",
       [&](Request* t) { the_index(t)->mutable_key_schema(1)->set_key_type(v1::KEY_TYPE_HASH); },
       "index ByRate may have 1 HASH and 1 RANGE"},
      {"SEM-079 partition key as sort key",
       [&](Request* t) { the_index(t)->mutable_key_schema(1)->set_attribute_name("pk"); }, "twice"},
      {"SEM-079 undefined attribute",
       [&](Request* t) { the_index(t)->mutable_key_schema(1)->set_attribute_name("other"); }, "not defined"},
      {"SEM-067 a global index's name",
       [](Request* t) { AddIndex(t, "ByRate", {"rate:N"}, 1, v1::PROJECTION_TYPE_ALL); },
       "Duplicate index name: ByRate"},
      {"SEM-067 one name twice",
       [](Request* t) { AddLocalIndex(t, "ByRate", "sk:S", v1::PROJECTION_TYPE_ALL); },
       "Duplicate index name: ByRate"},
      {"SEM-008 name", [&](Request* t) { the_index(t)->set_index_name("a b"); }, "IndexName 'a b'"},
      {"SEM-068 no projection", [&](Request* t) { the_index(t)->clear_projection(); },
       "ProjectionType of index ByRate must be"},
      {"SEM-068 a hundred and one, of both kinds",
       [](Request* t) {
         for (int i = 0; i < 5; ++i) {
           AddIndex(t, "Global" + std::to_string(i), {"rate:N"}, 1, v1::PROJECTION_TYPE_INCLUDE);
           auto* projection = t->mutable_global_secondary_indexes(i)->mutable_projection();
           for (int j = 0; j < 20; ++j) projection->add_non_key_attributes("x" + std::to_string(j));
         }
         AddLocalIndex(t, "One", "rate:N", v1::PROJECTION_TYPE_INCLUDE, {"x"});
       },
       "101 NonKeyAttributes together"}};
  TestDatabase database;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto table = TableRequest("Things");
    AddLocalIndex(&table, "ByRate", "rate:N", v1::PROJECTION_TYPE_KEYS_ONLY);
    row.change(&table);
    EXPECT_THAT(CreateTable(database, table).status(), IsInvalid(row.message));
  }
}

// Five local and twenty global indexes are allowed, and described as they were defined (SEM-067, SEM-091).
TEST(LocalIndexes, AsManyAsAllowedAreKeptAcrossARestart) {
  TestDatabase database;
  auto table = TableRequest("Things");
  for (int i = 0; i < 20; ++i)
    AddIndex(&table, "Global" + std::to_string(i), {"rate:N"}, 1, v1::PROJECTION_TYPE_ALL);
  for (int i = 0; i < 5; ++i)
    AddLocalIndex(&table, "Local" + std::to_string(i), i == 0 ? "sk:S" : "rate:N",
                  i == 1 ? v1::PROJECTION_TYPE_INCLUDE : v1::PROJECTION_TYPE_KEYS_ONLY,
                  i == 1 ? std::initializer_list<std::string>{"x"} : std::initializer_list<std::string>{});
  database.CreateTable(table);
  ASSERT_TRUE(database.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"rate", N("1")}, {"x", S("y")}}).ok());
  ASSERT_TRUE(database.Put("Things", {{"pk", S("p")}, {"sk", S("t")}}).ok());
  for (int i = 0; i < 2; ++i) {
    v1::TableDescription description = Describe(database, "Things");
    ASSERT_EQ(description.local_secondary_indexes_size(), 5);
    for (int j = 0; j < 5; ++j) {
      const auto& index = description.local_secondary_indexes(j);
      EXPECT_EQ(index.index_name(), "Local" + std::to_string(j));
      EXPECT_EQ(index.key_schema(0).attribute_name(), "pk");
      EXPECT_EQ(index.key_schema(1).attribute_name(), j == 0 ? "sk" : "rate");
      EXPECT_EQ(index.projection().SerializeAsString(),
                table.local_secondary_indexes(j).projection().SerializeAsString());
      EXPECT_EQ(index.item_count(), j == 0 ? 2 : 1);  // Items without the key are left out.
      EXPECT_EQ(index.index_size_bytes(), j == 0 ? 12 : 6 + (4 + 2) + (j == 1 ? 2 : 0));
    }
    database.CheckIsClean();
    database.Reopen();
  }
}

// Items of one collection whose ranks descend as their sort keys ascend; ByRank projects the keys and x.
class LocalIndex : public ::testing::Test {
 protected:
  LocalIndex() {
    auto table = TableRequest("Things");
    AddLocalIndex(&table, "ByRank", "rate:N", v1::PROJECTION_TYPE_INCLUDE, {"x"});
    AddLocalIndex(&table, "Keys", "rate:N", v1::PROJECTION_TYPE_KEYS_ONLY);
    AddLocalIndex(&table, "Everything", "rate:N", v1::PROJECTION_TYPE_ALL);
    AddIndex(&table, "Global", {"pk:S", "rate:N"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
    database_.CreateTable(table);
  }

  absl::StatusOr<wire::WriteItemReply> Put(int i, v1::AttributeValue rate, size_t padding = 0) {
    auto put = WriteRequest("Things", {{"pk", S("p")},
                                       {"sk", S("s" + std::to_string(i))},
                                       {"rate", std::move(rate)},
                                       {"x", N(std::to_string(i))},
                                       {"y", N(std::to_string(i))},
                                       {"z", S(std::string(padding, 'z'))}});
    put.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_INDEXES);
    return PutItem(database_, put);
  }
  void PutAll() {
    for (int i = 1; i <= 4; ++i) ASSERT_TRUE(Put(i, N(std::to_string(-i))).ok());
    ASSERT_TRUE(database_.Put("Things", {{"pk", S("q")}, {"sk", S("s")}, {"rate", N("0")}}).ok());
    ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("without rate")}}).ok());
  }
  static wire::PageRequest Query(const std::string& index, const std::string& more = "") {
    auto query = QueryRequest("Things", "pk = :p" + more, {{":p", S("p")}});
    query.set_index_name(index);
    query.set_consistent_read(true);  // Allowed on local indexes (SEM-041).
    return query;
  }

  TestDatabase database_;
};

TEST_F(LocalIndex, SortsACollectionByItsOwnKeyAndLeavesOutItemsWithoutIt) {  // SEM-069, SEM-091
  PutAll();
  EXPECT_THAT(QueryAll(database_, Query("Keys")), ElementsAre("pk=p rate=-4 sk=s4", "pk=p rate=-3 sk=s3",
                                                              "pk=p rate=-2 sk=s2", "pk=p rate=-1 sk=s1"));
  auto ranged = Query("ByRank", " AND rate BETWEEN :low AND :high");
  SetValue(&ranged, ":low", N("-3"));
  SetValue(&ranged, ":high", N("-2"));
  ranged.set_scan_index_forward(false);
  EXPECT_THAT(QueryAll(database_, ranged), ElementsAre("pk=p rate=-2 sk=s2 x=2", "pk=p rate=-3 sk=s3 x=3"));
  EXPECT_THAT(Put(9, S("no number")).status(),  // The type must fit (SEM-070).
              IsInvalid("Type mismatch for Index Key rate Expected: N Actual: S IndexName: Global"));
  database_.CheckIsClean();
}

TEST_F(LocalIndex, GivesWhatItDoesNotHoldFromTheTable) {  // SEM-036, SEM-091
  PutAll();
  struct Row {
    const char* name;
    std::function<void(wire::PageRequest*)> change;
    std::vector<std::string> items;
  };
  const Row rows[] = {
      {"all attributes",
       [](auto* q) { q->set_select(v1::SELECT_ALL_ATTRIBUTES); },
       {"pk=p rate=-4 sk=s4 x=4 y=4 z=", "pk=p rate=-3 sk=s3 x=3 y=3 z=", "pk=p rate=-2 sk=s2 x=2 y=2 z=",
        "pk=p rate=-1 sk=s1 x=1 y=1 z="}},
      {"projection",
       [](auto* q) { q->set_projection_expression("y, sk"); },
       {"sk=s4 y=4", "sk=s3 y=3", "sk=s2 y=2", "sk=s1 y=1"}},
      {"filter, projected attributes",
       [](auto* q) {
         q->set_filter_expression("y > :two");
         q->set_select(v1::SELECT_ALL_PROJECTED_ATTRIBUTES);
         SetValue(q, ":two", N("2"));
       },
       {"pk=p rate=-4 sk=s4 x=4", "pk=p rate=-3 sk=s3 x=3"}},
      {"filter, whatever is projected",
       [](auto* q) {
         q->set_filter_expression("y > :three");
         SetValue(q, ":three", N("3"));
       },
       {"pk=p rate=-4 sk=s4 x=4"}},
      {"filter, all attributes",
       [](auto* q) {
         q->set_filter_expression("sk = :s");  // The table's sort key is not in the index's key (SEM-040).
         q->set_select(v1::SELECT_ALL_ATTRIBUTES);
         SetValue(q, ":s", S("s2"));
       },
       {"pk=p rate=-2 sk=s2 x=2 y=2 z="}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    for (bool forward : {true, false}) {
      auto query = Query("ByRank");
      row.change(&query);
      query.set_scan_index_forward(forward);
      std::vector<std::string> expected = row.items;
      if (!forward) std::reverse(expected.begin(), expected.end());
      EXPECT_EQ(QueryAll(database_, query), expected);
      for (int limit = 1; limit <= 5; ++limit) {
        query.set_limit(limit);
        int pages = 0;
        EXPECT_EQ(QueryAll(database_, query, &pages), expected) << "limit " << limit;
        EXPECT_EQ(pages, 4 / limit + 1);
      }
    }
  }
  auto count = Query("ByRank");
  count.set_select(v1::SELECT_COUNT);
  count.set_count_all(true);
  count.set_filter_expression("y < :three");
  SetValue(&count, ":three", N("3"));
  auto counted = database_.Query(count);
  ASSERT_TRUE(counted.ok()) << counted.status();
  EXPECT_EQ(counted->reply.count(), 2);
  EXPECT_EQ(counted->reply.scanned_count(), 4);
}

TEST_F(LocalIndex, IsScannedWithItsItemsInSegmentsToo) {  // SEM-033, SEM-076
  PutAll();
  auto scan = ScanRequest("Things");
  scan.set_index_name("Keys");
  scan.set_select(v1::SELECT_ALL_ATTRIBUTES);
  EXPECT_THAT(ScanAll(database_, scan), SizeIs(5));
  std::vector<std::string> all;
  scan.set_total_segments(3);
  scan.set_limit(1);
  for (int segment = 0; segment < 3; ++segment) {
    scan.set_segment(segment);
    for (const std::string& item : ScanAll(database_, scan)) all.push_back(item);
  }
  EXPECT_THAT(
      all, ElementsAre("pk=p rate=-4 sk=s4 x=4 y=4 z=", "pk=p rate=-3 sk=s3 x=3 y=3 z=",
                       "pk=p rate=-2 sk=s2 x=2 y=2 z=", "pk=p rate=-1 sk=s1 x=1 y=1 z=", "pk=q rate=0 sk=s"));
}

TEST_F(LocalIndex, RefusesWhatAGlobalIndexOrAnyIndexRefuses) {
  auto global = Query("Global");
  global.set_select(v1::SELECT_ALL_ATTRIBUTES);
  EXPECT_THAT(database_.Query(global).status(), IsInvalid("not supported for global secondary index Global"));
  global = Query("Global");
  global.set_projection_expression("y");
  EXPECT_THAT(database_.Query(global).status(),
              IsInvalid("does not project one or more projected"));  // A global index (SEM-037).
  auto local = Query("ByRank");
  local.set_filter_expression("rate > :p");
  EXPECT_THAT(database_.Query(local).status(), IsInvalid("Primary key attribute: rate"));  // SEM-040
  local = Query("ByRank");
  local.set_exclusive_start_key(Encode({{"pk", S("p")}, {"rate", N("1")}}));
  EXPECT_THAT(database_.Query(local).status(),
              IsInvalid("exactly these attributes: pk, rate, sk"));  // SEM-032
}

// A page ends at 1 MiB of index entries, or sooner at 1 MiB of fetched items (SEM-028). The table is charged
// for fetched items, each by itself.
TEST_F(LocalIndex, FetchedItemsBoundAPageAndAreAccountedForToTheTable) {  // SEM-062, SEM-065
  for (int i = 1; i <= 6; ++i) ASSERT_TRUE(Put(i, N(std::to_string(i)), 300'000).ok());
  auto query = Query("Keys");
  query.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_INDEXES);
  auto entries = database_.Query(query);
  ASSERT_TRUE(entries.ok());
  EXPECT_THAT(ShowItems(*entries), SizeIs(6));
  EXPECT_FALSE(entries->reply.has_last_evaluated_key());
  EXPECT_EQ(entries->reply.consumed_capacity().capacity_units(), 1.0);
  EXPECT_EQ(entries->reply.consumed_capacity().table().capacity_units(), 0.0);
  EXPECT_EQ(entries->reply.consumed_capacity().local_secondary_indexes().at("Keys").capacity_units(), 1.0);
  EXPECT_THAT(entries->reply.consumed_capacity().global_secondary_indexes(), IsEmpty());

  query.set_select(v1::SELECT_ALL_ATTRIBUTES);
  auto items = database_.Query(query);
  ASSERT_TRUE(items.ok());
  EXPECT_THAT(ShowItems(*items), SizeIs(4)) << "the fourth crosses 1 MiB";
  EXPECT_TRUE(items->reply.has_last_evaluated_key());
  EXPECT_EQ(items->reply.consumed_capacity().table().capacity_units(), 4 * 74.0);
  EXPECT_EQ(items->reply.consumed_capacity().local_secondary_indexes().at("Keys").capacity_units(), 1.0);
  EXPECT_EQ(items->reply.consumed_capacity().capacity_units(), 4 * 74.0 + 1);
  int pages = 0;
  EXPECT_THAT(QueryAll(database_, query, &pages), SizeIs(6));
  EXPECT_EQ(pages, 2);

  query.set_consistent_read(false);
  query.set_limit(1);
  items = database_.Query(query);
  ASSERT_TRUE(items.ok());
  EXPECT_EQ(items->reply.consumed_capacity().capacity_units(), 37.5);
}

TEST_F(LocalIndex, WritesAreAccountedForUnderTheirOwnHeading) {  // SEM-064
  auto put = Put(1, N("1"));
  ASSERT_TRUE(put.ok()) << put.status();
  const v1::ConsumedCapacity& consumed = put->consumed_capacity();
  EXPECT_EQ(consumed.capacity_units(), 5.0);
  EXPECT_THAT(consumed.local_secondary_indexes(), SizeIs(3));
  EXPECT_EQ(consumed.local_secondary_indexes().at("ByRank").capacity_units(), 1.0);
  EXPECT_THAT(consumed.global_secondary_indexes(), SizeIs(1));
  auto moved = Put(1, N("2"));
  EXPECT_EQ(moved->consumed_capacity().local_secondary_indexes().at("ByRank").capacity_units(), 2.0);
}

// First the cache holds the entries and some of the items, then nothing: a read continues where it waited.
TEST(LocalIndexes, FetchItemsFromDisk) {
  TestDatabase database;
  auto table = TableRequest("Things");
  AddLocalIndex(&table, "ByRank", "rate:N", v1::PROJECTION_TYPE_KEYS_ONLY);
  database.CreateTable(table);
  for (int i = 0; i < 300; ++i) {
    std::string number = std::to_string(i);
    ASSERT_TRUE(
        database
            .Put("Things",
                 {{"pk", S("p")}, {"sk", S(number)}, {"rate", N(number)}, {"z", S(std::string(1'000, 'z'))}})
            .ok());
  }
  auto query = QueryRequest("Things", "pk = :p", {{":p", S("p")}});
  query.set_index_name("ByRank");
  for (bool entries_first : {true, false}) {
    database.Reopen();
    query.clear_projection_expression();
    if (entries_first) {
      EXPECT_THAT(QueryAll(database, query), SizeIs(300));
      EXPECT_NE(database.Get("Things", {{"pk", S("p")}, {"sk", S("150")}}), "");
    }
    query.set_projection_expression("sk, z");
    std::vector<std::string> items = QueryAll(database, query);
    ASSERT_THAT(items, SizeIs(300));
    for (int i = 0; i < 300; ++i)
      EXPECT_EQ(items[static_cast<size_t>(i)], "sk=" + std::to_string(i) + " z=" + std::string(1'000, 'z'));
  }
}

}  // namespace
}  // namespace itemdb::testing
