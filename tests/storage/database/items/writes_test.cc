// PutItem, UpdateItem, DeleteItem and GetItem: limits to the byte, keys, returned values, upserts.

#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr size_t kMaxItem = 409'600;
// The item size of pk, sk and the name of the helper's attribute: "pk" "p" "sk" "s" "fat".
constexpr size_t kPadOverhead = 2 + 1 + 2 + 1 + 3;

class Writes : public ::testing::Test {
 protected:
  Writes() { database_.CreateTable(TableRequest("Things")); }

  static v1::AttributeValue Pad(size_t item_bytes) { return S(std::string(item_bytes - kPadOverhead, 'x')); }
  int64_t TableBytes() { return Describe(database_, "Things").table_size_bytes(); }
  std::string TheItem() { return database_.Get("Things", {{"pk", S("p")}, {"sk", S("s")}}); }

  TestDatabase database_;
};

TEST_F(Writes, AnItemOfExactlyTheLimitIsPut) {  // SEM-001
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"fat", Pad(kMaxItem)}}).ok());
  EXPECT_EQ(TableBytes(), static_cast<int64_t>(kMaxItem));
  EXPECT_THAT(TheItem(), SizeIs(kMaxItem - kPadOverhead + std::string("fat= pk=p sk=s").size()));
  auto refused = database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"fat", Pad(kMaxItem + 1)}});
  EXPECT_THAT(refused.status(), IsInvalid("Item size has exceeded the maximum allowed size"));
  EXPECT_EQ(TableBytes(), static_cast<int64_t>(kMaxItem));
}

TEST_F(Writes, AnUpdateMayGrowAnItemToExactlyTheLimit) {  // SEM-001, SEM-004
  ASSERT_TRUE(
      database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"one", S(std::string(200'000, 'y'))}}).ok());
  size_t left = kMaxItem - 200'003;
  auto grow = [&](size_t bytes) {
    return database_.Update(
        UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("s")}}, "SET fat = :fat", {{":fat", Pad(bytes)}}));
  };
  EXPECT_THAT(grow(left + 1).status(),
              IsInvalid("Item size to update has exceeded the maximum allowed size"));
  EXPECT_EQ(TableBytes(), 200'003 + 6);
  EXPECT_TRUE(grow(left).ok());
  EXPECT_EQ(TableBytes(), static_cast<int64_t>(kMaxItem));
  database_.CheckIsClean();
}

TEST_F(Writes, EveryTypeCountsForItsSize) {  // SEM-002, SEM-003
  v1::AttributeValue strings, numbers, bytes, list, map, truth, null;
  for (const char* text : {"", "ab", "c"}) strings.mutable_ss()->add_values(text);
  for (const char* text : {"1", "-100.5"}) numbers.mutable_ns()->add_values(text);
  bytes.mutable_bs()->add_values(std::string("\0\1", 2));
  *list.mutable_l()->add_values() = S("abc");
  *list.mutable_l()->add_values() = N("0");
  auto* entry = map.mutable_m()->add_attributes();
  entry->set_name("key");
  *entry->mutable_value() = list;
  truth.set_bool_(false);
  null.set_null(true);
  v1::AttributeValue empty_list, empty_map;
  empty_list.mutable_l();
  empty_map.mutable_m();
  struct Row {
    const char* name;
    v1::AttributeValue value;
    int64_t bytes;
  };
  const Row rows[] = {{"empty S", S(""), 0},
                      {"S in UTF-8 bytes", S("\u00e9\u20ac"), 5},
                      {"B", B(std::string("\0\xff", 2)), 2},
                      {"zero", N("-0.000"), 1},
                      {"integer", N("123456"), 4},
                      {"fraction", N("3.14159"), 5},
                      {"both", N("100.5"), 4},
                      {"negative", N("-100.5"), 5},
                      {"power of ten", N("1e125"), 2},
                      {"38 digits", N("12345678901234567890123456789012345678"), 20},
                      {"BOOL", truth, 1},
                      {"NULL", null, 1},
                      {"SS", strings, 3},
                      {"NS", numbers, 2 + 5},
                      {"BS", bytes, 2},
                      {"empty L", empty_list, 3},
                      {"empty M", empty_map, 3},
                      {"L", list, 3 + (1 + 3) + (1 + 1)},
                      {"M", map, 3 + (1 + 3) + 9}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto reply = database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"v", row.value}});
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(TableBytes(), 6 + 1 + row.bytes);
  }
  database_.CheckIsClean();
}

TEST_F(Writes, KeysHaveTheirLimitsInReadsToo) {  // SEM-006
  const std::string longest_pk(2048, 'p'), longest_sk(1024, 's');
  ASSERT_TRUE(database_.Put("Things", {{"pk", S(longest_pk)}, {"sk", S(longest_sk)}}).ok());
  EXPECT_NE(database_.Get("Things", {{"pk", S(longest_pk)}, {"sk", S(longest_sk)}}), "");
  struct Row {
    std::string pk, sk;
    const char* message;
  };
  const Row rows[] = {
      {longest_pk + "p", "s", "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
      {"p", longest_sk + "s", "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.message);
    auto key = WriteRequest("Things", {{"pk", S(row.pk)}, {"sk", S(row.sk)}});
    EXPECT_THAT(PutItem(database_, key).status(), IsInvalid(row.message));
    EXPECT_THAT(database_.Update(key).status(), IsInvalid(row.message));
    EXPECT_THAT(DeleteItem(database_, key).status(), IsInvalid(row.message));
    wire::GetItemRequest get;
    get.set_table_name("Things");
    get.set_key(key.key_or_item());
    EXPECT_THAT(GetItem(database_, get).status(), IsInvalid(row.message));
    auto query = QueryRequest("Things", "pk = :p AND sk = :s", {{":p", S(row.pk)}, {":s", S(row.sk)}});
    EXPECT_THAT(database_.Query(query).status(), IsInvalid(row.message));
  }
}

TEST_F(Writes, KeysMustFitTheKeySchema) {  // SEM-007
  struct Row {
    const char* name;
    v1::Item key;
    const char* message;
    bool as_item;  // Whether a put must refuse it too.
  };
  const Row rows[] = {{"no sort key", Item({{"pk", S("p")}}), "", true},
                      {"no partition key", Item({{"sk", S("s")}}), "", true},
                      {"nothing", Item({}), "", true},
                      {"wrong type", Item({{"pk", N("1")}, {"sk", S("s")}}), "pk", true},
                      {"empty partition key", Item({{"pk", S("")}, {"sk", S("s")}}), "pk", true},
                      {"empty sort key", Item({{"pk", S("p")}, {"sk", S("")}}), "sk", true},
                      {"one too many", Item({{"pk", S("p")}, {"sk", S("s")}, {"x", S("x")}}),
                       "does not match the schema", false},
                      {"another name", Item({{"pk", S("p")}, {"x", S("x")}}), "", true}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    wire::WriteItemRequest request;
    request.set_table_name("Things");
    request.set_key_or_item(row.key.SerializeAsString());
    if (row.as_item) {
      EXPECT_THAT(PutItem(database_, request).status(), IsInvalid(row.message));
    }
    EXPECT_THAT(DeleteItem(database_, request).status(), IsInvalid(row.message));
    EXPECT_THAT(database_.Update(request).status(), IsInvalid(row.message));
    wire::GetItemRequest get;
    get.set_table_name("Things");
    get.set_key(request.key_or_item());
    EXPECT_THAT(GetItem(database_, get).status(), IsInvalid(row.message));
  }
  EXPECT_EQ(Describe(database_, "Things").item_count(), 0);
}

TEST_F(Writes, NumberKeysAreEqualByValue) {  // SEM-013
  auto table = TableRequest("Numbers");
  table.mutable_attribute_definitions(1)->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_N);
  database_.CreateTable(table);
  for (const char* number : {"1000", "1e3", "1000.0", "+001000"}) {
    ASSERT_TRUE(database_.Put("Numbers", {{"pk", S("p")}, {"sk", N(number)}, {"as", S(number)}}).ok());
  }
  EXPECT_EQ(Describe(database_, "Numbers").item_count(), 1);
  EXPECT_EQ(database_.Get("Numbers", {{"pk", S("p")}, {"sk", N("100e1")}}), "as=+001000 pk=p sk=1000");
}

TEST_F(Writes, AttributeNamesHaveTheirLimits) {  // SEM-009
  const std::string longest(65'535, 'n');
  EXPECT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {longest, N("1")}}).ok());
  EXPECT_EQ(TableBytes(), 6 + 65'535 + 2);
  EXPECT_THAT(database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {longest + "n", N("1")}}).status(),
              IsInvalid("65535"));
  EXPECT_THAT(database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"", N("1")}}).status(),
              IsInvalid("Empty attribute name"));
}

TEST_F(Writes, EmptyValuesAreFineOutsideKeysButNotEmptySets) {  // SEM-016
  v1::AttributeValue list, map, strings, bytes, no_strings, no_numbers, no_bytes;
  list.mutable_l();
  map.mutable_m();
  strings.mutable_ss()->add_values("");
  bytes.mutable_bs()->add_values("");
  for (const auto& value : {S(""), B(""), list, map, strings, bytes}) {
    SCOPED_TRACE(value.ShortDebugString());
    EXPECT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"v", value}}).ok());
  }
  no_strings.mutable_ss();
  no_numbers.mutable_ns();
  no_bytes.mutable_bs();
  for (const auto& value : {no_strings, no_numbers, no_bytes}) {
    SCOPED_TRACE(value.ShortDebugString());
    EXPECT_THAT(database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"v", value}}).status(),
                IsInvalid(""));
  }
}

v1::AttributeValue Wrapped(int times, bool in_maps) {
  v1::AttributeValue value = S("x");
  for (int i = 0; i < times; ++i) {
    v1::AttributeValue outer;
    if (in_maps) {
      auto* attribute = outer.mutable_m()->add_attributes();
      attribute->set_name("a");
      *attribute->mutable_value() = value;
    } else {
      *outer.mutable_l()->add_values() = value;
    }
    value = outer;
  }
  return value;
}

TEST_F(Writes, ValuesNestToThirtyTwoLevels) {  // SEM-017
  for (bool in_maps : {false, true}) {
    auto put = [&](int times) {
      return database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"v", Wrapped(times, in_maps)}});
    };
    EXPECT_TRUE(put(31).ok());
    EXPECT_THAT(put(32).status(), IsInvalid("32"));
    auto set = [&](int times) {
      return database_.Update(UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("s")}}, "SET v = :v",
                                            {{":v", Wrapped(times, in_maps)}}));
    };
    EXPECT_TRUE(set(31).ok());
    EXPECT_THAT(set(32).status(), IsInvalid("32"));
  }
}

TEST_F(Writes, ReturnValuesAreTheItemBeforeOrAfter) {  // SEM-058
  auto put = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}, {"a", N("1")}});
  put.set_return_values(v1::RETURN_VALUES_ALL_OLD);
  auto reply = PutItem(database_, put);
  ASSERT_TRUE(reply.ok());
  EXPECT_FALSE(reply->result().has_attributes());
  put.set_key_or_item(Encode({{"pk", S("p")}, {"sk", S("s")}, {"a", N("2")}}));
  reply = PutItem(database_, put);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(Show(reply->result().attributes()), "a=1 pk=p sk=s");

  struct Row {
    v1::ReturnValues return_values;
    const char* attributes;
  };
  const Row rows[] = {{v1::RETURN_VALUES_NONE, ""},
                      {v1::RETURN_VALUES_ALL_OLD, "a=2 pk=p sk=s"},
                      {v1::RETURN_VALUES_UPDATED_OLD, "a=2"},
                      {v1::RETURN_VALUES_ALL_NEW, "a=3 b=x pk=p sk=s"},
                      {v1::RETURN_VALUES_UPDATED_NEW, "a=3 b=x"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(v1::ReturnValues_Name(row.return_values));
    ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"a", N("2")}}).ok());
    auto update = UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("s")}}, "SET a = a + :one, b = :x",
                                {{":one", N("1")}, {":x", S("x")}});
    update.set_return_values(row.return_values);
    reply = database_.Update(update);
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->result().has_attributes(), row.attributes[0] != '\0');
    EXPECT_EQ(Show(reply->result().attributes()), row.attributes);
  }

  auto remove = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}});
  remove.set_return_values(v1::RETURN_VALUES_ALL_OLD);
  reply = DeleteItem(database_, remove);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(Show(reply->result().attributes()), "a=3 b=x pk=p sk=s");
  reply = DeleteItem(database_, remove);
  ASSERT_TRUE(reply.ok());
  EXPECT_FALSE(reply->result().has_attributes());

  for (auto other : {v1::RETURN_VALUES_UPDATED_OLD, v1::RETURN_VALUES_ALL_NEW, v1::RETURN_VALUES_UPDATED_NEW,
                     static_cast<v1::ReturnValues>(99)}) {
    put.set_return_values(other);
    EXPECT_THAT(PutItem(database_, put).status(), IsInvalid(""));
    remove.set_return_values(other);
    EXPECT_THAT(DeleteItem(database_, remove).status(), IsInvalid(""));
  }
}

TEST_F(Writes, UpdatedValuesAreOnlyTheTouchedPaths) {  // SEM-059
  v1::AttributeValue list, map;
  for (const char* text : {"a", "b", "c", "d"}) *list.mutable_l()->add_values() = S(text);
  for (const char* name : {"x", "y"}) {
    auto* attribute = map.mutable_m()->add_attributes();
    attribute->set_name(name);
    *attribute->mutable_value() = N("1");
  }
  ASSERT_TRUE(
      database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"l", list}, {"m", map}, {"z", N("1")}}).ok());
  auto update = UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("s")}},
                              "SET l[3] = :v, l[1] = :v, m.y = :v", {{":v", S("new")}});
  update.set_return_values(v1::RETURN_VALUES_UPDATED_NEW);
  auto reply = database_.Update(update);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(Show(reply->result().attributes()),
            "l=l { values { s: \"new\" } values { s: \"new\" } } m=m { attributes { name: \"y\" value { s: "
            "\"new\" } } }");
  auto nothing = UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("s")}}, "REMOVE gone");
  for (auto values : {v1::RETURN_VALUES_UPDATED_OLD, v1::RETURN_VALUES_UPDATED_NEW}) {
    nothing.set_return_values(values);
    reply = database_.Update(nothing);
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_FALSE(reply->result().has_attributes());
  }
}

TEST_F(Writes, AFalseConditionIsAnOutcomeThatMayShowTheItem) {  // SEM-060
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"a", N("1")}}).ok());
  auto put = If(WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}}), "attribute_not_exists(pk)");
  auto update =
      If(UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("s")}}, "SET a = :v", {{":v", N("5")}}), "a > :v");
  auto remove = If(WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}}), "a = :x", {{":x", N("3")}});
  auto none = If(WriteRequest("Things", {{"pk", S("p")}, {"sk", S("none")}}), "attribute_exists(pk)");
  for (bool show : {true, false}) {
    for (auto* request : {&put, &update, &remove, &none}) {
      SCOPED_TRACE(request->ShortDebugString());
      if (!show) request->clear_return_values_on_condition_check_failure();
      auto reply = request == &update ? database_.Update(*request)
                   : request == &put  ? PutItem(database_, *request)
                                      : DeleteItem(database_, *request);
      ASSERT_TRUE(reply.ok()) << reply.status();
      ASSERT_TRUE(reply->has_condition_failed());
      bool has_item = show && request != &none;
      EXPECT_EQ(reply->condition_failed().has_item(), has_item);
      EXPECT_EQ(Show(reply->condition_failed().item()), has_item ? "a=1 pk=p sk=s" : "");
      EXPECT_EQ(reply->change_sequence(), 2u);
    }
  }
  EXPECT_EQ(TheItem(), "a=1 pk=p sk=s");
  put.set_return_values_on_condition_check_failure(static_cast<v1::ReturnValuesOnConditionCheckFailure>(7));
  EXPECT_THAT(PutItem(database_, put).status(), IsInvalid("ReturnValuesOnConditionCheckFailure"));
}

TEST_F(Writes, GetItemAnswersWithoutAnItemWhenThereIsNone) {  // SEM-042, EXP-34
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"a", N("1")}}).ok());
  wire::GetItemRequest get;
  get.set_table_name("Things");
  get.set_key(Encode({{"pk", S("p")}, {"sk", S("other")}}));
  auto reply = GetItem(database_, get);
  ASSERT_TRUE(reply.ok());
  EXPECT_FALSE(reply->has_item());
  EXPECT_EQ(reply->change_sequence(), 2u);
  // The item exists, but has none of the requested attributes.
  get.set_key(Encode({{"pk", S("p")}, {"sk", S("s")}}));
  get.set_projection_expression("b.c");
  reply = GetItem(database_, get);
  ASSERT_TRUE(reply.ok());
  EXPECT_TRUE(reply->has_item());
  EXPECT_EQ(reply->item(), "");
  get.set_projection_expression("sk, a");
  reply = GetItem(database_, get);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(Show(reply->item()), "a=1 sk=s");
}

TEST_F(Writes, AnUpdateOfAMissingItemCreatesIt) {  // EXP-27, EXP-33, OP-15
  struct Row {
    const char* expression;
    const char* item;
  };
  const Row rows[] = {{"", "pk=p sk=s"},
                      {"SET a = :v", "a=1 pk=p sk=s"},
                      {"ADD a :v", "a=1 pk=p sk=s"},
                      {"REMOVE a", ""},
                      {"REMOVE a.b", ""},
                      {"SET a = :v REMOVE b", "a=1 pk=p sk=s"},
                      {"SET a = :v REMOVE b.c[1]", "a=1 pk=p sk=s"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.expression);
    auto update = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}});
    std::string expression = row.expression;
    if (!expression.empty()) update.set_update_expression(expression);
    if (expression.find(":v") != std::string::npos) SetValue(&update, ":v", N("1"));
    update.set_return_values(v1::RETURN_VALUES_ALL_NEW);
    auto reply = database_.Update(update);
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->result().has_attributes(), row.item[0] != '\0');
    EXPECT_EQ(TheItem(), row.item);
    ASSERT_TRUE(database_.Delete("Things", {{"pk", S("p")}, {"sk", S("s")}}).ok());
  }
}

TEST_F(Writes, KeyAttributesCannotBeUpdated) {  // EXP-32
  for (const char* expression :
       {"SET pk = :v", "REMOVE sk", "ADD sk :v", "SET sk.a = :v", "SET a = :v, pk[0] = :v"}) {
    SCOPED_TRACE(expression);
    auto update = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}});
    update.set_update_expression(expression);
    if (std::string(expression).find(":v") != std::string::npos) SetValue(&update, ":v", N("1"));
    EXPECT_THAT(database_.Update(update).status(), IsInvalid("This attribute is part of the key"));
  }
}

// Values are equal whatever the order of elements and the notation of numbers (SEM-102).
TEST_F(Writes, AWriteThatChangesNothingLeavesNoChangeRecord) {  // OP-16
  v1::AttributeValue set, same_set, map, same_map;
  for (const char* text : {"1", "2.5"}) set.mutable_ns()->add_values(text);
  for (const char* text : {"2.50", "1e0"}) same_set.mutable_ns()->add_values(text);
  for (const char* name : {"x", "y"}) {
    auto* attribute = map.mutable_m()->add_attributes();
    attribute->set_name(name);
    *attribute->mutable_value() = S(name);
  }
  for (const char* name : {"y", "x"}) {
    auto* attribute = same_map.mutable_m()->add_attributes();
    attribute->set_name(name);
    *attribute->mutable_value() = S(name);
  }
  auto first =
      database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"n", N("1")}, {"v", set}, {"m", map}});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->change_sequence(), 2u);
  auto again = database_.Put(
      "Things", {{"m", same_map}, {"v", same_set}, {"n", N("1.0")}, {"sk", S("s")}, {"pk", S("p")}});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->change_sequence(), 2u);
  for (const char* expression : {"SET n = n", "REMOVE gone", "ADD n :zero", "DELETE v :other"}) {
    SCOPED_TRACE(expression);
    auto update = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}});
    update.set_update_expression(expression);
    if (std::string(expression).find(":zero") != std::string::npos) SetValue(&update, ":zero", N("0"));
    v1::AttributeValue other;
    other.mutable_ns()->add_values("7");
    if (std::string(expression).find(":other") != std::string::npos) SetValue(&update, ":other", other);
    auto reply = database_.Update(update);
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->change_sequence(), 2u);
  }
  auto missing = database_.Delete("Things", {{"pk", S("p")}, {"sk", S("none")}});
  ASSERT_TRUE(missing.ok());
  EXPECT_EQ(missing->change_sequence(), 2u);
  EXPECT_THAT(Changes(database_), SizeIs(2));
  database_.CheckIsClean();
}

TEST_F(Writes, AMissingTableIsNotFound) {  // SEM-039, ERR-02
  auto request = WriteRequest("Nothing", {{"pk", S("p")}});
  EXPECT_THAT(PutItem(database_, request).status(), IsTableNotFound());
  EXPECT_THAT(DeleteItem(database_, request).status(), IsTableNotFound());
  EXPECT_THAT(database_.Update(request).status(), IsTableNotFound());
  wire::GetItemRequest get;
  get.set_table_name("Nothing");
  get.set_key(request.key_or_item());
  EXPECT_THAT(GetItem(database_, get).status(), IsTableNotFound());
  EXPECT_THAT(database_.Scan(ScanRequest("Nothing")).status(), IsTableNotFound());
  EXPECT_THAT(database_.Query(QueryRequest("Nothing", "pk = :p", {{":p", S("p")}})).status(),
              IsTableNotFound());
}

TEST_F(Writes, BytesThatAreNoItemAreRefused) {  // ERR-01
  for (const std::string& bytes :
       {std::string("\x0a\x05zz", 4), std::string("\xff\xff\xff"), std::string("\x0a\x03\x0a\x01x", 5)}) {
    wire::WriteItemRequest request;
    request.set_table_name("Things");
    request.set_key_or_item(bytes);
    EXPECT_THAT(PutItem(database_, request).status(), IsInvalid(""));
    EXPECT_THAT(DeleteItem(database_, request).status(), IsInvalid(""));
  }
  EXPECT_THAT(ScanAll(database_, ScanRequest("Things")), IsEmpty());
}

}  // namespace
}  // namespace itemdb::testing
