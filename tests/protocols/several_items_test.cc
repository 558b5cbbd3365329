// BatchGetItem, BatchWriteItem, TransactGetItems, TransactWriteItems.
#include "tests/protocols/both_protocols.h"
#include "tests/protocols/requests.h"

namespace itemdb::protocols {
namespace {

class SeveralItemsOverBoth : public BothProtocols {
 protected:
  void SetUp() override {
    for (const Json& item : Items()) Succeed("PutItem", {{"TableName", "Things"}, {"Item", item}});
  }

  static Json Put(const Json& item) { return {{"PutRequest", {{"Item", item}}}}; }
  static Json Delete(const Json& key) { return {{"DeleteRequest", {{"Key", key}}}}; }
  static Json BatchOf(const Json& things, const Json& more = Json::object()) {
    return With({{"RequestItems", {{"Things", things}}}}, more);
  }
  static Json OfThing(const std::string& pk, const std::string& sk, const Json& more = Json::object()) {
    return With({{"TableName", "Things"}, {"Key", Key(pk, sk)}}, more);
  }
  static Json Transaction(const Json& actions, const Json& more = Json::object()) {
    return With({{"TransactItems", actions}}, more);
  }
};

// BatchGetItem (SEM-043) refuses duplicate keys (SEM-044).
TEST_F(SeveralItemsOverBoth, BatchesOfReads) {
  Json hundred = Json::array(), more = Json::array();
  for (int i = 0; i < 101; ++i) {
    if (i < 100) hundred.push_back(Key("p1", "s" + std::to_string(i)));
    more.push_back(Key("p1", "s" + std::to_string(i)));
  }
  const Json keys = List(Key("p1", "s4"), Key("p2", "s5"), Key("p0", "gone"));
  std::vector<Request> requests = {
      {"BatchGetItem", BatchOf({{"Keys", hundred}})},
      {"BatchGetItem", BatchOf({{"Keys", more}}), Difference::kBoundsFirst},
      {"BatchGetItem", BatchOf({{"Keys", Json::array()}}), Difference::kBoundsFirst},
      {"BatchGetItem", {{"RequestItems", Json::object()}}, Difference::kBoundsFirst},
      {"BatchGetItem", BatchOf({{"Keys", List(Key("p1", "s4"), Key("p1", "s4"))}})},
      {"BatchGetItem",
       {{"RequestItems",
         {{"Things", {{"Keys", keys}}}, {"Single", {{"Keys", List(Json{{"id", Number(1)}})}}}}}}},
      // Legacy parameters for one table and expressions for the other (SEM-026).
      {"BatchGetItem",
       {{"RequestItems",
         {{"Things", {{"Keys", keys}, {"AttributesToGet", List("i")}}},
          {"Single", {{"Keys", List(Json{{"id", Number(1)}})}, {"ProjectionExpression", "id"}}}}}}},
      {"BatchGetItem", {{"RequestItems", {{"Things", {{"Keys", keys}}}, {"Missing", {{"Keys", keys}}}}}}},
      {"BatchGetItem", {{"RequestItems", {{"Single", {{"Keys", keys}}}}}}},
      {"BatchGetItem", BatchOf({{"Keys", List(Json::object())}})},
  };
  for (const char* capacity : {"NONE", "TOTAL", "INDEXES"}) {
    for (bool consistent : {false, true}) {
      requests.push_back({"BatchGetItem", BatchOf({{"Keys", keys}, {"ConsistentRead", consistent}},
                                                  {{"ReturnConsumedCapacity", capacity}})});
    }
  }
  for (const Json& value : BadValues())
    requests.push_back({"BatchGetItem", BatchOf({{"Keys", List(With(Key("p", "s"), {{"sk", value}}))}})});
  Expect(requests);
  EXPECT_GT(succeeded_, 5);
  EXPECT_GT(failed_, 20);
}

// The limits (SEM-045) and checks (SEM-046) of BatchWriteItem.
TEST_F(SeveralItemsOverBoth, BatchesOfWrites) {
  Json many = Json::array(), most = Json::array();
  for (int i = 0; i < 26; ++i) {
    if (i < 25) most.push_back(Put(Key("batch", std::to_string(i))));
    many.push_back(Delete(Key("batch", std::to_string(i))));
  }
  std::vector<Request> requests = {
      {"BatchWriteItem", BatchOf(most)},
      {"BatchWriteItem", BatchOf(many), Difference::kBoundsFirst},
      {"BatchWriteItem", BatchOf(Json::array()), Difference::kBoundsFirst},
      {"BatchWriteItem", {{"RequestItems", Json::object()}}, Difference::kBoundsFirst},
      {"BatchWriteItem", BatchOf(List(Json::object()))},
      {"BatchWriteItem", BatchOf(List(Put(Key("p", "s")), Delete(Key("p", "s"))))},
      {"BatchWriteItem", BatchOf(List(Put(Key("p", "s")), Put(Json{{"pk", Text("p")}})))},
      {"BatchWriteItem", BatchOf(List(Delete(With(Key("p", "s"), {{"more", Text("x")}}))))},
      {"BatchWriteItem", {{"RequestItems", {{"Missing", List(Put(Key("p", "s")))}}}}},
      {"BatchWriteItem",
       {{"RequestItems",
         {{"Things", List(Put(Items()[3]))}, {"Single", List(Delete(Json{{"id", Number(1)}}))}}}}},
      {"BatchWriteItem", BatchOf(List(Json{{"PutRequest", Json::object()}})), Difference::kBoundsFirst},
  };
  for (const char* capacity : {"NONE", "TOTAL", "INDEXES"}) {
    for (const char* metrics : {"NONE", "SIZE"}) {
      requests.push_back(
          {"BatchWriteItem",
           BatchOf(List(Put(With(Items()[6], {{"i", Text(capacity)}})), Delete(Key("p2", "gone"))),
                   {{"ReturnConsumedCapacity", capacity}, {"ReturnItemCollectionMetrics", metrics}})});
    }
  }
  for (const std::vector<Json>* values : {&GoodValues(), &BadValues()}) {
    for (const Json& value : *values)
      requests.push_back({"BatchWriteItem", BatchOf(List(Put(With(Key("b", "v"), {{"v", value}}))))});
  }
  Expect(requests);
  EXPECT_GT(succeeded_, 20);
  EXPECT_GT(failed_, 20);
}

// TransactGetItems (SEM-056); one operation per item (SEM-048).
TEST_F(SeveralItemsOverBoth, TransactionsOfReads) {
  const auto get = [](const std::string& pk, const std::string& sk) {
    return Json{{"Get", OfThing(pk, sk)}};
  };
  Json many = Json::array();
  for (int i = 0; i < 101; ++i) many.push_back(get("p1", std::to_string(i)));
  std::vector<Request> requests = {
      {"TransactGetItems", Transaction(List(get("p1", "s4"), get("gone", "s"), get("p2", "s5")))},
      {"TransactGetItems", Transaction(List(get("p1", "s4"), get("p1", "s4")))},
      {"TransactGetItems", Transaction(many), Difference::kBoundsFirst},
      {"TransactGetItems", Transaction(Json::array()), Difference::kBoundsFirst},
      {"TransactGetItems",
       Transaction(List(get("p1", "s4"), Json{{"Get", {{"TableName", "Missing"}, {"Key", Key("p", "s")}}}}))},
  };
  // Keys that do not fit cancel; an empty one does not (SEM-005).
  for (const Json& key : {Json{{"pk", Text("p1")}}, Json{{"pk", Text("p1")}, {"sk", Number(1)}},
                          Json{{"pk", Text("p1")}, {"sk", Text("")}}, Json::object()}) {
    requests.push_back(
        {"TransactGetItems",
         Transaction(List(get("p1", "s4"), Json{{"Get", {{"TableName", "Things"}, {"Key", key}}}}))});
  }
  for (const char* capacity : {"TOTAL", "INDEXES"})
    requests.push_back({"TransactGetItems", Transaction(List(get("p1", "s4"), get("p2", "s5")),
                                                        {{"ReturnConsumedCapacity", capacity}})});
  Expect(requests);
  EXPECT_GT(succeeded_, 2);
}

// TransactWriteItems (SEM-047), tokens (SEM-050, ERR-08), cancellation reasons (SEM-051, SEM-052, ERR-05).
TEST_F(SeveralItemsOverBoth, TransactionsOfWrites) {
  const auto check = [](const char* condition, const Json& more = Json::object()) {
    return Json{{"ConditionCheck", OfThing("p1", "s4", With({{"ConditionExpression", condition}}, more))}};
  };
  const auto put = [](const Json& item, const Json& more = Json::object()) {
    return Json{{"Put", With({{"TableName", "Things"}, {"Item", item}}, more)}};
  };
  const auto update = [](const char* sk, const char* expression, const Json& more = Json::object()) {
    return Json{{"Update", OfThing("p1", sk, With({{"UpdateExpression", expression}}, more))}};
  };
  const Json remove = {{"Delete", OfThing("p2", "s5")}};
  const Json five = {{"ExpressionAttributeValues", {{":v", Number(5)}}}};
  const Json show_old = {{"ReturnValuesOnConditionCheckFailure", "ALL_OLD"}};
  Json many = Json::array();
  for (int i = 0; i < 101; ++i) many.push_back(put(Key("many", std::to_string(i))));
  const Json good =
      List(check("attribute_exists(pk)"), put(Key("t", "1")), update("s1", "SET i = :v", five), remove);
  std::vector<Request> requests = {
      {"TransactWriteItems", Transaction(good)},
      {"TransactWriteItems",
       Transaction(good, {{"ReturnConsumedCapacity", "INDEXES"}, {"ReturnItemCollectionMetrics", "SIZE"}})},
      {"TransactWriteItems", Transaction(good, {{"ReturnConsumedCapacity", "TOTAL"}})},
      {"TransactWriteItems", Transaction(many), Difference::kBoundsFirst},
      {"TransactWriteItems", Transaction(Json::array()), Difference::kBoundsFirst},
      {"TransactWriteItems", Transaction(good, {{"ClientRequestToken", std::string(37, 't')}}),
       Difference::kBoundsFirst},
      {"TransactWriteItems", Transaction(List(Json::object()))},
      {"TransactWriteItems", Transaction(List(put(Key("t", "1")), put(Key("t", "1"))))},
      {"TransactWriteItems", Transaction(List(check("attribute_exists(nothing)"), put(Key("t", "2"))))},
      {"TransactWriteItems",
       Transaction(List(check("attribute_exists(nothing)", show_old), put(Key("t", "2"))))},
      {"TransactWriteItems",
       Transaction(
           List(put(Items()[1], With({{"ConditionExpression", "attribute_not_exists(pk)"}}, show_old)),
                put(Items()[2], {{"ConditionExpression", "attribute_not_exists(pk)"}})))},
      {"TransactWriteItems", Transaction(List(update("s1", "SET i = text + :v", five), put(Key("t", "2"))))},
      {"TransactWriteItems", Transaction(List(update("s1", "SET pk = :v", five)))},
      {"TransactWriteItems", Transaction(List(update("s1", "SET i = ")))},
      {"TransactWriteItems", Transaction(List(update("s1", "SET l = list_append(list_append(l, l), l)")))},
      {"TransactWriteItems", Transaction(List(update("s1", ""))), Difference::kEmptyIsSaid},
      {"TransactWriteItems", Transaction(List(check("i =")))},
      {"TransactWriteItems", Transaction(List(check(" ")))},
      {"TransactWriteItems", Transaction(List(check("i = :v", five)))},
      {"TransactWriteItems",
       Transaction(List(Json{{"Put", {{"TableName", "Missing"}, {"Item", Key("p", "s")}}}}))},
      {"TransactWriteItems",
       Transaction(List(Json{{"Delete", {{"TableName", "Things"}, {"Key", {{"pk", Text("p")}}}}}}))},
      {"TransactWriteItems", Transaction(List(put(Key("t", "1")), put({{"pk", Number(1)}, {"sk", Text("s")}}),
                                              put({{"pk", Text("p")}}), check("attribute_exists(nothing)")))},
      {"TransactWriteItems", Transaction(List(put(Key("t", "1")), put(Key("t", ""))))},
      {"TransactWriteItems", Transaction(List(Json{{"Update",
                                                    {{"TableName", "Things"},
                                                     {"Key", {{"pk", Text("p")}, {"sk", Number(1)}}},
                                                     {"UpdateExpression", "REMOVE i"}}}}))},
      {"TransactWriteItems", Transaction(List(Json{{"Put", {{"TableName", "Things"}}}})),
       Difference::kBoundsFirst},
      // The same token: the same request is answered again, another request is refused.
      {"TransactWriteItems", Transaction(List(put(Key("t", "3"))), {{"ClientRequestToken", "token"},
                                                                    {"ReturnConsumedCapacity", "TOTAL"}})},
      {"TransactWriteItems", Transaction(List(put(Key("t", "3"))), {{"ClientRequestToken", "token"},
                                                                    {"ReturnConsumedCapacity", "TOTAL"}})},
      {"TransactWriteItems", Transaction(List(put(Key("t", "4"))), {{"ClientRequestToken", "token"}})},
  };
  for (const std::vector<Json>* values : {&GoodValues(), &BadValues()}) {
    for (const Json& value : *values) {
      requests.push_back({"TransactWriteItems",
                          Transaction(List(put(With(Key("t", "v"), {{"v", value}})), put(Key("t", "w"))))});
      requests.push_back(
          {"TransactWriteItems",
           Transaction(List(update("s1", "SET v = :v", {{"ExpressionAttributeValues", {{":v", value}}}})))});
    }
  }
  Expect(requests);
  EXPECT_GT(succeeded_, 30);
  EXPECT_GT(failed_, 30);
}

// A reply that would be too long leaves keys unprocessed (SEM-043).
TEST_F(SeveralItemsOverBoth, LongRepliesAreCutAtTheLengthOfTheirProtocol) {
  Json keys = Json::array();
  for (int i = 0; i < 12; ++i) {
    keys.push_back(Key("long", std::to_string(i)));
    Succeed("PutItem",
            {{"TableName", "Things"}, {"Item", With(keys.back(), {{"t", Text(std::string(390'000, 'x'))}})}});
  }
  Expect({{"BatchGetItem", BatchOf({{"Keys", keys}}), Difference::kShorterReply}});
  Json few = Json::array();
  for (int i = 0; i < 5; ++i) few.push_back(keys[i]);
  Expect({{"BatchGetItem", BatchOf({{"Keys", few}})}});
}

}  // namespace
}  // namespace itemdb::protocols
