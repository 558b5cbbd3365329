// TransactWriteItems applies all actions or none, and reports the reasons.

#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Transactions : public ::testing::Test {
 protected:
  Transactions() {
    auto table = TableRequest("Things");
    AddIndex(&table, "Kinds", {"kind:S"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
    database_.CreateTable(table);
    database_.CreateTable(TableRequest("Others", /*sorted=*/false));
  }

  static wire::WriteItemRequest Thing(const std::string& pk, v1::AttributeValue a) {
    return WriteRequest("Things", {{"pk", S(pk)}, {"sk", S("s")}, {"a", std::move(a)}});
  }
  static wire::WriteItemRequest Key(const std::string& pk) {
    return WriteRequest("Things", {{"pk", S(pk)}, {"sk", S("s")}});
  }
  void AddPut(wire::WriteItemRequest request) {
    *request_.add_transact_items()->mutable_put() = std::move(request);
  }
  void AddUpdate(wire::WriteItemRequest request) {
    *request_.add_transact_items()->mutable_update() = std::move(request);
  }
  void AddDelete(wire::WriteItemRequest request) {
    *request_.add_transact_items()->mutable_delete_() = std::move(request);
  }
  void AddCheck(wire::WriteItemRequest request) {
    *request_.add_transact_items()->mutable_condition_check() = std::move(request);
  }
  absl::StatusOr<wire::TransactWriteItemsReply> Run() { return database_.Transact(request_); }
  // The codes of the reasons, with the item after a colon if there is one.
  static std::vector<std::string> Reasons(const absl::StatusOr<wire::TransactWriteItemsReply>& reply) {
    std::vector<std::string> reasons;
    EXPECT_TRUE(reply.ok()) << reply.status();
    if (!reply.ok()) return reasons;
    EXPECT_TRUE(reply->has_cancelled());
    for (const auto& reason : reply->cancelled().reasons()) {
      std::string text =
          v1::CancellationCode_Name(reason.code()).substr(std::string("CANCELLATION_CODE_").size());
      EXPECT_EQ(reason.message().empty(), reason.code() == v1::CANCELLATION_CODE_NONE);
      reasons.push_back(reason.has_item() ? text + ": " + Show(reason.item()) : text);
    }
    return reasons;
  }
  std::vector<std::string> Things() { return ScanAll(database_, ScanRequest("Things")); }

  TestDatabase database_;
  wire::TransactWriteItemsRequest request_;
};

TEST_F(Transactions, ApplyAllTheirActionsAsOneCommit) {  // SEM-047, SEM-107, OP-21
  ASSERT_TRUE(PutItem(database_, Thing("gone", N("1"))).ok());
  ASSERT_TRUE(PutItem(database_, Thing("checked", N("1"))).ok());
  AddPut(Thing("new", N("1")));
  AddCheck(If(Key("checked"), "a = :one", {{":one", N("1.0")}}));
  AddUpdate(UpdateRequest("Others", {{"pk", S("o")}}, "SET b = :v", {{":v", S("x")}}));
  AddPut(Thing("checked2", N("1")));
  AddDelete(Key("gone"));
  AddDelete(Key("never"));
  auto reply = Run();
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(reply->has_committed());
  EXPECT_EQ(reply->change_sequence(), 8u);
  EXPECT_THAT(Things(), ElementsAre("a=1 pk=checked sk=s", "a=1 pk=checked2 sk=s", "a=1 pk=new sk=s"));
  EXPECT_EQ(database_.Get("Others", {{"pk", S("o")}}), "b=x pk=o");
  // Four actions changed something: their records are consecutive, and name the first and last of the commit.
  auto changes = Changes(database_);
  ASSERT_THAT(changes, SizeIs(8));
  for (size_t i = 4; i < 8; ++i) {
    EXPECT_EQ(changes[i].change_sequence(), i + 1);
    EXPECT_EQ(changes[i].commit_first_sequence(), 5u);
    EXPECT_EQ(changes[i].commit_last_sequence(), 8u);
    EXPECT_EQ(changes[i].commit_time_us(), changes[4].commit_time_us());
  }
  EXPECT_EQ(Show(changes[4].key()), "pk=new sk=s");
  EXPECT_EQ(Show(changes[5].key()), "pk=o");
  EXPECT_EQ(Show(changes[6].key()), "pk=checked2 sk=s");
  EXPECT_EQ(changes[7].kind(), v1::CHANGE_KIND_REMOVE);
  database_.CheckIsClean();
}

TEST_F(Transactions, ApplyNothingWhenOneActionCannotBe) {  // SEM-047, SEM-051, SEM-054
  ASSERT_TRUE(PutItem(database_, Thing("a", N("1"))).ok());
  ASSERT_TRUE(PutItem(database_, Thing("b", S("text"))).ok());
  AddPut(Thing("new", N("1")));
  AddPut(If(Thing("a", N("2")), "attribute_not_exists(pk)"));
  AddDelete(If(Key("none"), "attribute_exists(pk)"));
  AddUpdate(
      UpdateRequest("Things", {{"pk", S("b")}, {"sk", S("s")}}, "SET a = a + :one", {{":one", N("1")}}));
  AddUpdate(UpdateRequest("Things", {{"pk", S("c")}, {"sk", S("s")}}, "SET a = b"));
  AddCheck(If(Key("d"), "a = :v", {{":v", N("1")}}));
  auto reply = Run();
  EXPECT_THAT(Reasons(reply),
              ElementsAre("NONE", "CONDITIONAL_CHECK_FAILED: a=1 pk=a sk=s", "CONDITIONAL_CHECK_FAILED",
                          "VALIDATION_ERROR", "NONE", "CONDITIONAL_CHECK_FAILED"));
  EXPECT_THAT(reply->cancelled().reasons(3).message(), ::testing::HasSubstr("incorrect data type"));
  EXPECT_EQ(reply->change_sequence(), 4u);
  EXPECT_THAT(Things(), ElementsAre("a=1 pk=a sk=s", "a=text pk=b sk=s"));
  EXPECT_THAT(Changes(database_), SizeIs(4));
  EXPECT_EQ(Describe(database_, "Things").item_count(), 2);
  // The item is returned only if the action asks for it.
  request_.mutable_transact_items(1)->mutable_put()->clear_return_values_on_condition_check_failure();
  EXPECT_THAT(Reasons(Run())[1], "CONDITIONAL_CHECK_FAILED");
  database_.CheckIsClean();
}

TEST_F(Transactions, ReportOnlyTheFirstValidationError) {  // SEM-051, SEM-005, SEM-070
  AddPut(WriteRequest("Things", {{"pk", S("a")}, {"sk", S("s")}, {"kind", S("k")}}));
  AddPut(WriteRequest("Things", {{"pk", S("b")}, {"sk", S("s")}, {"kind", N("1")}}));
  AddPut(WriteRequest("Things", {{"pk", S("c")}, {"sk", S("s")}, {"kind", N("2")}}));
  auto reply = Run();
  EXPECT_THAT(Reasons(reply), ElementsAre("NONE", "VALIDATION_ERROR", "NONE"));
  EXPECT_THAT(reply->cancelled().reasons(1).message(),
              ::testing::HasSubstr("Type mismatch for Index Key kind"));
  EXPECT_THAT(Things(), IsEmpty());
}

// An index key that would be empty is an error of the request, as an empty key of the table is.
TEST_F(Transactions, AnEmptyIndexKeyRefusesTheRequest) {  // SEM-053, SEM-070
  AddPut(WriteRequest("Things", {{"pk", S("a")}, {"sk", S("s")}, {"kind", N("1")}}));
  AddPut(WriteRequest("Things", {{"pk", S("b")}, {"sk", S("s")}, {"kind", S("")}}));
  const absl::Status status = Run().status();
  EXPECT_THAT(status, IsInvalid("A value specified for a secondary index key is not supported"));
  EXPECT_EQ(RuleOf(status), "SEM-070");
  EXPECT_THAT(Things(), IsEmpty());
  database_.CheckIsClean();
}

// A key that does not fit the schema is a reason like any other: conditions of other actions are reported
// too, and nothing is read under it.
TEST_F(Transactions, CancelWhenAKeyDoesNotFitTheSchema) {  // SEM-005, SEM-007, SEM-051
  const std::string mismatch = "The provided key element does not match the schema";
  const std::string values = "One or more parameter values were invalid: ";
  v1::AttributeValue set;
  set.mutable_ss()->add_values("s");
  auto local = TableRequest("Local");
  AddLocalIndex(&local, "ByN", "n:N", v1::PROJECTION_TYPE_ALL);
  database_.CreateTable(local);
  const auto in = [](wire::WriteItemRequest request, const char* table) {
    request.set_table_name(table);
    return request;
  };
  struct Row {
    wire::WriteItemRequest key;
    std::string of_key;
    std::string of_put;
  };
  const Row rows[] = {
      {WriteRequest("Things", {{"pk", N("1")}, {"sk", S("s")}}), mismatch,
       values + "Type mismatch for key pk expected: S actual: N"},
      {WriteRequest("Things", {{"pk", S("p")}, {"sk", set}}), mismatch,
       values + "Type mismatch for key sk expected: S actual: SS"},
      {WriteRequest("Things", {{"pk", S("p")}}), mismatch, values + "Missing the key sk in the item"},
      {WriteRequest("Things", {{"pk", S("p")}, {"other", S("s")}}), mismatch,
       values + "Missing the key sk in the item"},
      // One key attribute is empty, the other has another type.
      {WriteRequest("Things", {{"pk", S("")}, {"sk", N("1")}}), mismatch,
       values + "Type mismatch for key sk expected: S actual: N"},
  };
  for (const char* table : {"Things", "Local"}) {
    for (const Row& row : rows) {
      for (int kind = 0; kind < 4; ++kind) {
        SCOPED_TRACE(std::string(table) + " " + Show(row.key.key_or_item()) + " " + std::to_string(kind));
        const wire::WriteItemRequest key = in(row.key, table);
        request_.Clear();
        AddPut(Thing("new", N("1")));
        if (kind == 0) AddPut(key);
        if (kind == 1) AddDelete(key);
        if (kind == 2) AddUpdate(in(UpdateRequest("Things", {}, "REMOVE a"), table));
        if (kind == 2)
          request_.mutable_transact_items(1)->mutable_update()->set_key_or_item(key.key_or_item());
        if (kind == 3) AddCheck(If(key, "attribute_not_exists(pk)"));
        // A second key that does not fit is not reported, and is not the same item as the first.
        AddDelete(key);
        AddCheck(If(Key("none"), "attribute_exists(pk)"));
        auto reply = Run();
        EXPECT_THAT(Reasons(reply),
                    ElementsAre("NONE", "VALIDATION_ERROR", "NONE", "CONDITIONAL_CHECK_FAILED"));
        EXPECT_EQ(reply->cancelled().reasons(1).message(), kind == 0 ? row.of_put : row.of_key);
      }
    }
  }
  EXPECT_THAT(Things(), IsEmpty());
  database_.CheckIsClean();
}

TEST_F(Transactions, CancelWhenAnUpdatedItemGetsTooLarge) {  // SEM-005
  ASSERT_TRUE(PutItem(database_, Thing("a", S(std::string(300'000, 'x')))).ok());
  AddPut(Thing("b", N("1")));
  AddUpdate(UpdateRequest("Things", {{"pk", S("a")}, {"sk", S("s")}}, "SET b = a"));
  EXPECT_THAT(Reasons(Run()), ElementsAre("NONE", "VALIDATION_ERROR"));
  EXPECT_THAT(Things(), SizeIs(1));
}

TEST_F(Transactions, SeeTheStateBeforeThem) {  // SEM-049
  ASSERT_TRUE(PutItem(database_, Thing("a", N("1"))).ok());
  ASSERT_TRUE(PutItem(database_, Thing("b", N("2"))).ok());
  AddUpdate(
      If(UpdateRequest("Things", {{"pk", S("a")}, {"sk", S("s")}}, "SET a = a - :one", {{":one", N("1")}}),
         "a >= :one"));
  AddUpdate(
      UpdateRequest("Things", {{"pk", S("b")}, {"sk", S("s")}}, "SET a = a + :one", {{":one", N("1")}}));
  ASSERT_TRUE(Run()->has_committed());
  EXPECT_THAT(Things(), ElementsAre("a=0 pk=a sk=s", "a=3 pk=b sk=s"));
  EXPECT_THAT(Reasons(Run()), ElementsAre("CONDITIONAL_CHECK_FAILED: a=0 pk=a sk=s", "NONE"));
  EXPECT_THAT(Things(), ElementsAre("a=0 pk=a sk=s", "a=3 pk=b sk=s"));
}

TEST_F(Transactions, WithoutAnyChangeLeaveNoRecord) {  // SEM-102
  ASSERT_TRUE(PutItem(database_, Thing("a", N("1"))).ok());
  AddPut(Thing("a", N("1.0")));
  AddDelete(Key("none"));
  AddCheck(If(Key("b"), "attribute_not_exists(pk)"));
  auto reply = Run();
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(reply->has_committed());
  EXPECT_THAT(Changes(database_), SizeIs(3));
}

TEST_F(Transactions, TakeOneToAHundredActions) {  // SEM-047
  EXPECT_THAT(Run().status(), IsInvalid("1 to 100"));
  for (int i = 0; i < 100; ++i) AddPut(Thing(std::to_string(i), N("1")));
  ASSERT_TRUE(Run()->has_committed());
  EXPECT_THAT(Things(), SizeIs(100));
  AddPut(Thing("100", N("1")));
  EXPECT_THAT(Run().status(), IsInvalid("1 to 100"));
}

TEST_F(Transactions, MayBeFourMebibytesLong) {  // SEM-047
  for (int i = 0; i < 11; ++i) AddPut(Thing(std::to_string(i), S(std::string(380'000, 'x'))));
  size_t room = (4 << 20) - request_.ByteSizeLong();
  std::string* item = request_.mutable_transact_items(0)->mutable_put()->mutable_key_or_item();
  *item = Encode({{"pk", S("0")}, {"sk", S("s")}, {"a", S(std::string(380'000 + room, 'x'))}});
  ASSERT_EQ(request_.ByteSizeLong(), size_t{4 << 20});
  ASSERT_TRUE(Run()->has_committed());
  *item = Encode({{"pk", S("0")}, {"sk", S("s")}, {"a", S(std::string(380'001 + room, 'x'))}});
  EXPECT_THAT(Run().status(), IsInvalid("4194304"));
}

TEST_F(Transactions, HaveOneActionForAnItem) {  // SEM-048, SEM-013
  auto numbers = TableRequest("Numbers", /*sorted=*/false);
  numbers.mutable_attribute_definitions(0)->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_N);
  database_.CreateTable(numbers);
  AddPut(WriteRequest("Numbers", {{"pk", N("1000")}}));
  AddCheck(If(WriteRequest("Numbers", {{"pk", N("1e3")}}), "attribute_exists(pk)"));
  EXPECT_THAT(Run().status(),
              IsInvalid("Transaction request cannot include multiple operations on one item"));
  // The same key in another table is another item.
  request_.Clear();
  AddPut(WriteRequest("Others", {{"pk", S("k")}}));
  auto third = TableRequest("Third", /*sorted=*/false);
  database_.CreateTable(third);
  AddPut(WriteRequest("Third", {{"pk", S("k")}}));
  EXPECT_TRUE(Run()->has_committed());
}

TEST_F(Transactions, AreRefusedWhenAnActionIsMalformed) {  // SEM-053, SEM-054
  struct Row {
    const char* name;
    std::function<void()> add;
    const char* message;
  };
  const Row rows[] = {
      {"nothing", [&] { request_.add_transact_items(); }, "Put, Update, Delete or ConditionCheck"},
      {"check without condition", [&] { AddCheck(Key("x")); }, "ConditionCheck needs a ConditionExpression"},
      {"update without expression", [&] { AddUpdate(Key("x")); }, "UpdateExpression"},
      {"syntax",
       [&] {
         AddPut(If(Thing("x", N("1")), "a = = :v", {{":v", N("1")}}));
       },
       ""},
      {"unused placeholder",
       [&] {
         AddPut(If(Thing("x", N("1")), "attribute_exists(a)", {{":v", N("1")}}));
       },
       ":v"},
      {"undefined placeholder", [&] { AddCheck(If(Key("x"), "a = :v")); }, ":v"},
      {"item too large", [&] { AddPut(Thing("x", S(std::string(409'600, 'x')))); }, "Item size has exceeded"},
      {"empty key", [&] { AddPut(Thing("", N("1"))); }, "pk"},
      {"empty key of a Delete",
       [&] {
         AddDelete(WriteRequest("Things", {{"pk", S("x")}, {"sk", S("")}}));
       },
       "empty string value. Key: sk"},
      {"key updated",
       [&] {
         AddUpdate(UpdateRequest("Things", {{"pk", S("x")}, {"sk", S("s")}}, "REMOVE sk"));
       },
       "part of the key"},
      {"bad number", [&] { AddPut(Thing("x", N("1x"))); }, ""}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    request_.Clear();
    AddPut(Thing("fine", N("1")));
    row.add();
    EXPECT_THAT(Run().status(), IsInvalid(row.message));
  }
  request_.Clear();
  AddPut(Thing("fine", N("1")));
  AddPut(WriteRequest("Nothing", {{"pk", S("x")}}));
  EXPECT_THAT(Run().status(), IsTableNotFound());
  EXPECT_THAT(Things(), IsEmpty());
}

TEST_F(Transactions, TakeTenThousandActionsWhenLarge) {  // SEM-057
  request_.set_large(true);
  for (int i = 0; i < 10'000; ++i) AddPut(Thing(std::to_string(i), N("1")));
  ASSERT_TRUE(Run()->has_committed());
  EXPECT_THAT(Things(), SizeIs(10'000));
  wire::TransactGetItemsRequest gets;
  gets.set_large(true);
  for (int i = 0; i < 10'000; ++i) {
    gets.add_transact_items()->set_table_name("Things");
    gets.mutable_transact_items(i)->set_key(Encode({{"pk", S(std::to_string(9'999 - i))}, {"sk", S("s")}}));
  }
  auto get = [&] {
    return Await<wire::TransactGetItemsReply>(
        [&](auto done) { database_->TransactGetItems(gets, std::move(done)); });
  };
  auto got = get();
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->responses_size(), 10'000);
  EXPECT_TRUE(got->responses(0).has_item() && got->responses(9'999).has_item());

  // Its change records are one commit, and are read together.
  auto changes = Changes(database_);
  ASSERT_EQ(changes.size(), 10'002u);  // Two are of table creations.
  EXPECT_EQ(changes[2].commit_last_sequence(), changes.back().change_sequence());

  AddPut(Thing("one too many", N("1")));
  EXPECT_THAT(Run().status(), IsInvalid("1 to 10000"));
  gets.add_transact_items()->set_table_name("Things");
  EXPECT_THAT(get().status(), IsInvalid("1 to 10000"));
}

TEST_F(Transactions, OfAnySizeFitTheChangeLogTheyLeave) {  // SEM-057, SEM-107
  auto images = TableRequest("Images", /*sorted=*/false);
  images.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES);
  database_.CreateTable(images);
  auto put_thirty = [&](char content) {
    request_.Clear();
    request_.set_large(true);
    for (int i = 0; i < 30; ++i) {
      AddPut(WriteRequest("Images", {{"pk", S(std::to_string(i))}, {"a", S(std::string(400'000, content))}}));
    }
    return Run();
  };
  // 11.4 MiB of new items: the records with images fit into one reply. Replacing the items needs twice that.
  ASSERT_TRUE(put_thirty('x')->has_committed());
  auto refused = put_thirty('y');
  EXPECT_EQ(ReasonOf(refused.status()), kReasonLimitExceeded) << refused.status();
  EXPECT_THAT(MessageOf(refused.status()), HasSubstr("change records carry images"));
  // Keys alone can be too long too.
  request_.Clear();
  request_.set_large(true);
  for (int i = 0; i < 2'000; ++i) AddPut(Thing(std::to_string(i) + std::string(1'700, 'k'), N("1")));
  refused = Run();
  EXPECT_EQ(ReasonOf(refused.status()), kReasonLimitExceeded) << refused.status();
  EXPECT_THAT(MessageOf(refused.status()), HasSubstr("keys in the change records"));
  EXPECT_EQ(Changes(database_).size(), 33u);  // Three are of table creations.
}

TEST_F(Transactions, WhenLargeHoldABoundedPartOfTheTableInMemory) {  // SEM-057
  // 76 MiB, in change records without images.
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(PutItem(database_, Thing(std::to_string(i), S(std::string(400'000, 'x')))).ok());
  request_.set_large(true);
  for (int i = 0; i < 200; ++i) AddDelete(Key(std::to_string(i)));
  auto refused = Run();
  EXPECT_EQ(ReasonOf(refused.status()), kReasonLimitExceeded) << refused.status();
  EXPECT_THAT(MessageOf(refused.status()), ::testing::HasSubstr("67108864"));
  request_.mutable_transact_items()->DeleteSubrange(150, 50);
  EXPECT_TRUE(Run()->has_committed());
}

// A small request can make the commit pipeline hold much: each item before and after, and each index entry.
class BoundedUnits : public ::testing::Test {
 protected:
  static constexpr int kItems = 20;
  static constexpr size_t kItemBytes = 20'000;

  BoundedUnits() {
    auto table = TableRequest("Wide", /*sorted=*/false);
    AddIndex(&table, "Kinds", {"kind:S"}, 1, v1::PROJECTION_TYPE_ALL);
    AddIndex(&table, "Sorts", {"sort:S"}, 1, v1::PROJECTION_TYPE_ALL);
    database_.CreateTable(table);
    for (int i = 0; i < kItems; ++i) EXPECT_TRUE(PutItem(database_, Wide(i, 'x')).ok());
  }
  static wire::WriteItemRequest Wide(int i, char content) {
    return WriteRequest("Wide", {{"pk", S(std::to_string(i))},
                                 {"kind", S("k")},
                                 {"sort", S("s")},
                                 {"a", S(std::string(kItemBytes, content))}});
  }
  absl::StatusOr<wire::TransactWriteItemsReply> UpdateFirst(int items) {
    wire::TransactWriteItemsRequest request;
    for (int i = 0; i < items; ++i) {
      *request.add_transact_items()->mutable_update() =
          UpdateRequest("Wide", {{"pk", S(std::to_string(i))}}, "SET v = :v", {{":v", S("1")}});
    }
    return database_.Transact(request);
  }
  static DatabaseOptions Options(const std::string& directory) {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory);
    // Ten items before and after, in two indexes; eleven are more.
    options.max_unit_bytes = 10 * 4 * (kItemBytes + 100);
    return options;
  }

  TemporaryDirectory directory_;
  TestDatabase database_{Options(directory_.path())};
};

TEST_F(BoundedUnits, OfTransactionsCountItemsAndEntries) {  // SEM-047
  const uint64_t before = database_->GetStatus().change_sequence();
  auto refused = UpdateFirst(11);
  EXPECT_EQ(ReasonOf(refused.status()), kReasonLimitExceeded) << refused.status();
  EXPECT_EQ(database_->GetStatus().change_sequence(), before);
  ASSERT_TRUE(UpdateFirst(10).ok());
  EXPECT_EQ(database_->GetStatus().change_sequence(), before + 10);
  auto scan = ScanRequest("Wide");
  scan.set_index_name("Sorts");
  EXPECT_THAT(ScanAll(database_, scan), SizeIs(kItems));
  database_.CheckIsClean();
}

TEST_F(BoundedUnits, OfBatchesCountItemsAndEntries) {  // SEM-045
  wire::BatchWriteItemRequest request;
  auto& writes = *request.add_request_items();
  writes.set_table_name("Wide");
  for (int i = 0; i < 11; ++i)
    writes.add_write_requests()->mutable_put_request()->set_item(Wide(i, 'y').key_or_item());
  auto refused = BatchWrite(database_, request);
  EXPECT_EQ(ReasonOf(refused.status()), kReasonLimitExceeded) << refused.status();
  EXPECT_EQ(database_.Get("Wide", {{"pk", S("0")}}).find('y'), std::string::npos);
}

// Items beyond kMaxUnitPrefetchedBytes are read when the transaction is applied, as they are then.
TEST_F(Transactions, SeeItemsThatWereNotPrefetched) {
  constexpr int kItems = 12;  // 4.8 MB, more than is prefetched.
  for (int i = 0; i < kItems; ++i)
    ASSERT_TRUE(PutItem(database_, Thing(std::to_string(i), S(std::string(400'000, 'x')))).ok());
  for (int i = 0; i < kItems; ++i) {
    const Attributes key = {{"pk", S(std::to_string(i))}, {"sk", S("s")}};
    AddUpdate(If(UpdateRequest("Things", key, "SET n = :n", {{":n", N("1")}}), "begins_with(a, :x)",
                 {{":x", S("xxx")}}));
  }
  auto reply = Run();
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(reply->has_committed());
  database_.CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
