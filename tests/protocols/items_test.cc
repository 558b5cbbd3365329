// PutItem, GetItem, UpdateItem, DeleteItem.
#include "tests/protocols/both_protocols.h"
#include "tests/protocols/requests.h"

namespace itemdb::protocols {
namespace {

class ItemsOverBoth : public BothProtocols {
 protected:
  static Json OfThing(const std::string& pk, const std::string& sk) {
    return {{"TableName", "Things"}, {"Key", Key(pk, sk)}};
  }
  static Json PutOf(const Json& item) { return {{"TableName", "Things"}, {"Item", item}}; }

  void Fill() {
    for (const Json& item : Items()) Succeed("PutItem", PutOf(item));
  }
};

// Every value in every part of a request that can have one (SEM-009 to SEM-017), and the order of checks
// (SEM-115).
TEST_F(ItemsOverBoth, Values) {
  std::vector<Request> requests;
  for (const std::vector<Json>* values : {&GoodValues(), &BadValues()}) {
    for (const Json& value : *values) {
      requests.push_back(
          {"PutItem", With(PutOf(With(Key("v", "1"), {{"v", value}})),
                           {{"ReturnValues", "ALL_OLD"}, {"ReturnConsumedCapacity", "INDEXES"}})});
      requests.push_back({"GetItem", With(OfThing("v", "1"), {{"ReturnConsumedCapacity", "TOTAL"}})});
      requests.push_back(
          {"UpdateItem", With(OfThing("v", "2"), {{"UpdateExpression", "SET v = :v, w.x = :v"},
                                                  {"ExpressionAttributeValues", {{":v", value}}}})});
      requests.push_back(
          {"UpdateItem", With(OfThing("v", "2"), {{"UpdateExpression", "SET v = :v"},
                                                  {"ExpressionAttributeValues", {{":v", value}}},
                                                  {"ReturnValues", "ALL_NEW"}})});
      requests.push_back(
          {"UpdateItem",
           With(OfThing("v", "2"), {{"AttributeUpdates", {{"v", {{"Action", "PUT"}, {"Value", value}}}}},
                                    {"ReturnValues", "UPDATED_OLD"}})});
      requests.push_back(
          {"UpdateItem",
           With(OfThing("v", "2"), {{"AttributeUpdates", {{"v", {{"Action", "ADD"}, {"Value", value}}}}},
                                    {"ReturnValues", "UPDATED_NEW"}})});
      requests.push_back(
          {"DeleteItem", With(OfThing("v", "2"), {{"ConditionExpression", "v <> :v"},
                                                  {"ExpressionAttributeValues", {{":v", value}}}})});
      requests.push_back(
          {"DeleteItem", With(OfThing("v", "3"), {{"Expected", {{"v", {{"Value", value}}}}}})});
      requests.push_back(
          {"GetItem", {{"TableName", "Things"}, {"Key", With(Key("v", "1"), {{"sk", value}})}}});
      requests.push_back({"GetItem", {{"TableName", "Single"}, {"Key", {{"id", value}}}}});
      requests.push_back({"PutItem", {{"TableName", "Blobs"}, {"Item", {{"b", value}}}}});
    }
  }
  Expect(requests);
  EXPECT_GT(succeeded_, 100);
  EXPECT_GT(failed_, 100);
}

// Conditions (EXP-01 to EXP-20), limits of expressions (SEM-019 to SEM-026), a false condition (ERR-04).
TEST_F(ItemsOverBoth, Conditions) {
  Fill();
  struct Condition {
    const char* text;
    Json names = Json::object();
    Json values = Json::object();
  };
  const Json one = {{":v", Number(1)}};
  const std::vector<Condition> conditions = {
      {"attribute_exists(pk)"},
      {"attribute_not_exists(pk)"},
      {"attribute_not_exists(list[9])"},
      {"i = :v", {}, one},
      {"i <> :v", {}, one},
      {"i < :v OR i >= :v", {}, one},
      {"NOT i = :v", {}, one},
      {"i BETWEEN :v AND :w", {}, {{":v", Number(0)}, {":w", Number(5)}}},
      {"i BETWEEN :w AND :v", {}, {{":v", Number(0)}, {":w", Number(5)}}},
      {"i IN (:v, :w)", {}, {{":v", Number(1)}, {":w", Number(4)}}},
      {"contains(#m.tags, :v)", {{"#m", "map"}}, {{":v", Text("red")}}},
      {"contains(text, :v)", {}, {{":v", Text("xx")}}},
      {"begins_with(sk, :v)", {}, {{":v", Text("s")}}},
      {"begins_with(sk, :v)", {}, one},
      {"attribute_type(#l, :v)", {{"#l", "list"}}, {{":v", Text("L")}}},
      {"attribute_type(#l, :v)", {{"#l", "list"}}, {{":v", Text("X")}}},
      {"size(text) > :v", {}, one},
      {"#m.#c = i", {{"#m", "map"}, {"#c", "count"}}},
      {"#l[0] = #l[2]", {{"#l", "list"}}},
      {"(((i = :v)))", {}, one},
      {"i = :v AND", {}, one},
      {"i == :v", {}, one},
      {"i = :missing", {}, one},
      {"i = :v", {{"#unused", "i"}}, one},
      {"#undefined = :v", {}, one},
      {"i = :v", {{"unused", "i"}}, one},
      {"i = :v", {}, {{"v", Number(1)}}},
      {"map = :v", {}, one},
      {"nosuch(i)", {}, {}},
      {"size(i)", {}, {}},
      {":v = :v", {}, one},
      {"i = i"},
      {" "},
      {"i[0"},
      {"i.\xc3\xbc = :v", {}, one},
  };
  std::vector<Request> requests;
  for (const Condition& condition : conditions) {
    Json parameters = {{"ConditionExpression", condition.text},
                       {"ReturnValuesOnConditionCheckFailure", "ALL_OLD"}};
    if (!condition.names.empty()) parameters["ExpressionAttributeNames"] = condition.names;
    if (!condition.values.empty()) parameters["ExpressionAttributeValues"] = condition.values;
    const Json item = Items()[1];
    requests.push_back({"PutItem", With(PutOf(item), parameters)});
    requests.push_back({"DeleteItem", With(OfThing("p1", "s1"), parameters)});
    requests.push_back({"PutItem", With(PutOf(item), {{"ReturnValues", "ALL_OLD"}})});
    parameters["UpdateExpression"] = "SET seen = if_not_exists(seen, pk)";
    requests.push_back({"UpdateItem", With(OfThing("p1", "s1"), parameters)});
  }
  Expect(requests);
  EXPECT_GT(succeeded_, 50);
  EXPECT_GT(failed_, 50);
}

// Update expressions (EXP-09, EXP-10, EXP-23 to EXP-33) and ReturnValues (SEM-058, SEM-059).
TEST_F(ItemsOverBoth, Updates) {
  Fill();
  struct Update {
    const char* text;
    Json values = Json::object();
    Json names = Json::object();
  };
  const Json number = {{":v", Number(5)}};
  const std::vector<Update> updates = {
      {"SET i = :v", number},
      {"SET i = i + :v, k = k - :v", number},
      {"SET #l[0] = :v, #l[7] = :v", number, {{"#l", "list"}}},
      {"SET #l = list_append(#l, :v)", {{":v", {{"L", List(Text("last"))}}}}, {{"#l", "list"}}},
      {"SET #l = list_append(:v, #l)", number, {{"#l", "list"}}},
      {"SET #m.fresh = if_not_exists(#m.fresh, :v)", number, {{"#m", "map"}}},
      {"SET missing.path = :v", number},
      {"SET i = :v, i = :v", number},
      {"SET #m = :v, #m.x = :v", number, {{"#m", "map"}}},
      {"SET pk = :v", number},
      {"SET a = :v", number},
      {"SET a = :v", {{":v", Text("")}}},
      {"SET i = text + :v", number},
      {"REMOVE text, #l[1], #m.tags", {}, {{"#l", "list"}, {"#m", "map"}}},
      {"REMOVE nothing, #l[99]", {}, {{"#l", "list"}}},
      {"REMOVE sk"},
      {"ADD i :v, counter :v", number},
      {"ADD #s :v", {{":v", {{"NS", List("100", "7")}}}}, {{"#s", "set"}}},
      {"ADD text :v", number},
      {"ADD #s :v", {{":v", {{"SS", List("x")}}}}, {{"#s", "set"}}},
      {"DELETE #s :v", {{":v", {{"NS", List("100")}}}}, {{"#s", "set"}}},
      {"DELETE #s :v", number, {{"#s", "set"}}},
      {"SET i = :v REMOVE text ADD counter :v DELETE #s :n",
       {{":v", Number(5)}, {":n", {{"NS", List("100")}}}},
       {{"#s", "set"}}},
      {"SET i = :v SET k = :v", number},
      {"SET i", number},
      {"SET i = ", number},
      {"UPDATE i = :v", number},
      {"SET i = :v,", number},
      {"SET size(i) = :v", number},
  };
  std::vector<Request> requests;
  int i = 0;
  const char* kReturns[] = {"NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"};
  for (const Update& update : updates) {
    Json parameters = {{"UpdateExpression", update.text}, {"ReturnConsumedCapacity", "INDEXES"}};
    if (!update.values.empty()) parameters["ExpressionAttributeValues"] = update.values;
    if (!update.names.empty()) parameters["ExpressionAttributeNames"] = update.names;
    for (const char* returns : kReturns) {
      requests.push_back({"PutItem", PutOf(Items()[4])});
      parameters["ReturnValues"] = returns;
      requests.push_back({"UpdateItem", With(OfThing("p1", "s4"), parameters)});
    }
    // An item that does not exist, with the size of its item collection.
    parameters["ReturnItemCollectionMetrics"] = "SIZE";
    requests.push_back({"UpdateItem", With(OfThing("new", std::to_string(i++)), parameters)});
  }
  Expect(requests);
  EXPECT_GT(failed_, 50);
}

// ProjectionExpression (EXP-11, EXP-34) and AttributesToGet (SEM-112).
TEST_F(ItemsOverBoth, Projections) {
  Fill();
  struct Projection {
    const char* text;
    Json names = Json::object();
  };
  std::vector<Request> requests;
  for (const Projection& projection :
       std::vector<Projection>{{"pk"},
                               {"pk, sk, nothing"},
                               {"#l[0], #l[1].#i, #l[9]", {{"#l", "list"}, {"#i", "in"}}},
                               {"#m.tags, #m.#c", {{"#m", "map"}, {"#c", "count"}}},
                               {"#m, #m.tags", {{"#m", "map"}}},
                               {"i, i"},
                               {"map"},
                               {"i,"},
                               {"#undefined"},
                               {"i", {{"#unused", "x"}}},
                               {"i i"},
                               {":v"},
                               {" "}}) {
    Json parameters = {{"ProjectionExpression", projection.text}};
    if (!projection.names.empty()) parameters["ExpressionAttributeNames"] = projection.names;
    requests.push_back({"GetItem", With(OfThing("p1", "s4"), parameters)});
    requests.push_back({"GetItem", With(OfThing("p1", "gone"), parameters)});
    requests.push_back(
        {"BatchGetItem",
         {{"RequestItems",
           {{"Things", With({{"Keys", List(Key("p1", "s4"), Key("p2", "s5"))}}, parameters)}}}}});
    requests.push_back({"TransactGetItems",
                        {{"TransactItems", List(Json{{"Get", With(OfThing("p0", "s0"), parameters)}})}}});
    requests.push_back({"Scan", With({{"TableName", "Things"}, {"Limit", 3}}, parameters)});
  }
  for (const Json& names : {List("pk"), List("i", "nothing"), List("i", "i"), List("list[0]"), List("")}) {
    requests.push_back({"GetItem", With(OfThing("p1", "s4"), {{"AttributesToGet", names}})});
    requests.push_back({"Scan", {{"TableName", "Things"}, {"AttributesToGet", names}}});
    requests.push_back(
        {"BatchGetItem",
         {{"RequestItems", {{"Things", {{"Keys", List(Key("p1", "s4"))}, {"AttributesToGet", names}}}}}}});
  }
  requests.push_back({"GetItem", With(OfThing("p1", "s4"),
                                      {{"AttributesToGet", List("pk")}, {"ProjectionExpression", "pk"}})});
  Expect(requests);
  EXPECT_GT(succeeded_, 20);
  EXPECT_GT(failed_, 20);
}

// Item size (SEM-001), invalid keys (SEM-006), table names (SEM-008), missing tables (SEM-039).
TEST_F(ItemsOverBoth, KeysAndTables) {
  std::vector<Request> requests;
  const std::vector<Json> keys = {
      Json::object(),
      {{"pk", Text("p")}},
      {{"sk", Text("s")}},
      With(Key("p", "s"), {{"extra", Text("x")}}),
      {{"pk", Text("p")}, {"sk", Number(1)}},
      {{"pk", Text("")}, {"sk", Text("s")}},
      {{"pk", Text("p")}, {"sk", Text("")}},
      {{"pk", Text(std::string(2'049, 'x'))}, {"sk", Text("s")}},
      {{"pk", Text("p")}, {"sk", Text(std::string(1'025, 'x'))}},
      {{"pk", Text(std::string(2'048, 'x'))}, {"sk", Text(std::string(1'024, 'y'))}},
  };
  for (const Json& key : keys) {
    const Json request = {{"TableName", "Things"}, {"Key", key}};
    requests.push_back({"GetItem", request});
    requests.push_back({"DeleteItem", request});
    requests.push_back({"UpdateItem", request});
    requests.push_back({"PutItem", PutOf(key)});
    requests.push_back({"BatchGetItem", {{"RequestItems", {{"Things", {{"Keys", List(key)}}}}}}});
    requests.push_back(
        {"BatchWriteItem", {{"RequestItems", {{"Things", List(Json{{"DeleteRequest", {{"Key", key}}}})}}}}});
    requests.push_back({"TransactGetItems", {{"TransactItems", List(Json{{"Get", request}})}}});
    requests.push_back({"TransactWriteItems", {{"TransactItems", List(Json{{"Delete", request}})}}});
  }
  for (const char* table : {"Missing", "things", "arn:aws:dynamodb:local:000000000000:table/Things",
                            "arn:aws:dynamodb:local:000000000000:table/Missing", "arn:aws:s3:::bucket"}) {
    const Json request = {{"TableName", table}, {"Key", Key("p", "s")}};
    // An ARN that is none of a table is out of the bounds of names.
    const bool names_table = std::string_view(table).find("s3") == std::string_view::npos;
    const Difference difference = names_table ? Difference::kNone : Difference::kBoundsFirst;
    requests.push_back({"GetItem", request, difference});
    requests.push_back({"DeleteItem", request, difference});
    requests.push_back({"Scan", {{"TableName", table}, {"Limit", 1}}, difference});
    requests.push_back({"DescribeTable", {{"TableName", table}}, difference});
    requests.push_back(
        {"BatchGetItem", {{"RequestItems", {{table, {{"Keys", List(Key("p", "s"))}}}}}}, difference});
  }
  // An item has at most 409,600 bytes (SEM-001).
  for (int bytes : {409'590, 409'595, 409'600, 409'700})
    requests.push_back({"PutItem", PutOf(With(Key("p", "large"), {{"t", Text(std::string(bytes, 'x'))}}))});
  // A key attribute of an index must have its type in items too (SEM-070).
  for (const Json& value : BadValues())
    requests.push_back({"PutItem", PutOf(With(Key("p", "s"), {{"n", value}}))});
  for (const Json& value : GoodValues())
    requests.push_back({"PutItem", PutOf(With(Key("p", "s"), {{"a", value}}))});
  Expect(requests);
  EXPECT_GT(succeeded_, 10);
  EXPECT_GT(failed_, 60);
}

// Legacy parameters (SEM-112).
TEST_F(ItemsOverBoth, LegacyParameters) {
  Fill();
  const auto comparison = [](const char* name, const Json& values = Json::array()) {
    Json condition = {{"ComparisonOperator", name}};
    if (!values.empty()) condition["AttributeValueList"] = values;
    return condition;
  };
  const std::vector<Json> conditions = {
      comparison("EQ", List(Number(4))),
      comparison("NE", List(Number(4))),
      comparison("LE", List(Number(4))),
      comparison("GT", List(Text("4"))),
      comparison("EQ"),
      comparison("EQ", List(Number(1), Number(2))),
      comparison("NULL"),
      comparison("NOT_NULL"),
      comparison("NULL", List(Number(1))),
      comparison("IN", List(Number(4), Number(5))),
      comparison("BETWEEN", List(Number(1), Number(5))),
      comparison("BETWEEN", List(Number(5))),
      comparison("CONTAINS", List(Number(4))),
      comparison("NOT_CONTAINS", List(Number(4))),
      comparison("BEGINS_WITH", List(Text("4"))),
      comparison("EQ", List(Json::object())),
      {{"Value", Number(4)}},
      {{"Exists", false}},
      {{"Exists", true}},
      {{"Exists", false}, {"Value", Number(4)}},
      {{"Value", Number(4)}, {"ComparisonOperator", "EQ"}},
      Json::object(),
  };
  std::vector<Request> requests;
  for (const Json& condition : conditions) {
    requests.push_back({"PutItem", With(PutOf(Items()[4]), {{"Expected", {{"i", condition}}}})});
    requests.push_back(
        {"DeleteItem", With(OfThing("p1", "s4"), {{"Expected", {{"i", condition}, {"i2", condition}}},
                                                  {"ConditionalOperator", "OR"}})});
    requests.push_back({"PutItem", PutOf(Items()[4])});
    if (condition.contains("Value") || condition.contains("Exists") || condition.empty()) continue;
    requests.push_back({"Scan", {{"TableName", "Things"}, {"ScanFilter", {{"i", condition}}}}});
    requests.push_back({"Query",
                        {{"TableName", "Things"},
                         {"KeyConditions", {{"pk", comparison("EQ", List(Text("p1")))}}},
                         {"QueryFilter", {{"i", condition}}}}});
    requests.push_back(
        {"Query",
         {{"TableName", "Things"},
          {"KeyConditions", {{"pk", comparison("EQ", List(Text("p1")))}, {"sk", condition}}}}});
  }
  // KeyConditions beside expressions (SEM-026).
  for (const char* filter : {"i = :v", "sk = :v", "i = :undefined"}) {
    for (const char* more : {"", "ProjectionExpression", "AttributesToGet", "KeyConditionExpression"}) {
      Json query = {{"TableName", "Things"},
                    {"KeyConditions", {{"pk", comparison("EQ", List(Text("p1")))}}},
                    {"FilterExpression", filter},
                    {"ExpressionAttributeValues", {{":v", Number(4)}}}};
      if (*more == 'P') query[more] = "sk, i";
      if (*more == 'A') query[more] = List("sk");
      if (*more == 'K') query[more] = "pk = :v";
      requests.push_back({"Query", query});
    }
  }
  for (const char* action : {"PUT", "ADD", "DELETE"}) {
    for (const Json& value :
         {Number(1), Text("x"), Json{{"NS", List("100")}}, Json{{"L", List(Text("x"))}}}) {
      for (const char* attribute : {"i", "set", "list", "absent", "pk"}) {
        requests.push_back(
            {"UpdateItem", With(OfThing("p1", "s4"),
                                {{"AttributeUpdates", {{attribute, {{"Action", action}, {"Value", value}}}}},
                                 {"ReturnValues", "ALL_NEW"}})});
      }
    }
    requests.push_back(
        {"UpdateItem", With(OfThing("p1", "s4"), {{"AttributeUpdates", {{"text", {{"Action", action}}}}}})});
  }
  // Expression and legacy parameters exclude each other (SEM-026).
  requests.push_back({"PutItem", With(PutOf(Items()[4]), {{"Expected", {{"i", {{"Exists", false}}}}},
                                                          {"ConditionExpression", "attribute_exists(pk)"}})});
  requests.push_back({"PutItem", With(PutOf(Items()[4]), {{"ConditionalOperator", "AND"}})});
  requests.push_back(
      {"UpdateItem", With(OfThing("p1", "s4"), {{"UpdateExpression", "REMOVE i"},
                                                {"AttributeUpdates", {{"i", {{"Action", "DELETE"}}}}}})});
  requests.push_back({"PutItem", With(PutOf(Items()[4]), {{"ExpressionAttributeNames", {{"#a", "a"}}}})});
  requests.push_back(
      {"PutItem", With(PutOf(Items()[4]), {{"ExpressionAttributeValues", {{":a", Number(1)}}}})});
  Expect(requests);
  EXPECT_GT(succeeded_, 50);
  EXPECT_GT(failed_, 50);
}

// ReturnValues (SEM-058), consumed capacity (SEM-061) and item collection metrics (SEM-066) of single writes.
TEST_F(ItemsOverBoth, ReturnedAttributes) {
  std::vector<Request> requests;
  for (const char* returns : {"NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"}) {
    for (const char* capacity : {"NONE", "TOTAL", "INDEXES"}) {
      for (const char* metrics : {"NONE", "SIZE"}) {
        const Json wanted = {{"ReturnValues", returns},
                             {"ReturnConsumedCapacity", capacity},
                             {"ReturnItemCollectionMetrics", metrics}};
        const Json item = With(Items()[6], {{"pk", Text("returned")}});
        requests.push_back({"PutItem", With(PutOf(item), wanted)});
        requests.push_back({"UpdateItem", With(OfThing("returned", "s6"), wanted)});
        requests.push_back({"DeleteItem", With(OfThing("returned", "s6"), wanted)});
      }
    }
  }
  Expect(requests);
  EXPECT_GT(succeeded_, 30);
  EXPECT_GT(failed_, 30);
}

TEST_F(ItemsOverBoth, WhatIsOutOfBoundsIsListedOverHttp) {
  Expect({
      {"PutItem", {{"TableName", "Things"}}, Difference::kBoundsFirst},
      {"GetItem", {{"TableName", "ab"}, {"Key", Key("p", "s")}}, Difference::kBoundsFirst},
      {"GetItem", {{"TableName", "a b c"}, {"Key", Key("p", "s")}}, Difference::kBoundsFirst},
      {"DeleteItem", With(OfThing("p", "s"), {{"ReturnValues", "SOME"}}), Difference::kBoundsFirst},
      {"PutItem", With(PutOf(Key("p", "s")), {{"ReturnConsumedCapacity", "SOME"}}), Difference::kBoundsFirst},
      {"PutItem", With(PutOf(Key("p", "s")), {{"ReturnItemCollectionMetrics", "SOME"}}),
       Difference::kBoundsFirst},
      {"UpdateItem",
       With(OfThing("p", "s"), {{"AttributeUpdates", {{"a", {{"Action", "TAKE"}, {"Value", Number(1)}}}}}}),
       Difference::kBoundsFirst},
      {"DeleteItem", With(OfThing("p", "s"), {{"Expected", {{"a", {{"ComparisonOperator", "LIKE"}}}}}}),
       Difference::kBoundsFirst},
  });
}

// Empty expressions (SEM-019) and placeholders without an expression (SEM-026).
TEST_F(ItemsOverBoth, WhatIsEmptyIsRefusedOverHttp) {
  Expect({
      {"PutItem", With(PutOf(Key("p", "s")), {{"ConditionExpression", ""}}), Difference::kEmptyIsSaid},
      {"GetItem", With(OfThing("p", "s"), {{"ProjectionExpression", ""}}), Difference::kEmptyIsSaid},
      {"GetItem", With(OfThing("p", "s"), {{"ExpressionAttributeNames", Json::object()}}),
       Difference::kEmptyIsSaid},
      {"DeleteItem", With(OfThing("p", "s"), {{"ExpressionAttributeValues", Json::object()}}),
       Difference::kEmptyIsSaid},
      {"GetItem", With(OfThing("p", "s"), {{"AttributesToGet", Json::array()}}), Difference::kEmptyIsSaid},
  });
}

}  // namespace
}  // namespace itemdb::protocols
