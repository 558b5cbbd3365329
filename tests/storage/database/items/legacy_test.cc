// The legacy parameters mean the same as the expressions that replaced them (SEM-112). A request with both is
// refused (SEM-026).

#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

v1::AttributeValue StringsOf(std::initializer_list<std::string> texts) {
  v1::AttributeValue value;
  for (const std::string& text : texts) value.mutable_ss()->add_values(text);
  return value;
}

v1::AttributeValue List(std::initializer_list<v1::AttributeValue> elements) {
  v1::AttributeValue value;
  value.mutable_l();
  for (const v1::AttributeValue& element : elements) *value.mutable_l()->add_values() = element;
  return value;
}

v1::AttributeValue NullValue() {
  v1::AttributeValue value;
  value.set_null(true);
  return value;
}

using Values = std::vector<v1::AttributeValue>;

wire::AttributeCondition* AddFilter(wire::PageRequest* request, const std::string& name,
                                    v1::ComparisonOperator comparison, const Values& values) {
  auto* entry = request->add_legacy_filter();
  entry->set_name(name);
  entry->mutable_value()->set_comparison_operator(comparison);
  for (const auto& value : values)
    entry->mutable_value()->add_attribute_value_list(value.SerializeAsString());
  return entry->mutable_value();
}

void AddKeyCondition(wire::PageRequest* request, const std::string& name, v1::ComparisonOperator comparison,
                     const Values& values) {
  auto* entry = request->add_key_conditions();
  entry->set_name(name);
  entry->mutable_value()->set_comparison_operator(comparison);
  for (const auto& value : values)
    entry->mutable_value()->add_attribute_value_list(value.SerializeAsString());
}

wire::ExpectedAttributeValue* Expect(wire::WriteItemRequest* request, const std::string& name) {
  auto* entry = request->add_expected();
  entry->set_name(name);
  return entry->mutable_value();
}

void Expect(wire::WriteItemRequest* request, const std::string& name, v1::ComparisonOperator comparison,
            const Values& values) {
  wire::ExpectedAttributeValue* expected = Expect(request, name);
  expected->set_comparison_operator(comparison);
  for (const auto& value : values) expected->add_attribute_value_list(value.SerializeAsString());
}

void Change(wire::WriteItemRequest* request, const std::string& name, v1::AttributeAction action,
            const v1::AttributeValue* value = nullptr) {
  auto* entry = request->add_attribute_updates();
  entry->set_name(name);
  entry->mutable_value()->set_action(action);
  if (value != nullptr) entry->mutable_value()->set_value(value->SerializeAsString());
}

class Legacy : public ::testing::Test {
 protected:
  Legacy() { database_.CreateTable(TableRequest("Things")); }

  wire::WriteItemRequest Key(const std::string& sk = "s") {
    return WriteRequest("Things", {{"pk", S("p")}, {"sk", S(sk)}});
  }
  std::string TheItem() { return database_.Get("Things", {{"pk", S("p")}, {"sk", S("s")}}); }
  wire::PageRequest Collection() {
    wire::PageRequest request;
    request.set_table_name("Things");
    AddKeyCondition(&request, "pk", v1::COMPARISON_OPERATOR_EQ, {S("p")});
    return request;
  }
  uint64_t Sequence() { return Changes(database_).back().change_sequence(); }

  TestDatabase database_;
};

struct ComparisonRow {
  const char* expression;  // about attribute a, with :v0 and :v1
  v1::ComparisonOperator comparison;
  Values values;
};

// Every operator with arguments of every type that it accepts, as a filter and as Expected, compared with the
// expression of the same meaning, on items with every type of value and without the attribute.
TEST_F(Legacy, EveryOperatorMeansWhatItsExpressionMeans) {
  v1::AttributeValue truth, map, numbers, bytes;
  truth.set_bool_(true);
  auto* attribute = map.mutable_m()->add_attributes();
  attribute->set_name("k");
  *attribute->mutable_value() = S("v");
  for (const char* number : {"5", "7"}) numbers.mutable_ns()->add_values(number);
  bytes.mutable_bs()->add_values("ab");
  const Values stored = {S(""),    S("ab"),
                         S("abc"), S("b"),
                         N("5"),   N("5.0"),
                         N("7"),   B("abc"),
                         truth,    NullValue(),
                         map,      numbers,
                         bytes,    StringsOf({"ab", "c"}),
                         List({}), List({S("ab"), N("5"), NullValue()})};
  for (size_t i = 0; i < stored.size(); ++i) {
    ASSERT_TRUE(
        database_.Put("Things", {{"pk", S("p")}, {"sk", S("s" + std::to_string(100 + i))}, {"a", stored[i]}})
            .ok());
  }
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("without")}}).ok());

  std::vector<ComparisonRow> rows = {
      {"attribute_exists(a)", v1::COMPARISON_OPERATOR_NOT_NULL, {}},
      {"attribute_not_exists(a)", v1::COMPARISON_OPERATOR_NULL, {}},
      {"a BETWEEN :v0 AND :v1", v1::COMPARISON_OPERATOR_BETWEEN, {S("ab"), S("abd")}},
      {"a BETWEEN :v0 AND :v1", v1::COMPARISON_OPERATOR_BETWEEN, {N("5"), N("6")}},
      {"a BETWEEN :v0 AND :v1", v1::COMPARISON_OPERATOR_BETWEEN, {B("a"), B("b")}},
      {"a IN (:v0, :v1)", v1::COMPARISON_OPERATOR_IN, {S("b"), S("ab")}},
      {"a IN (:v0)", v1::COMPARISON_OPERATOR_IN, {N("5")}}};
  for (const v1::AttributeValue& value : stored) {
    rows.push_back({"a = :v0", v1::COMPARISON_OPERATOR_EQ, {value}});
    rows.push_back({"a <> :v0", v1::COMPARISON_OPERATOR_NE, {value}});
  }
  for (const auto& value : {S("ab"), N("5"), B("abc")}) {
    rows.push_back({"a < :v0", v1::COMPARISON_OPERATOR_LT, {value}});
    rows.push_back({"a <= :v0", v1::COMPARISON_OPERATOR_LE, {value}});
    rows.push_back({"a > :v0", v1::COMPARISON_OPERATOR_GT, {value}});
    rows.push_back({"a >= :v0", v1::COMPARISON_OPERATOR_GE, {value}});
  }
  for (const auto& value : {S("ab"), S("b"), B("ab")})
    rows.push_back({"begins_with(a, :v0)", v1::COMPARISON_OPERATOR_BEGINS_WITH, {value}});
  for (const auto& value : {S("b"), N("5"), B("ab"), NullValue()}) {
    rows.push_back({"contains(a, :v0)", v1::COMPARISON_OPERATOR_CONTAINS, {value}});
    rows.push_back(
        {"attribute_exists(a) AND NOT contains(a, :v0)", v1::COMPARISON_OPERATOR_NOT_CONTAINS, {value}});
  }

  for (const ComparisonRow& row : rows) {
    SCOPED_TRACE(std::string(row.expression) +
                 (row.values.empty() ? "" : " " + row.values[0].ShortDebugString()));
    wire::PageRequest expression = ScanRequest("Things");
    expression.set_filter_expression(row.expression);
    for (size_t i = 0; i < row.values.size(); ++i)
      SetValue(&expression, ":v" + std::to_string(i), row.values[i]);
    const std::vector<std::string> wanted = ScanAll(database_, expression);

    wire::PageRequest scan = ScanRequest("Things");
    AddFilter(&scan, "a", row.comparison, row.values);
    EXPECT_EQ(ScanAll(database_, scan), wanted);
    wire::PageRequest query = Collection();
    AddFilter(&query, "a", row.comparison, row.values);
    EXPECT_EQ(QueryAll(database_, query), wanted);

    // The same as a condition of deletes; a deleted item is put back.
    std::vector<std::string> expected;
    for (const std::string& item : ScanAll(database_, ScanRequest("Things"))) {
      auto request = Key(item.substr(item.find("sk=") + 3));
      Expect(&request, "a", row.comparison, row.values);
      auto* nothing = Expect(&request, "none");
      nothing->set_exists(false);
      Change(&request, "gone", v1::ATTRIBUTE_ACTION_DELETE);
      auto reply = database_.Update(request);
      ASSERT_TRUE(reply.ok()) << reply.status();
      if (reply->has_result()) expected.push_back(item);
    }
    EXPECT_EQ(expected, wanted);
  }
}

TEST_F(Legacy, ConditionsAreJoinedByTheConditionalOperator) {
  for (const char* a : {"1", "2"}) {
    for (const char* b : {"1", "2"}) {
      ASSERT_TRUE(
          database_.Put("Things", {{"pk", S("p")}, {"sk", S(std::string(a) + b)}, {"a", N(a)}, {"b", N(b)}})
              .ok());
    }
  }
  wire::PageRequest scan = ScanRequest("Things");
  AddFilter(&scan, "b", v1::COMPARISON_OPERATOR_EQ, {N("1")});
  AddFilter(&scan, "a", v1::COMPARISON_OPERATOR_EQ, {N("2")});
  EXPECT_THAT(ScanAll(database_, scan), ElementsAre("a=2 b=1 pk=p sk=21"));
  scan.set_conditional_operator(v1::CONDITIONAL_OPERATOR_AND);
  EXPECT_THAT(ScanAll(database_, scan), SizeIs(1));
  scan.set_conditional_operator(v1::CONDITIONAL_OPERATOR_OR);
  EXPECT_THAT(ScanAll(database_, scan), SizeIs(3));

  auto update = Key("22");
  const v1::AttributeValue x = S("x");
  Change(&update, "c", v1::ATTRIBUTE_ACTION_PUT, &x);
  Expect(&update, "a")->set_value(N("2").SerializeAsString());
  Expect(&update, "b")->set_value(N("1").SerializeAsString());
  auto reply = database_.Update(update);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(reply->has_condition_failed());
  update.set_conditional_operator(v1::CONDITIONAL_OPERATOR_OR);
  reply = database_.Update(update);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(reply->has_result());
}

// Value and Exists: the forms of Expected that are older than its operators.
TEST_F(Legacy, ExpectedWithValueOrExistsIsAConditionToo) {
  auto put = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}, {"a", N("1")}});
  Expect(&put, "pk")->set_exists(false);
  auto reply = PutItem(database_, put);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(reply->has_result());
  put.set_return_values_on_condition_check_failure(v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
  reply = PutItem(database_, put);
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_TRUE(reply->has_condition_failed());
  EXPECT_EQ(Show(reply->condition_failed().item()), "a=1 pk=p sk=s");

  auto remove = Key();
  wire::ExpectedAttributeValue* expected = Expect(&remove, "a");
  expected->set_exists(true);
  expected->set_value(N("2").SerializeAsString());
  reply = DeleteItem(database_, remove);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(reply->has_condition_failed());
  expected->set_value(N("1.0").SerializeAsString());
  reply = DeleteItem(database_, remove);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(reply->has_result());
  EXPECT_EQ(TheItem(), "");
}

TEST_F(Legacy, UpdatesPutAddAndDelete) {
  ASSERT_TRUE(database_
                  .Put("Things", {{"pk", S("p")},
                                  {"sk", S("s")},
                                  {"n", N("5")},
                                  {"set", StringsOf({"a", "b"})},
                                  {"list", List({N("1")})},
                                  {"gone", S("x")},
                                  {"old", S("x")}})
                  .ok());
  auto update = Key();
  const v1::AttributeValue put = S("y"), number = N("-2"), more = StringsOf({"c"}), less = StringsOf({"a"}),
                           two = List({N("2")});
  Change(&update, "old", v1::ATTRIBUTE_ACTION_UNSPECIFIED, &put);
  Change(&update, "a.dotted name", v1::ATTRIBUTE_ACTION_PUT, &put);
  Change(&update, "n", v1::ATTRIBUTE_ACTION_ADD, &number);
  Change(&update, "n2", v1::ATTRIBUTE_ACTION_ADD, &number);
  Change(&update, "set", v1::ATTRIBUTE_ACTION_DELETE, &less);
  Change(&update, "set2", v1::ATTRIBUTE_ACTION_ADD, &more);
  Change(&update, "list", v1::ATTRIBUTE_ACTION_ADD, &two);
  Change(&update, "list2", v1::ATTRIBUTE_ACTION_ADD, &two);
  Change(&update, "gone", v1::ATTRIBUTE_ACTION_DELETE);
  update.set_return_values(v1::RETURN_VALUES_UPDATED_NEW);
  auto reply = database_.Update(update);
  ASSERT_TRUE(reply.ok()) << reply.status();
  const std::string l2 = "l { values { n: \"2\" } }";
  const std::string changed =
      "a.dotted name=y list=l { values { n: \"1\" } values { n: \"2\" } } list2=" + l2 +
      " n=3 n2=-2 old=y set=ss { values: \"b\" } set2=ss { values: \"c\" }";
  EXPECT_EQ(Show(reply->result().attributes()), changed);

  auto empty = Key();
  const v1::AttributeValue rest = StringsOf({"b"});
  Change(&empty, "set", v1::ATTRIBUTE_ACTION_DELETE, &rest);
  empty.set_return_values(v1::RETURN_VALUES_ALL_NEW);
  reply = database_.Update(empty);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(Show(reply->result().attributes()).find(" set="), std::string::npos);
}

// The rule for updates of missing items is the same as for expressions (EXP-33).
TEST_F(Legacy, AnUpdateOfAMissingItemCreatesItUnlessItOnlyDeletes) {
  auto update = Key();
  const v1::AttributeValue set = StringsOf({"a"}), number = N("1");
  Change(&update, "a", v1::ATTRIBUTE_ACTION_DELETE);
  Change(&update, "b", v1::ATTRIBUTE_ACTION_DELETE, &set);
  ASSERT_TRUE(database_.Update(update).ok());
  EXPECT_EQ(TheItem(), "");
  Change(&update, "n", v1::ATTRIBUTE_ACTION_ADD, &number);
  ASSERT_TRUE(database_.Update(update).ok());
  EXPECT_EQ(TheItem(), "n=1 pk=p sk=s");
  auto no_updates = Key("other");
  ASSERT_TRUE(database_.Update(no_updates).ok());
  EXPECT_EQ(database_.Get("Things", {{"pk", S("p")}, {"sk", S("other")}}), "pk=p sk=other");
}

TEST_F(Legacy, KeyConditionsSelectLikeKeyConditionExpressions) {
  for (const char* sk : {"a", "ab", "b", "c"})
    ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S(sk)}}).ok());
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("q")}, {"sk", S("a")}}).ok());
  const ComparisonRow rows[] = {
      {"sk = :v0", v1::COMPARISON_OPERATOR_EQ, {S("ab")}},
      {"sk < :v0", v1::COMPARISON_OPERATOR_LT, {S("b")}},
      {"sk <= :v0", v1::COMPARISON_OPERATOR_LE, {S("b")}},
      {"sk > :v0", v1::COMPARISON_OPERATOR_GT, {S("ab")}},
      {"sk >= :v0", v1::COMPARISON_OPERATOR_GE, {S("ab")}},
      {"begins_with(sk, :v0)", v1::COMPARISON_OPERATOR_BEGINS_WITH, {S("a")}},
      {"sk BETWEEN :v0 AND :v1", v1::COMPARISON_OPERATOR_BETWEEN, {S("ab"), S("b")}}};
  EXPECT_THAT(QueryAll(database_, Collection()), SizeIs(4));
  for (const ComparisonRow& row : rows) {
    SCOPED_TRACE(row.expression);
    auto expression = QueryRequest("Things", std::string("pk = :p AND ") + row.expression, {{":p", S("p")}});
    for (size_t i = 0; i < row.values.size(); ++i)
      SetValue(&expression, ":v" + std::to_string(i), row.values[i]);
    wire::PageRequest legacy = Collection();
    AddKeyCondition(&legacy, "sk", row.comparison, row.values);
    legacy.set_limit(1);
    std::vector<std::string> selected = QueryAll(database_, expression);
    EXPECT_FALSE(selected.empty());
    EXPECT_EQ(QueryAll(database_, legacy), selected);
  }
}

// Users who moved from QueryFilter to FilterExpression often keep KeyConditions.
TEST_F(Legacy, KeyConditionsMayStandBesideAFilterAndAProjectionExpression) {  // SEM-026
  for (const char* sk : {"a", "b"})
    ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S(sk)}, {"n", S(sk)}}).ok());
  wire::PageRequest query = Collection();
  query.set_filter_expression("#n = :b");
  SetName(&query, "#n", "n");
  SetValue(&query, ":b", S("b"));
  EXPECT_THAT(QueryAll(database_, query), ElementsAre("n=b pk=p sk=b"));
  query.set_projection_expression("sk, #n");
  EXPECT_THAT(QueryAll(database_, query), ElementsAre("n=b sk=b"));
  query.set_filter_expression("sk = :b AND #n = :b");
  EXPECT_EQ(MessageOf(database_.Query(query).status()),
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk");
}

TEST_F(Legacy, KeyConditionsNameAllPartsOfAnIndexKey) {  // SEM-089
  auto table = TableRequest("Wide");
  AddIndex(&table, "Index", {"a:S", "b:N", "c:S", "d:S"}, 2, v1::PROJECTION_TYPE_ALL);
  database_.CreateTable(table);
  for (const char* d : {"x", "y"}) {
    ASSERT_TRUE(
        database_
            .Put("Wide",
                 {{"pk", S("p")}, {"sk", S(d)}, {"a", S("a")}, {"b", N("1")}, {"c", S("c")}, {"d", S(d)}})
            .ok());
  }
  wire::PageRequest query;
  query.set_table_name("Wide");
  query.set_index_name("Index");
  AddKeyCondition(&query, "a", v1::COMPARISON_OPERATOR_EQ, {S("a")});
  AddKeyCondition(&query, "b", v1::COMPARISON_OPERATOR_EQ, {N("1.0")});
  EXPECT_THAT(QueryAll(database_, query), SizeIs(2));
  AddKeyCondition(&query, "c", v1::COMPARISON_OPERATOR_EQ, {S("c")});
  AddKeyCondition(&query, "d", v1::COMPARISON_OPERATOR_GT, {S("x")});
  EXPECT_THAT(QueryAll(database_, query), ElementsAre("a=a b=1 c=c d=y pk=p sk=y"));
}

TEST_F(Legacy, AttributesToGetAreTheOnlyOnesReturned) {
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("s")}, {"a.b", N("1")}, {"c", N("2")}}).ok());
  wire::GetItemRequest get;
  get.set_table_name("Things");
  get.set_key(Key().key_or_item());
  for (const char* name : {"c", "a.b", "none"}) get.add_attributes_to_get(name);
  auto reply = GetItem(database_, get);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(Show(reply->item()), "a.b=1 c=2");

  wire::BatchGetItemRequest batch;
  auto* keys = batch.add_request_items();
  keys->set_table_name("Things");
  keys->add_keys(get.key());
  keys->add_attributes_to_get("sk");
  auto items =
      Await<wire::BatchGetItemReply>([&](auto done) { database_->BatchGetItem(batch, std::move(done)); });
  ASSERT_TRUE(items.ok()) << items.status();
  EXPECT_EQ(Show(items->responses(0).items(0)), "sk=s");

  wire::PageRequest scan = ScanRequest("Things");
  scan.add_attributes_to_get("c");
  EXPECT_THAT(ScanAll(database_, scan), ElementsAre("c=2"));
  scan.set_select(v1::SELECT_SPECIFIC_ATTRIBUTES);
  EXPECT_THAT(ScanAll(database_, scan), ElementsAre("c=2"));
  wire::PageRequest query = Collection();
  query.add_attributes_to_get("a.b");
  EXPECT_THAT(QueryAll(database_, query), ElementsAre("a.b=1"));
}

// Attributes in another order and numbers in another notation are the same request for a token (SEM-050).
TEST_F(Legacy, ATokenKnowsItsRequestAgainInAnyOrder) {
  const v1::AttributeValue one = N("1"), same_one = N("1.0"), two = N("2");
  auto update = Key();
  Change(&update, "a", v1::ATTRIBUTE_ACTION_ADD, &one);
  Change(&update, "b", v1::ATTRIBUTE_ACTION_PUT, &two);
  Expect(&update, "a", v1::COMPARISON_OPERATOR_NULL, {});
  Expect(&update, "c", v1::COMPARISON_OPERATOR_NE, {N("1")});
  update.set_client_request_token("token");
  auto other_order = Key();
  Change(&other_order, "b", v1::ATTRIBUTE_ACTION_PUT, &two);
  Change(&other_order, "a", v1::ATTRIBUTE_ACTION_ADD, &same_one);
  Expect(&other_order, "c", v1::COMPARISON_OPERATOR_NE, {N("1e0")});
  Expect(&other_order, "a", v1::COMPARISON_OPERATOR_NULL, {});
  other_order.set_client_request_token("token");
  ASSERT_TRUE(database_.Update(update).ok());
  const uint64_t sequence = Sequence();
  auto again = database_.Update(other_order);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->has_result());
  EXPECT_EQ(Sequence(), sequence);
  EXPECT_EQ(TheItem(), "a=1 b=2 pk=p sk=s");

  auto different = update;
  different.mutable_attribute_updates(0)->mutable_value()->set_action(v1::ATTRIBUTE_ACTION_PUT);
  EXPECT_EQ(ReasonOf(database_.Update(different).status()), kReasonIdempotentParameterMismatch);
  different = update;
  different.mutable_expected(1)->mutable_value()->set_comparison_operator(v1::COMPARISON_OPERATOR_EQ);
  EXPECT_EQ(ReasonOf(database_.Update(different).status()), kReasonIdempotentParameterMismatch);
}

// Updates and attribute names: as many as an expression can hold; one more is refused.
TEST_F(Legacy, EntriesAreBounded) {
  for (int entries : {1'000, 1'001}) {
    SCOPED_TRACE(entries);
    auto update = Key();
    const v1::AttributeValue one = N("1");
    wire::GetItemRequest get;
    get.set_table_name("Things");
    get.set_key(Key().key_or_item());
    for (int i = 0; i < entries; ++i) {
      const std::string name = "a" + std::to_string(i);
      Change(&update, name, v1::ATTRIBUTE_ACTION_ADD, &one);
      get.add_attributes_to_get(name);
    }
    Expect(&update, "pk", v1::COMPARISON_OPERATOR_NULL, {});
    const bool allowed = entries == 1'000;
    EXPECT_EQ(database_.Update(update).ok(), allowed);
    EXPECT_EQ(GetItem(database_, get).ok(), allowed);
    EXPECT_EQ(Changes(database_).size(), 2u);
  }
}

// Every condition is evaluated for every item read. So there may be as many conditions as an expression may
// have operators, and as many values as fit into its text.
TEST_F(Legacy, ConditionsAndTheirValuesAreBounded) {
  for (int entries : {300, 301}) {
    SCOPED_TRACE(entries);
    auto put = Key();
    wire::PageRequest scan = ScanRequest("Things");
    for (int i = 0; i < entries; ++i) {
      Expect(&put, "a" + std::to_string(i), v1::COMPARISON_OPERATOR_NOT_NULL, {});
      AddFilter(&scan, "a" + std::to_string(i), v1::COMPARISON_OPERATOR_EQ, {N("1")});
    }
    EXPECT_EQ(database_.Update(put).ok(), entries == 300);
    EXPECT_EQ(database_.Scan(scan).ok(), entries == 300);
  }
  for (int more : {0, 1}) {
    wire::PageRequest scan = ScanRequest("Things");
    const std::vector<v1::AttributeValue> hundred(100, N("1"));
    for (int i = 0; i < 13; ++i)
      AddFilter(&scan, "a" + std::to_string(i), v1::COMPARISON_OPERATOR_IN, hundred);
    if (more == 1) AddFilter(&scan, "b", v1::COMPARISON_OPERATOR_EQ, {N("1")});
    EXPECT_EQ(database_.Scan(scan).ok(), more == 0);
  }
}

}  // namespace
}  // namespace itemdb::testing
