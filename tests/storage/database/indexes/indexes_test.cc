// Secondary indexes: which items have entries, which writes are refused, queries by several attributes.

#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Entries of an index: the items of a Scan of it.
std::vector<std::string> Entries(TestDatabase& database, const std::string& index) {
  wire::PageRequest scan = ScanRequest("Things");
  scan.set_index_name(index);
  return ScanAll(database, scan);
}

v1::AttributeValue Bytes(size_t count) { return B(std::string(count, 'b')); }
v1::AttributeValue Text(size_t count) { return S(std::string(count, 's')); }

TEST(Indexes, CarryWhatTheirProjectionSays) {  // SEM-068
  TestDatabase database;
  auto table = TableRequest("Things");
  AddIndex(&table, "Keys", {"kind:S"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
  AddIndex(&table, "Some", {"kind:S", "rate:N"}, 1, v1::PROJECTION_TYPE_INCLUDE, {"note", "pk", "absent"});
  AddIndex(&table, "Everything", {"rate:N"}, 1, v1::PROJECTION_TYPE_ALL);
  AddIndex(&table, "Twin", {"rate:N"}, 1, v1::PROJECTION_TYPE_ALL);  // Same definition (SEM-067).
  database.CreateTable(table);
  ASSERT_TRUE(database
                  .Put("Things", {{"pk", S("p")},
                                  {"sk", S("s")},
                                  {"kind", S("k")},
                                  {"rate", N("1")},
                                  {"note", S("n")},
                                  {"x", N("9")}})
                  .ok());
  EXPECT_THAT(Entries(database, "Keys"), ElementsAre("kind=k pk=p sk=s"));
  EXPECT_THAT(Entries(database, "Some"), ElementsAre("kind=k note=n pk=p rate=1 sk=s"));
  EXPECT_THAT(Entries(database, "Everything"), ElementsAre("kind=k note=n pk=p rate=1 sk=s x=9"));
  EXPECT_THAT(Entries(database, "Twin"), ElementsAre("kind=k note=n pk=p rate=1 sk=s x=9"));
  v1::TableDescription description = Describe(database, "Things");
  EXPECT_EQ(description.global_secondary_indexes(0).item_count(), 1);
  EXPECT_EQ(description.global_secondary_indexes(0).index_size_bytes(), 4 + 1 + 2 + 1 + 2 + 1);
  EXPECT_EQ(description.global_secondary_indexes(1).index_size_bytes(), 11 + (4 + 1) + (4 + 2));
  EXPECT_EQ(description.global_secondary_indexes(2).index_size_bytes(), description.table_size_bytes());
  database.CheckIsClean();
}

class WideIndex : public ::testing::Test {
 protected:
  WideIndex() {
    auto table = TableRequest("Things");
    AddIndex(&table, "Wide", {"h1:S", "h2:N", "r1:B", "r2:N", "r3:S"}, 2, v1::PROJECTION_TYPE_INCLUDE,
             {"note"});
    database_.CreateTable(table);
  }

  void Put(const std::string& pk, v1::AttributeValue h1, v1::AttributeValue h2, v1::AttributeValue r1,
           v1::AttributeValue r2, v1::AttributeValue r3) {
    auto reply = database_.Put(
        "Things",
        {{"pk", S(pk)}, {"sk", S("s")}, {"h1", h1}, {"h2", h2}, {"r1", r1}, {"r2", r2}, {"r3", r3}});
    ASSERT_TRUE(reply.ok()) << reply.status();
  }
  wire::PageRequest Query(const std::string& condition, Attributes values) {
    auto query = QueryRequest("Things", condition, values);
    query.set_index_name("Wide");
    query.set_projection_expression("pk");
    return query;
  }

  TestDatabase database_;
};

TEST_F(WideIndex, HasNoEntryWhenAnyKeyAttributeIsMissing) {  // SEM-069, SEM-083
  const std::pair<std::string, v1::AttributeValue> all[] = {
      {"h1", S("h")}, {"h2", N("1")}, {"r1", B("b")}, {"r2", N("2")}, {"r3", S("r")}};
  for (const auto& [left_out, ignored] : all) {
    SCOPED_TRACE(left_out);
    auto update = UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("s")}},
                                "SET h1 = :h1, h2 = :h2, r1 = :r1, r2 = :r2, r3 = :r3");
    for (const auto& [name, value] : all) SetValue(&update, ":" + name, value);
    ASSERT_TRUE(database_.Update(update).ok());
    EXPECT_THAT(Entries(database_, "Wide"), ElementsAre("h1=h h2=1 pk=p r1=b: \"b\" r2=2 r3=r sk=s"));
    ASSERT_TRUE(
        database_.Update(UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("s")}}, "REMOVE " + left_out))
            .ok());
    EXPECT_THAT(Entries(database_, "Wide"), IsEmpty());
  }
  EXPECT_EQ(Describe(database_, "Things").global_secondary_indexes(0).item_count(), 0);
  EXPECT_EQ(Describe(database_, "Things").global_secondary_indexes(0).index_size_bytes(), 0);
  database_.CheckIsClean();
}

// A write is refused even if another key attribute is missing and the item would have no entry.
TEST_F(WideIndex, RefusesWritesWithAKeyOfTheWrongTypeOrEmpty) {  // SEM-070, SEM-083
  v1::AttributeValue null;
  null.set_null(true);
  struct Row {
    const char* attribute;
    v1::AttributeValue value;
    const char* message;
  };
  const Row rows[] = {{"h1", N("1"), "Type mismatch for Index Key h1 Expected: S Actual: N IndexName: Wide"},
                      {"h2", S("1"), "Type mismatch for Index Key h2 Expected: N Actual: S IndexName: Wide"},
                      {"r1", S("b"), "Type mismatch for Index Key r1 Expected: B Actual: S IndexName: Wide"},
                      {"r3", null, "Type mismatch for Index Key r3 Expected: S Actual: NULL IndexName: Wide"},
                      {"h1", S(""), "IndexName: Wide, IndexKey: h1"},
                      {"r1", B(""), "IndexName: Wide, IndexKey: r1"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.message);
    EXPECT_THAT(
        database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {row.attribute, row.value}}).status(),
        IsInvalid(row.message));
    auto update =
        UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("s")}}, "SET #a = :v", {{":v", row.value}});
    SetName(&update, "#a", row.attribute);
    EXPECT_THAT(database_.Update(update).status(), IsInvalid(row.message));
  }
  EXPECT_THAT(ScanAll(database_, ScanRequest("Things")), IsEmpty());
}

TEST_F(WideIndex, LimitsTheSumOfItsKeySizes) {  // SEM-084, SEM-003 (size of numbers)
  struct Row {
    const char* name;
    v1::AttributeValue h1, h2, r1, r2, r3;
    const char* message;  // "" when it must be accepted.
  };
  const Row rows[] = {
      {"HASH at the limit", Text(2046), N("1"), B("b"), N("1"), S("r"), ""},
      {"HASH above", Text(2047), N("1"), B("b"), N("1"), S("r"),
       "Aggregate size for HASH key attributes [h1, h2] of index Wide has exceeded limit 2048 bytes, with "
       "actual size 2049 bytes"},
      {"RANGE at the limit", S("h"), N("1"), Bytes(500), N("1"), Text(522), ""},
      {"RANGE above", S("h"), N("1"), Bytes(500), N("1"), Text(523),
       "Aggregate size for RANGE key attributes [r1, r2, r3] of index Wide has exceeded limit 1024 bytes, "
       "with actual size 1025 bytes"},
      {"a long number of few digits", Text(2046), N("1e125"), Bytes(500), N("1e-120"), Text(522), ""}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto reply = database_.Put("Things", {{"pk", S(row.name)},
                                          {"sk", S("s")},
                                          {"h1", row.h1},
                                          {"h2", row.h2},
                                          {"r1", row.r1},
                                          {"r2", row.r2},
                                          {"r3", row.r3}});
    if (row.message[0] != '\0') {
      EXPECT_THAT(reply.status(), IsInvalid(row.message));
      continue;
    }
    EXPECT_TRUE(reply.ok()) << reply.status();
    EXPECT_THAT(
        QueryAll(database_,
                 Query("h1 = :a AND h2 = :b AND r1 = :c AND r2 = :d AND r3 = :e",
                       {{":a", row.h1}, {":b", row.h2}, {":c", row.r1}, {":d", row.r2}, {":e", row.r3}})),
        ElementsAre("pk=" + std::string(row.name)));
  }
  EXPECT_THAT(database_.Query(Query("h1 = :a AND h2 = :b", {{":a", Text(2047)}, {":b", N("1")}})).status(),
              IsInvalid("2048"));
}

TEST_F(WideIndex, KeepsNeighbouringKeysApart) {  // SEM-090
  auto table = TableRequest("Pairs");
  AddIndex(&table, "Pair", {"h1:S", "h2:S"}, 2, v1::PROJECTION_TYPE_KEYS_ONLY);
  database_.CreateTable(table);
  ASSERT_TRUE(
      database_.Put("Pairs", {{"pk", S("one")}, {"sk", S("s")}, {"h1", S("a")}, {"h2", S("bc")}}).ok());
  ASSERT_TRUE(
      database_.Put("Pairs", {{"pk", S("two")}, {"sk", S("s")}, {"h1", S("ab")}, {"h2", S("c")}}).ok());
  auto query = QueryRequest("Pairs", "h1 = :a AND h2 = :b", {{":a", S("a")}, {":b", S("bc")}});
  query.set_index_name("Pair");
  EXPECT_THAT(QueryAll(database_, query), ElementsAre("h1=a h2=bc pk=one sk=s"));
}

TEST_F(WideIndex, NeedsEqualityOnEveryPartitionKeyAttribute) {  // SEM-080
  EXPECT_THAT(database_.Query(Query("h1 = :a", {{":a", S("h")}})).status(),
              IsInvalid("HASH key attributes h1, h2 must have equality conditions specified in the query"));
  EXPECT_THAT(database_.Query(Query("h1 = :a AND h2 > :b", {{":a", S("h")}, {":b", N("1")}})).status(),
              IsInvalid("HASH key attributes h1, h2 must have equality conditions specified in the query"));
}

TEST_F(WideIndex, TakesSortKeyConditionsFromTheLeft) {  // SEM-081
  struct Row {
    const char* condition;
    const char* message;  // "" when it must be accepted.
  };
  const Row rows[] = {
      {"", ""},
      {" AND r1 = :b", ""},
      {" AND r1 > :b", ""},
      {" AND begins_with(r1, :b)", ""},
      {" AND r2 < :n AND r1 = :b", ""},
      {" AND r3 = :s AND r2 = :n AND r1 = :b", ""},
      {" AND r2 = :n",
       "RANGE key attributes r1 must have equality conditions specified in the query because a condition is "
       "present on key attribute r2"},
      {" AND r1 >= :b AND r2 = :n", "RANGE key attributes r1 must have equality conditions"},
      {" AND r1 = :b AND r3 = :s", "RANGE key attributes r2 must have equality conditions"},
      {" AND r1 = :b AND r2 = :n AND r2 = :n", "one condition per key"},
      {" AND r1 = :s", "r1"},
      {" AND begins_with(r1, :b) AND begins_with(r2, :n)", ""}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.condition);
    std::string condition = row.condition;
    auto query = Query("h1 = :s AND h2 = :h" + condition, {{":s", S("h")}, {":h", N("1")}});
    if (condition.find(":b") != std::string::npos) SetValue(&query, ":b", B("b"));
    if (condition.find(":n") != std::string::npos) SetValue(&query, ":n", N("1"));
    auto page = database_.Query(query);
    bool wrong = row.message[0] != '\0' || condition.find("(r2") != std::string::npos;
    if (wrong) {
      EXPECT_THAT(page.status(), IsInvalid(row.message));
    } else {
      EXPECT_TRUE(page.ok()) << page.status();
    }
  }
}

TEST_F(WideIndex, SortsAttributeByAttributeEachByItsType) {  // SEM-014, SEM-082
  Put("c", S("h"), N("1"), B("a"), N("10"), S("a"));
  Put("b", S("h"), N("1.0"), B("a"), N("9"), S("z"));
  Put("a", S("h"), N("1"), B("a"), N("-10"), S("a"));
  Put("f", S("h"), N("1"), B("\xff"), N("0"), S("a"));
  Put("e", S("h"), N("1"), B(std::string("a\0", 2)), N("0"), S("b"));
  Put("d", S("h"), N("1"), B("a"), N("10"), S("aa"));
  Put("x", S("h"), N("2"), B("a"), N("0"), S("a"));
  Put("y", S("hh"), N("1"), B("a"), N("0"), S("a"));
  auto all = Query("h1 = :a AND h2 = :b", {{":a", S("h")}, {":b", N("1")}});
  EXPECT_THAT(QueryAll(database_, all), ElementsAre("pk=a", "pk=b", "pk=c", "pk=d", "pk=e", "pk=f"));
  all.set_scan_index_forward(false);
  EXPECT_THAT(QueryAll(database_, all), ElementsAre("pk=f", "pk=e", "pk=d", "pk=c", "pk=b", "pk=a"));
  auto between =
      Query("h1 = :a AND h2 = :b AND r1 = :c AND r2 BETWEEN :low AND :high",
            {{":a", S("h")}, {":b", N("1")}, {":c", B("a")}, {":low", N("-10")}, {":high", N("9.0")}});
  EXPECT_THAT(QueryAll(database_, between), ElementsAre("pk=a", "pk=b"));
  auto prefix =
      Query("h1 = :a AND h2 = :b AND begins_with(r1, :c)", {{":a", S("h")}, {":b", N("1")}, {":c", B("a")}});
  EXPECT_THAT(QueryAll(database_, prefix), ElementsAre("pk=a", "pk=b", "pk=c", "pk=d", "pk=e"));
}

TEST_F(WideIndex, PagesByTableKeyAndAllIndexKeyAttributes) {  // SEM-072, SEM-085
  for (const char* pk : {"a", "b", "c", "d"}) Put(pk, S("h"), N("1"), B("b"), N("2"), S("r"));
  auto query = Query("h1 = :a AND h2 = :b", {{":a", S("h")}, {":b", N("1")}});
  query.set_limit(1);
  auto page = database_.Query(query);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(Show(page->reply.last_evaluated_key()), "h1=h h2=1 pk=a r1=b: \"b\" r2=2 r3=r sk=s");
  int pages = 0;
  EXPECT_THAT(QueryAll(database_, query, &pages), ElementsAre("pk=a", "pk=b", "pk=c", "pk=d"));
  EXPECT_EQ(pages, 5);
  query.set_scan_index_forward(false);
  EXPECT_THAT(QueryAll(database_, query), ElementsAre("pk=d", "pk=c", "pk=b", "pk=a"));
}

TEST_F(WideIndex, RefusesItsKeyAttributesInAFilter) {  // SEM-040, SEM-086
  for (const char* name : {"h1", "h2", "r1", "r2", "r3"}) {
    SCOPED_TRACE(name);
    auto query = Query("h1 = :a AND h2 = :b", {{":a", S("h")}, {":b", N("1")}});
    query.set_filter_expression("attribute_exists(#alias)");
    SetName(&query, "#alias", name);
    EXPECT_THAT(
        database_.Query(query).status(),
        IsInvalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: " +
                  std::string(name)));
  }
  // The table's key attributes are not key attributes of the index.
  Put("a", S("h"), N("1"), B("b"), N("2"), S("r"));
  Put("b", S("h"), N("1"), B("b"), N("2"), S("r"));
  auto query = Query("h1 = :a AND h2 = :b", {{":a", S("h")}, {":b", N("1")}, {":p", S("b")}});
  query.set_filter_expression("pk = :p");
  EXPECT_THAT(QueryAll(database_, query), ElementsAre("pk=b"));
}

TEST_F(WideIndex, IsAskedOnlyForWhatItProjects) {  // SEM-037
  auto query = Query("h1 = :a AND h2 = :b", {{":a", S("h")}, {":b", N("1")}});
  query.set_filter_expression("attribute_exists(extra)");
  EXPECT_THAT(database_.Query(query).status(),
              IsInvalid("Secondary index Wide does not project one or more filter attributes"));
  query.clear_filter_expression();
  query.set_projection_expression("note, extra");
  EXPECT_THAT(database_.Query(query).status(), IsInvalid("does not project"));
  auto scan = ScanRequest("Things");
  scan.set_index_name("Wide");
  scan.set_filter_expression("attribute_exists(extra)");
  EXPECT_THAT(database_.Scan(scan).status(), IsInvalid("does not project"));
  scan.set_filter_expression("attribute_exists(note)");
  EXPECT_TRUE(database_.Scan(scan).ok());
}

TEST_F(WideIndex, FollowsItsItems) {  // SEM-074, SEM-075, INC-29
  Put("a", S("h"), N("1"), B("b"), N("2"), S("r"));
  auto entries = [&] { return Entries(database_, "Wide"); };
  auto update = [&](const std::string& expression, Attributes values) {
    auto reply =
        database_.Update(UpdateRequest("Things", {{"pk", S("a")}, {"sk", S("s")}}, expression, values));
    ASSERT_TRUE(reply.ok()) << reply.status();
  };
  update("SET r2 = :v", {{":v", N("3")}});  // A new index key: the old entry is deleted.
  EXPECT_THAT(entries(), ElementsAre("h1=h h2=1 pk=a r1=b: \"b\" r2=3 r3=r sk=s"));
  update("SET note = :v", {{":v", S("n")}});  // A new payload with the same index key.
  EXPECT_THAT(entries(), ElementsAre("h1=h h2=1 note=n pk=a r1=b: \"b\" r2=3 r3=r sk=s"));
  update("SET extra = :v", {{":v", S("n")}});  // The index does not project it.
  EXPECT_THAT(entries(), ElementsAre("h1=h h2=1 note=n pk=a r1=b: \"b\" r2=3 r3=r sk=s"));
  Put("a", S("g"), N("1"), B("b"), N("2"), S("r"));
  Put("b", S("f"), N("1"), B("b"), N("2"), S("r"));
  EXPECT_THAT(entries(), ElementsAre("h1=f h2=1 pk=b r1=b: \"b\" r2=2 r3=r sk=s",
                                     "h1=g h2=1 pk=a r1=b: \"b\" r2=2 r3=r sk=s"));
  ASSERT_TRUE(database_.Delete("Things", {{"pk", S("b")}, {"sk", S("s")}}).ok());
  database_.Reopen();
  EXPECT_THAT(entries(), ElementsAre("h1=g h2=1 pk=a r1=b: \"b\" r2=2 r3=r sk=s"));
  EXPECT_EQ(Describe(database_, "Things").global_secondary_indexes(0).item_count(), 1);
  database_.CheckIsClean();
}

TEST_F(WideIndex, KeysCannotBeUpdatedInside) {  // SEM-071
  for (const char* expression : {"SET h1.a = :v", "SET r2[0] = :v"}) {
    EXPECT_THAT(
        database_
            .Update(UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("s")}}, expression, {{":v", N("1")}}))
            .status(),
        IsInvalid("Key attributes must be scalars"));
  }
}

TEST_F(WideIndex, OfTheTableHasToExist) {  // SEM-039
  auto query = Query("h1 = :a AND h2 = :b", {{":a", S("h")}, {":b", N("1")}});
  query.set_index_name("Narrow");
  EXPECT_THAT(database_.Query(query).status(),
              IsInvalid("The table does not have the specified index: Narrow"));
}

TEST(Indexes, TakeFourPartitionAndFourSortAttributes) {  // SEM-077
  TestDatabase database;
  auto table = TableRequest("Things");
  AddIndex(&table, "Widest", {"a1:S", "a2:N", "a3:B", "a4:S", "b1:N", "b2:B", "b3:S", "b4:N"}, 4,
           v1::PROJECTION_TYPE_KEYS_ONLY);
  AddIndex(&table, "HashOnly", {"a1:S", "a2:N", "a3:B", "a4:S"}, 4, v1::PROJECTION_TYPE_KEYS_ONLY);
  database.CreateTable(table);
  for (int i = 0; i < 4; ++i) {
    auto reply = database.Put("Things", {{"pk", S(std::to_string(i))},
                                         {"sk", S("s")},
                                         {"a1", S("a")},
                                         {"a2", N("1")},
                                         {"a3", B("b")},
                                         {"a4", S("c")},
                                         {"b1", N("2")},
                                         {"b2", B("d")},
                                         {"b3", S("e")},
                                         {"b4", N(std::to_string(3 - i))}});
    ASSERT_TRUE(reply.ok()) << reply.status();
  }
  auto query = QueryRequest(
      "Things", "a4 = :c AND a3 = :b AND a2 = :n AND a1 = :a AND b1 = :m AND b2 = :d AND b3 = :e AND b4 < :f",
      {{":c", S("c")},
       {":b", B("b")},
       {":n", N("1")},
       {":a", S("a")},
       {":m", N("2")},
       {":d", B("d")},
       {":e", S("e")},
       {":f", N("3")}});
  query.set_index_name("Widest");
  query.set_projection_expression("pk");
  EXPECT_THAT(QueryAll(database, query), ElementsAre("pk=3", "pk=2", "pk=1"));
  query = QueryRequest("Things", "a1 = :a AND a2 = :n AND a3 = :b AND a4 = :c",
                       {{":c", S("c")}, {":b", B("b")}, {":n", N("1")}, {":a", S("a")}});
  query.set_index_name("HashOnly");
  query.set_projection_expression("pk");
  query.set_limit(3);
  EXPECT_THAT(QueryAll(database, query), UnorderedElementsAre("pk=0", "pk=1", "pk=2", "pk=3"));
  database.CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
