// BatchWriteItem is checked as a whole, and each item is written separately.

#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Batch : public ::testing::Test {
 protected:
  Batch() {
    auto table = TableRequest("Things");
    AddIndex(&table, "Ranks", {"rate:N"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
    database_.CreateTable(table);
    auto numbers = TableRequest("Numbers", /*sorted=*/false);
    numbers.mutable_attribute_definitions(0)->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_N);
    database_.CreateTable(numbers);
  }

  wire::TableWriteRequests* Of(const std::string& table) {
    for (auto& writes : *request_.mutable_request_items()) {
      if (writes.table_name() == table) return &writes;
    }
    auto* writes = request_.add_request_items();
    writes->set_table_name(table);
    return writes;
  }
  void Put(const std::string& table, Attributes item) {
    Of(table)->add_write_requests()->mutable_put_request()->set_item(Encode(item));
  }
  void Delete(const std::string& table, Attributes key) {
    Of(table)->add_write_requests()->mutable_delete_request()->set_key(Encode(key));
  }
  absl::StatusOr<wire::BatchWriteItemReply> Run() { return BatchWrite(database_, request_); }
  std::vector<std::string> Things() { return ScanAll(database_, ScanRequest("Things")); }

  TestDatabase database_;
  wire::BatchWriteItemRequest request_;
};

TEST_F(Batch, PutsAndDeletesInSeveralTables) {  // SEM-045, SEM-046, OP-20
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("old")}, {"sk", S("s")}, {"rate", N("1")}}).ok());
  Put("Things", {{"pk", S("a")}, {"sk", S("s")}, {"rate", N("2")}});
  Put("Numbers", {{"pk", N("1")}});
  Delete("Things", {{"pk", S("old")}, {"sk", S("s")}});
  Delete("Things", {{"pk", S("never")}, {"sk", S("s")}});
  auto reply = Run();
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_THAT(reply->unprocessed_items(), IsEmpty());
  EXPECT_EQ(reply->change_sequence(), 6u);
  EXPECT_THAT(Things(), ElementsAre("pk=a rate=2 sk=s"));
  EXPECT_EQ(database_.Get("Numbers", {{"pk", N("1")}}), "pk=1");
  // Each item is its own commit.
  auto changes = Changes(database_);
  ASSERT_THAT(changes, SizeIs(6));
  for (size_t i = 3; i < 6; ++i) {
    EXPECT_EQ(changes[i].commit_first_sequence(), changes[i].change_sequence());
    EXPECT_EQ(changes[i].commit_last_sequence(), changes[i].change_sequence());
  }
  database_.CheckIsClean();
}

TEST_F(Batch, TakesOneToTwentyFiveWrites) {  // SEM-045
  EXPECT_THAT(Run().status(), IsInvalid("1 to 25"));
  Of("Things");
  EXPECT_THAT(Run().status(), IsInvalid("'Things' is empty"));
  for (int i = 0; i < 25; ++i) Put("Things", {{"pk", S(std::to_string(i))}, {"sk", S("s")}});
  EXPECT_TRUE(Run().ok());
  EXPECT_THAT(Things(), SizeIs(25));
  Put("Numbers", {{"pk", N("1")}});
  EXPECT_THAT(Run().status(), IsInvalid("1 to 25"));
}

TEST_F(Batch, TakesItemsOfTheLargestSize) {  // SEM-045, SEM-001
  for (int i = 0; i < 25; ++i) {
    std::string pk(1, static_cast<char>('a' + i));
    Put("Things", {{"pk", S(pk)}, {"sk", S("s")}, {"x", S(std::string(409'600 - 7, 'x'))}});
  }
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Describe(database_, "Things").table_size_bytes(), 25 * 409'600);
  request_.Clear();
  Put("Things", {{"pk", S("z")}, {"sk", S("s")}, {"x", S(std::string(409'601 - 7, 'x'))}});
  EXPECT_THAT(Run().status(), IsInvalid("Item size has exceeded"));
}

TEST_F(Batch, RefusesTwoWritesOfOneItem) {  // SEM-046, SEM-013
  Put("Numbers", {{"pk", N("1000")}});
  Delete("Numbers", {{"pk", N("1e3")}});
  EXPECT_THAT(Run().status(), IsInvalid("Provided list of item keys contains duplicates"));
  EXPECT_EQ(Describe(database_, "Numbers").item_count(), 0);
}

TEST_F(Batch, IsRefusedAsAWholeWhenOneWriteIsInvalid) {  // SEM-046
  struct Row {
    const char* name;
    std::function<void()> add;
    const char* message;
  };
  const Row rows[] = {{"neither put nor delete", [&] { Of("Things")->add_write_requests(); },
                       "PutRequest or a DeleteRequest"},
                      {"key type",
                       [&] {
                         Put("Things", {{"pk", N("1")}, {"sk", S("s")}});
                       },
                       "pk"},
                      {"key schema",
                       [&] {
                         Delete("Things", {{"pk", S("x")}});
                       },
                       "schema"},
                      {"index key type",
                       [&] {
                         Put("Things", {{"pk", S("x")}, {"sk", S("s")}, {"rate", S("1")}});
                       },
                       "Index Key rate"},
                      {"number",
                       [&] {
                         Put("Numbers", {{"pk", N("one")}});
                       },
                       ""}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    request_.Clear();
    Put("Things", {{"pk", S("fine")}, {"sk", S("s")}});
    row.add();
    EXPECT_THAT(Run().status(), IsInvalid(row.message));
  }
  request_.Clear();
  Put("Things", {{"pk", S("fine")}, {"sk", S("s")}});
  Put("Nothing", {{"pk", S("fine")}});
  EXPECT_THAT(Run().status(), IsTableNotFound());
  EXPECT_THAT(Things(), IsEmpty());
  EXPECT_THAT(Changes(database_), SizeIs(2));
}

}  // namespace
}  // namespace itemdb::testing
