// Items through Database: single writes and reads.

#include "gmock/gmock.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;

TEST(Items, APutItemIsReadBack) {  // OP-13, OP-14
  TestDatabase database;
  database.CreateTable(TableRequest("Order"));
  auto reply = database.Put("Order", {{"sk", S("a")}, {"pk", S("o1")}, {"total", N("25.00")}});
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->change_sequence(), 2u);  // The table's creation is change 1.
  EXPECT_EQ(database.Get("Order", {{"pk", S("o1")}, {"sk", S("a")}}), "pk=o1 sk=a total=25");
  EXPECT_EQ(database.Get("Order", {{"pk", S("o1")}, {"sk", S("b")}}), "");
  database.Reopen();
  EXPECT_EQ(database.Get("Order", {{"pk", S("o1")}, {"sk", S("a")}}), "pk=o1 sk=a total=25");
  database.CheckIsClean();
}

TEST(Items, AnIndexHoldsOnlyItemsThatHaveAllItsKeys) {  // SEM-069, SEED-010
  TestDatabase database;
  auto table = TableRequest("Order");
  AddIndex(&table, "Open", {"status:S", "shard_no:N", "date:S"}, 2, v1::PROJECTION_TYPE_INCLUDE, {"total"});
  database.CreateTable(table);
  ASSERT_TRUE(database
                  .Put("Order", {{"pk", S("o1")},
                                 {"sk", S("o1")},
                                 {"status", S("OPEN")},
                                 {"shard_no", N("0")},
                                 {"date", S("2025-02")},
                                 {"total", N("5")},
                                 {"note", S("x")}})
                  .ok());
  ASSERT_TRUE(database
                  .Put("Order", {{"pk", S("o2")},
                                 {"sk", S("o2")},
                                 {"status", S("OPEN")},
                                 {"shard_no", N("0.0")},
                                 {"date", S("2025-01")}})
                  .ok());
  ASSERT_TRUE(
      database.Put("Order", {{"pk", S("o3")}, {"sk", S("o3")}, {"status", S("OPEN")}, {"date", S("2025-01")}})
          .ok());
  wire::PageRequest query;
  query.set_table_name("Order");
  query.set_index_name("Open");
  query.set_key_condition_expression("#s = :s AND shard_no = :n AND #d BETWEEN :a AND :b");
  SetName(&query, "#s", "status");
  SetName(&query, "#d", "date");
  SetValue(&query, ":s", S("OPEN"));
  SetValue(&query, ":n", N("0"));
  SetValue(&query, ":a", S("2025-01"));
  SetValue(&query, ":b", S("2025-12"));
  auto page = database.Query(query);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(ShowItems(*page), ElementsAre("date=2025-01 pk=o2 shard_no=0 sk=o2 status=OPEN",
                                            "date=2025-02 pk=o1 shard_no=0 sk=o1 status=OPEN total=5"));

  wire::WriteItemRequest close;
  close.set_table_name("Order");
  close.set_key_or_item(Encode({{"pk", S("o1")}, {"sk", S("o1")}}));
  close.set_update_expression("SET #s = :c REMOVE shard_no");
  SetName(&close, "#s", "status");
  SetValue(&close, ":c", S("CLOSED"));
  ASSERT_TRUE(database.Update(close).ok());
  page = database.Query(query);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(ShowItems(*page), ElementsAre("date=2025-01 pk=o2 shard_no=0 sk=o2 status=OPEN"));
  database.CheckIsClean();
}

// After a start RocksDB has only some table files open. For the others, a read that may not open files
// returns "may exist" instead of "ask the disk". That was once reported as a damaged record.
TEST(Items, AreReadFromFilesThatWereNotOpenYet) {
  TestDatabase database;
  auto name = [](int i) { return "table" + std::to_string(i); };
  constexpr int kTables = 40;
  for (int i = 0; i < kTables; ++i) {
    database.CreateTable(TableRequest(name(i)));
    ASSERT_TRUE(database.Put(name(i), {{"pk", S("a")}, {"sk", S("b")}, {"n", N("1")}}).ok());
  }
  database.Reopen();
  for (int i = 0; i < kTables; ++i)
    EXPECT_EQ(database.Get(name(i), {{"pk", S("a")}, {"sk", S("b")}}), "n=1 pk=a sk=b");
  database.Reopen();
  for (int i = 0; i < kTables; ++i) {
    auto deleted = database.Delete(name(i), {{"pk", S("a")}, {"sk", S("b")}});
    ASSERT_TRUE(deleted.ok()) << deleted.status();
    EXPECT_EQ(deleted->change_sequence(), static_cast<uint64_t>(2 * kTables + i + 1));
  }
  database.CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
