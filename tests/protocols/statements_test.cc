// PartiQL: ExecuteStatement, BatchExecuteStatement, ExecuteTransaction.
#include "tests/protocols/both_protocols.h"
#include "tests/protocols/requests.h"

namespace itemdb::protocols {
namespace {

class StatementsOverBoth : public BothProtocols {
 protected:
  void SetUp() override {
    for (const Json& item : Items()) Succeed("PutItem", {{"TableName", "Things"}, {"Item", item}});
  }
};

Json Statement(const std::string& text, const Json& parameters = Json::array(),
               const Json& more = Json::object()) {
  Json statement = With({{"Statement", text}}, more);
  if (!parameters.empty()) statement["Parameters"] = parameters;
  return statement;
}

// SELECT (PQL-01), operators, functions and literals (PQL-07 to PQL-11), ConsistentRead (PQL-17), malformed
// text (PQL-18).
TEST_F(StatementsOverBoth, Selects) {
  struct Select {
    const char* text;
    Json parameters = Json::array();
  };
  std::vector<Request> requests;
  for (const Select& select : std::vector<Select>{
           {"SELECT * FROM Things"},
           {"SELECT * FROM Things WHERE pk = 'p1'"},
           {"SELECT * FROM Things WHERE pk = ? AND sk > ?", List(Text("p1"), Text("s1"))},
           {"SELECT pk, i, \"list\"[0], \"map\".tags FROM Things WHERE pk = 'p1'"},
           {"SELECT * FROM Things WHERE pk IN ['p0', 'p2'] AND i > 4"},
           {"SELECT * FROM Things WHERE pk = 'p1' ORDER BY sk DESC"},
           {"SELECT * FROM Things ORDER BY sk"},
           {"SELECT * FROM Things.ByN WHERE n = 1"},
           {"SELECT * FROM \"Things\".\"ByA\" WHERE a = 'a0'"},
           {"SELECT * FROM Things.ByK WHERE pk = 'p1' AND k < 99"},
           {"SELECT * FROM Things.NoSuch"},
           {"SELECT * FROM Missing"},
           {"SELECT * FROM Single WHERE id = 1"},
           {"SELECT * FROM Things WHERE pk = 'p1' AND begins_with(sk, 's') AND size(text) > 100"},
           {"SELECT * FROM Things WHERE b IS MISSING AND a IS NOT MISSING"},
           {"SELECT * FROM Things WHERE i BETWEEN 2 AND 5 OR NOT contains(\"set\", 100)"},
           {"SELECT * FROM Things WHERE i = 1 + 2"},
           {"SELECT \"map\".\"count\", \"list\"[1].\"in\", \"list\"[0] FROM Things"},
           {"SELECT * FROM Things WHERE i = .04e2"},
           {"SELECT * FROM Things WHERE i = 0e126"},
           {"SELECT * FROM Things WHERE attribute_exists(i) = true AND contains(text, 'x') <> ?",
            List(Json{{"BOOL", true}})},
           {"SELECT * FROM Things WHERE attribute_exists(i) = 1"},
           {"SELECT * FROM Things WHERE \"map\" = {'count': 10}"},
           {"SELECT * FROM Things WHERE \"list\" = ['first', {'in': 1}, 1]"},
           {"SELECT * FROM Things WHERE \"set\" = <<1, 100>>"},
           {"SELECT * FROM Things WHERE pk = ?"},
           {"SELECT * FROM Things WHERE pk = 'p1'", List(Text("unused"))},
           {"SELECT COUNT(*) FROM Things"},
           {"SELECT * FROM Things LIMIT 1"},
           {"SELECT * FROM Things t"},
           {"SELECT DISTINCT pk FROM Things"},
           {"SELECT * FROM Things WHERE text LIKE 'x%'"},
           {"SELECT * FROM Things WHERE"},
           {"SELECT FROM Things"},
           {"SELECT * FROM Things WHERE pk = 'p1"},
           {"SELEKT"},
           {" "}}) {
    for (const Json& more : {Json::object(), Json{{"Limit", 2}}, Json{{"ConsistentRead", true}},
                             Json{{"ReturnConsumedCapacity", "INDEXES"}}}) {
      requests.push_back({"ExecuteStatement", Statement(select.text, select.parameters, more)});
    }
  }
  Expect(requests);
  EXPECT_GT(succeeded_, 50);
  EXPECT_GT(failed_, 40);
}

// Each protocol continues from its own NextToken (PQL-13).
TEST_F(StatementsOverBoth, Pages) {
  for (const char* text : {"SELECT * FROM Things WHERE pk IN ['p0', 'p1', 'p2']", "SELECT * FROM Things",
                           "SELECT * FROM Things.ByA WHERE a = 'a1'"}) {
    Json request = Statement(text, Json::array(), {{"Limit", 2}});
    for (int pages = 0; pages < 20; ++pages) {
      const Json page = Succeed("ExecuteStatement", request);
      if (!page.contains("NextToken")) break;
      request["NextToken"] = page["NextToken"];
    }
  }
  Expect({
      {"ExecuteStatement", Statement("SELECT * FROM Things", Json::array(), {{"NextToken", "wrong"}})},
      {"ExecuteStatement", Statement("DELETE FROM Things WHERE pk = 'p1' AND sk = 's1'", Json::array(),
                                     {{"NextToken", "wrong"}})},
  });
}

// INSERT, UPDATE, DELETE and EXISTS (PQL-02 to PQL-06), a WHERE clause without the full key (PQL-16), a
// duplicate item (ERR-13).
TEST_F(StatementsOverBoth, Writes) {
  struct Write {
    std::string text;
    Json parameters = Json::array();
  };
  std::vector<Write> writes = {
      {"INSERT INTO Things VALUE {'pk': 'q', 'sk': '1', 'n': 1, 'l': [1, 'x', null, true], 's': <<'a', "
       "'b'>>}"},
      {"INSERT INTO Things VALUE {'pk': 'q', 'sk': '1'}"},
      {"INSERT INTO Things VALUE {'pk': 'q'}"},
      {"INSERT INTO Things VALUE {'pk': 'q', 'sk': 1}"},
      {"INSERT INTO Missing VALUE {'pk': 'q'}"},
      {"INSERT INTO Things VALUE {'pk': 'q', 'sk': '2'"},
      {"UPDATE Things SET i = i + 1 WHERE pk = 'p1' AND sk = 's1' RETURNING ALL NEW *"},
      {"UPDATE Things SET i = i + 1 REMOVE text WHERE pk = 'p1' AND sk = 's1' RETURNING MODIFIED OLD *"},
      {"UPDATE Things SET \"list\" = list_append(\"list\", [1]) WHERE pk = 'p1' AND sk = 's1'"},
      {"UPDATE Things SET \"set\" = set_add(\"set\", <<7>>) WHERE pk = 'p1' AND sk = 's1' RETURNING ALL OLD "
       "*"},
      {"UPDATE Things SET i = 1 WHERE pk = 'gone' AND sk = 's1'"},
      {"UPDATE Things SET i = 1 WHERE pk = 'p1' AND sk = 's1' AND i = 99"},
      {"UPDATE Things SET i = 1 WHERE pk = 'p1'"},
      {"UPDATE Things SET i = text + 1 WHERE pk = 'p1' AND sk = 's4'"},
      {"UPDATE Things SET pk = 'x' WHERE pk = 'p1' AND sk = 's4'"},
      {"UPDATE Things SET i = WHERE pk = 'p1' AND sk = 's4'"},
      {"FROM Things WHERE pk = 'p1' AND sk = 's4' SET i = 2 RETURNING ALL NEW *"},
      {"DELETE FROM Things WHERE pk = 'p1' AND sk = 's4' RETURNING ALL OLD *"},
      {"DELETE FROM Things WHERE pk = 'p1' AND sk = 's4'"},
      {"DELETE FROM Things WHERE pk = 'p1' AND sk = 's7' AND i = 99"},
      {"DELETE FROM Things WHERE pk = 'p1'"},
      {"EXISTS(SELECT * FROM Things WHERE pk = 'p1' AND sk = 's7' AND i = 7)"},
  };
  for (const std::vector<Json>* values : {&GoodValues(), &BadValues()}) {
    for (const Json& value : *values) {
      writes.push_back(
          {"UPDATE Things SET v = ? WHERE pk = 'p1' AND sk = 's7' RETURNING MODIFIED NEW *", List(value)});
      writes.push_back(
          {"UPDATE Things SET v = [?, {'in': ?}] WHERE pk = 'p1' AND sk = 's7'", List(value, value)});
    }
  }
  std::vector<Request> requests;
  for (const Write& write : writes) {
    for (const Json& more : {Json::object(), Json{{"ReturnConsumedCapacity", "TOTAL"},
                                                  {"ReturnValuesOnConditionCheckFailure", "ALL_OLD"}}}) {
      requests.push_back({"ExecuteStatement", Statement(write.text, write.parameters, more)});
    }
  }
  requests.push_back({"ExecuteStatement", Statement("DELETE FROM Things WHERE pk = 'p1' AND sk = 's7'",
                                                    Json::array(), {{"Limit", 1}})});
  Expect(requests);
  EXPECT_GT(succeeded_, 50);
  EXPECT_GT(failed_, 60);
}

// Limits of statements (PQL-12) and batches (PQL-14).
TEST_F(StatementsOverBoth, Batches) {
  const auto batch = [](const Json& statements) { return Json{{"Statements", statements}}; };
  const Json read = Statement("SELECT * FROM Things WHERE pk = 'p1' AND sk = 's4'");
  const Json other = Statement("SELECT * FROM Things WHERE pk = 'p1' AND sk = 's5'");
  const Json write = Statement("UPDATE Things SET i = 9 WHERE pk = 'p1' AND sk = 's1'");
  Json many = Json::array();
  for (int i = 0; i < 26; ++i) many.push_back(read);
  std::vector<Request> requests = {
      {"BatchExecuteStatement", batch(List(read, read))},
      {"BatchExecuteStatement", batch(List(read, write))},
      {"BatchExecuteStatement", batch(many), Difference::kBoundsFirst},
      {"BatchExecuteStatement", batch(Json::array()), Difference::kBoundsFirst},
      {"BatchExecuteStatement", batch(List(Statement(""))), Difference::kBoundsFirst},
      {"BatchExecuteStatement", With(batch(List(other, With(read, {{"ConsistentRead", true}}))),
                                     {{"ReturnConsumedCapacity", "TOTAL"}})},
      {"BatchExecuteStatement", With(batch(List(write)), {{"ReturnConsumedCapacity", "INDEXES"}})},
      {"BatchExecuteStatement",
       batch(List(Statement("SELECT * FROM Things WHERE pk = 'p1' AND sk = 'gone'"),
                  Statement("SELECT * FROM Missing WHERE pk = 'p1' AND sk = 's1'"),
                  Statement("SELECT * FROM Things WHERE pk = 'p1'"),
                  Statement("SELECT * FROM Things WHERE pk = 'p1' AND sk = 's4' AND i = 4"),
                  Statement("SELECT * FROM Things.ByN WHERE n = 1"), Statement("SELECT wrong"),
                  Statement("SELECT * FROM Things WHERE pk = ? AND sk = ?", List(Text("p1"), Text("s4")))))},
      {"BatchExecuteStatement",
       batch(List(Statement("INSERT INTO Things VALUE {'pk': 'p1', 'sk': 's1'}"),
                  Statement("UPDATE Things SET i = 1 WHERE pk = 'p1' AND sk = 's1' AND i = 99", Json::array(),
                            {{"ReturnValuesOnConditionCheckFailure", "ALL_OLD"}}),
                  Statement("UPDATE Things SET i = 1 WHERE pk = 'p1' AND sk = 's1' AND i = 99"),
                  Statement("DELETE FROM Missing WHERE pk = 'p1' AND sk = 's1'"),
                  Statement("DELETE FROM Things WHERE pk = 'p1'"), Statement("DELETE wrong"),
                  Statement("INSERT INTO Things VALUE {'pk': 'batch', 'sk': '1'}")))},
  };
  for (const Json& value : BadValues())
    requests.push_back({"BatchExecuteStatement",
                        batch(List(write, Statement("UPDATE Things SET v = ? WHERE pk = 'p1' AND sk = 's4'",
                                                    List(value))))});
  Expect(requests);
  EXPECT_GT(succeeded_, 6);
  EXPECT_GT(failed_, 3);
}

// ExecuteTransaction (PQL-15), its cancellation (ERR-05), a token used for another request (ERR-08).
TEST_F(StatementsOverBoth, Transactions) {
  const auto transaction = [](const Json& statements, const Json& more = Json::object()) {
    return With({{"TransactStatements", statements}}, more);
  };
  const Json read = Statement("SELECT * FROM Things WHERE pk = 'p1' AND sk = 's4'");
  const Json other = Statement("SELECT i FROM Things WHERE pk = 'p1' AND sk = 'gone'");
  const Json write = Statement("UPDATE Things SET i = 9 WHERE pk = 'p1' AND sk = 's1'");
  const Json exists = Statement("EXISTS(SELECT * FROM Things WHERE pk = 'p2' AND sk = 's5' AND i = 5)");
  const Json show_old = {{"ReturnValuesOnConditionCheckFailure", "ALL_OLD"}};
  Json many = Json::array();
  for (int i = 0; i < 101; ++i)
    many.push_back(Statement("DELETE FROM Things WHERE pk = 'p1' AND sk = '" + std::to_string(i) + "'"));
  Expect({
      {"ExecuteTransaction", transaction(List(read, other))},
      {"ExecuteTransaction", transaction(List(read, other), {{"ReturnConsumedCapacity", "INDEXES"}})},
      {"ExecuteTransaction", transaction(List(write, exists), {{"ReturnConsumedCapacity", "TOTAL"}})},
      {"ExecuteTransaction", transaction(List(read, write))},
      {"ExecuteTransaction", transaction(List(read, read))},
      {"ExecuteTransaction",
       transaction(List(Statement("SELECT i FROM Things WHERE pk = 'p1' AND sk = 's4' AND i = 4")))},
      // Keys that do not fit cancel; an empty one does not (SEM-005).
      {"ExecuteTransaction",
       transaction(List(read, Statement("SELECT * FROM Things WHERE pk = 'p1' AND sk = 1")))},
      {"ExecuteTransaction",
       transaction(List(read, Statement("SELECT * FROM Things WHERE pk = 'p1' AND sk = ''")))},
      {"ExecuteTransaction",
       transaction(List(write, Statement("DELETE FROM Things WHERE pk = 'p1' AND sk = 1")))},
      {"ExecuteTransaction", transaction(List(write, Statement("INSERT INTO Things VALUE {'pk': 'x'}")))},
      {"ExecuteTransaction", transaction(List(write, write))},
      {"ExecuteTransaction", transaction(many), Difference::kBoundsFirst},
      {"ExecuteTransaction", transaction(Json::array()), Difference::kBoundsFirst},
      {"ExecuteTransaction", transaction(List(exists))},
      {"ExecuteTransaction",
       transaction(
           List(write, Statement("EXISTS(SELECT * FROM Things WHERE pk = 'p2' AND sk = 's5' AND i = 6)")))},
      {"ExecuteTransaction",
       transaction(List(write, Statement("UPDATE Things SET i = 1 WHERE pk = 'p2' AND sk = 's5' AND i = 6",
                                         Json::array(), show_old)))},
      {"ExecuteTransaction",
       transaction(List(write, Statement("INSERT INTO Things VALUE {'pk': 'p2', 'sk': 's5'}")))},
      {"ExecuteTransaction",
       transaction(List(write, Statement("UPDATE Things SET i = text + 1 WHERE pk = 'p2' AND sk = 's5'")))},
      {"ExecuteTransaction",
       transaction(
           List(Statement("UPDATE Things SET i = 1 WHERE pk = 'p2' AND sk = 's5' RETURNING ALL OLD *")))},
      {"ExecuteTransaction",
       transaction(List(Statement("UPDATE Missing SET i = 1 WHERE pk = 'p2' AND sk = 's5'")))},
      {"ExecuteTransaction", transaction(List(Statement("UPDATE wrong")))},
      {"ExecuteTransaction", transaction(List(write), {{"ClientRequestToken", "statements"}})},
      {"ExecuteTransaction", transaction(List(write), {{"ClientRequestToken", "statements"}})},
      {"ExecuteTransaction", transaction(List(exists, write), {{"ClientRequestToken", "statements"}})},
  });
  EXPECT_GT(succeeded_, 4);
  EXPECT_GT(failed_, 8);
}

TEST_F(StatementsOverBoth, WhatDiffersByDesign) {
  Expect({
      {"ExecuteStatement", Statement(""), Difference::kBoundsFirst},
      {"ExecuteStatement", Statement("SELECT * FROM Things WHERE pk = '" + std::string(8'192, 'x') + "'"),
       Difference::kBoundsFirst},
      {"ExecuteStatement", Statement("SELECT * FROM Things", Json::array(), {{"Limit", 0}}),
       Difference::kBoundsFirst},
      {"ExecuteStatement", With(Statement("SELECT * FROM Things"), {{"Parameters", Json::array()}}),
       Difference::kEmptyIsSaid},
      {"ExecuteStatement", Statement("SELECT * FROM Things", Json::array(), {{"NextToken", ""}}),
       Difference::kEmptyIsSaid},
  });
}

}  // namespace
}  // namespace itemdb::protocols
