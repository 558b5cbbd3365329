// PartiQL: requests and the whole bodies of their replies.

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

class JsonStatements : public ::testing::Test {
 protected:
  JsonStatements() { json_.Succeed("CreateTable", kCreateThings); }

  std::string Succeed(const std::string& statement, const std::string& members = "") {
    return json_.Succeed("ExecuteStatement", R"({"Statement":")" + statement + "\"" + members + "}");
  }
  std::string Fail(const std::string& statement, const std::string& members = "") {
    return json_.Fail("ExecuteStatement", R"({"Statement":")" + statement + "\"" + members + "}");
  }
  // Items p/1 to p/COUNT.
  void Insert(int count) {
    for (int i = 1; i <= count; ++i)
      Succeed("INSERT INTO Things VALUE {'pk': 'p', 'sk': '" + std::to_string(i) +
              "', 'n': " + std::to_string(i) + "}");
  }
  static std::string Item(const std::string& i) {
    return R"({"n":{"N":")" + i + R"("},"pk":{"S":"p"},"sk":{"S":")" + i + "\"}}";
  }

  JsonFixture json_;
};

// ExecuteStatement (OP-23): SELECT (PQL-01), INSERT (PQL-02), UPDATE (PQL-03), DELETE (PQL-05), literals and
// parameters (PQL-10).
TEST_F(JsonStatements, AnItemIsInsertedSelectedUpdatedAndDeleted) {
  EXPECT_EQ(Succeed("INSERT INTO Things VALUE {'pk': ?, 'sk': '1', 'n': ?}",
                    R"(,"Parameters":[{"S":"p"},{"N":"1"}])"),
            R"({"Items":[]})");
  EXPECT_EQ(
      Succeed("SELECT * FROM Things WHERE pk = 'p'", R"(,"ReturnConsumedCapacity":"TOTAL")"),
      R"({"Items":[)" + Item("1") + R"(],"ConsumedCapacity":{"TableName":"Things","CapacityUnits":0.5}})");
  EXPECT_EQ(Succeed("UPDATE Things SET n = 5 WHERE pk = 'p' AND sk = '1' RETURNING ALL NEW *"),
            R"({"Items":[{"n":{"N":"5"},"pk":{"S":"p"},"sk":{"S":"1"}}]})");
  EXPECT_EQ(Succeed("DELETE FROM Things WHERE pk = 'p' AND sk = '1'"), R"({"Items":[]})");
  EXPECT_EQ(Succeed("SELECT * FROM Things"), R"({"Items":[]})");
}

// A SELECT is paged by Limit and NextToken (PQL-13).
TEST_F(JsonStatements, PagesFollowByTheirTokens) {
  Insert(3);
  const std::string first = Succeed("SELECT * FROM Things WHERE pk = 'p'", R"(,"Limit":2)");
  const std::string before = R"({"Items":[)" + Item("1") + "," + Item("2") + R"(],"NextToken":")";
  ASSERT_TRUE(first.starts_with(before)) << first;
  const std::string token = first.substr(before.size(), first.find('"', before.size()) - before.size());
  EXPECT_TRUE(first.ends_with(R"(","LastEvaluatedKey":{"pk":{"S":"p"},"sk":{"S":"2"}}})")) << first;
  EXPECT_EQ(Succeed("SELECT * FROM Things WHERE pk = 'p'", R"(,"NextToken":")" + token + "\""),
            R"({"Items":[)" + Item("3") + "]}");
}

// A false condition (ERR-04) of an UPDATE (PQL-03), a duplicate item (ERR-13) of an INSERT (PQL-02), limits
// of statements (PQL-12).
TEST_F(JsonStatements, StatementsThatFailAreExceptions) {
  Insert(1);
  EXPECT_TRUE(
      Fail("INSERT INTO Things VALUE {'pk': 'p', 'sk': '1'}")
          .starts_with(R"({"__type":"com.amazonaws.dynamodb.v20120810#DuplicateItemException","message":")"));
  EXPECT_EQ(Fail("UPDATE Things SET n = 5 WHERE pk = 'p' AND sk = '1' AND n = 7",
                 R"(,"ReturnValuesOnConditionCheckFailure":"ALL_OLD")"),
            R"({"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",)"
            R"("message":"The conditional request failed","Item":)" +
                Item("1") + "}");
  EXPECT_EQ(Fail(""), ValidationBody("1 validation error detected: Value '' at 'statement' failed to satisfy "
                                     "constraint: Member must have length greater than or equal to 1"));
  EXPECT_EQ(
      Fail("SELECT * FROM Things", R"(,"Parameters":[])"),
      ValidationBody("1 validation error detected: Value '[]' at 'parameters' failed to satisfy constraint: "
                     "Member must have length greater than or equal to 1"));
  EXPECT_EQ(Fail("SELECT * FROM Things", R"(,"Parameters":[{"S":1}])"),
            SerializationBody("NUMBER_VALUE cannot be converted to String"));
}

// BatchExecuteStatement (OP-24): an answer or an error for each statement (PQL-14).
TEST_F(JsonStatements, ABatchAnswersEachStatement) {
  Insert(2);
  EXPECT_EQ(json_.Succeed("BatchExecuteStatement", R"({"ReturnConsumedCapacity":"TOTAL","Statements":[
              {"Statement":"SELECT * FROM Things WHERE pk = 'p' AND sk = ?","Parameters":[{"S":"1"}],"ConsistentRead":true},
              {"Statement":"SELECT * FROM Things WHERE pk = 'p' AND sk = 'gone'"}]})"),
            R"({"Responses":[{"TableName":"Things","Item":)" + Item("1") +
                R"(},{"TableName":"Things"}],)"
                R"("ConsumedCapacity":[{"TableName":"Things","CapacityUnits":1.5}]})");
  const std::string writes = json_.Succeed("BatchExecuteStatement", R"({"Statements":[
              {"Statement":"INSERT INTO Things VALUE {'pk': 'p', 'sk': '1'}"},
              {"Statement":"UPDATE Things SET n = 2 WHERE pk = 'p' AND sk = '2' AND n = 7",
               "ReturnValuesOnConditionCheckFailure":"ALL_OLD"},
              {"Statement":"DELETE FROM Gone WHERE pk = 'p' AND sk = '1'"}]})");
  EXPECT_NE(writes.find(R"({"Responses":[{"Error":{"Code":"DuplicateItem","Message":")"), std::string::npos)
      << writes;
  EXPECT_NE(
      writes.find(
          R"({"Error":{"Code":"ConditionalCheckFailed","Message":"The conditional request failed","Item":)" +
          Item("2") + "}"),
      std::string::npos)
      << writes;
  EXPECT_NE(writes.find(R"({"Error":{"Code":"ResourceNotFound","Message":")"), std::string::npos) << writes;
}

// The error of a statement has the service's text only: there is no second member for what we add.
TEST_F(JsonStatements, ABatchHasTheServicesTexts) {
  const struct {
    const char* statement;
    const char* text;
  } rows[] = {{"SELECT * FROM Things WHERE pk = 'p' AND sk = 1",
               "Key attribute's data type should match its data type in table's schema: Key sk"},
              {"SELECT nonsense", "Statement wasn't well formed, can't be processed: Unexpected term"},
              {"SELECT * FROM Things WHERE pk = ? AND sk = '1'",
               "Number of parameters in request and statement don't match."},
              {"DELETE FROM Things WHERE pk = 'p'",
               "Where clause does not contain a mandatory equality on all key attributes"},
              {"UPDATE Things SET z = y + 1 WHERE pk = 'p' AND sk = '1'",
               "The provided expression refers to an attribute that does not exist in the item"},
              {"INSERT INTO Things VALUE {'pk':'p','sk':'8','n':1e200}",
               "Number overflow. Attempting to store a number with magnitude larger than supported range"}};
  Insert(1);
  for (const auto& row : rows) {
    const std::string reply = json_.Succeed(
        "BatchExecuteStatement", absl::StrCat(R"({"Statements":[{"Statement":")", row.statement, R"("}]})"));
    EXPECT_NE(reply.find(absl::StrCat(R"("Code":"ValidationError","Message":")", row.text, R"("})")),
              std::string::npos)
        << row.statement << "\n"
        << reply;
  }
}

// The syntax of every statement of a transaction comes before a missing table (SEM-115, PQL-18).
TEST_F(JsonStatements, TheSyntaxOfALaterStatementComesBeforeAMissingTable) {
  EXPECT_EQ(json_.Fail("ExecuteTransaction", R"({"TransactStatements":[
              {"Statement":"DELETE FROM Nothing WHERE pk = 'q' AND sk = '1'"},
              {"Statement":"DELETE FROM Things WHERE WHERE"}]})"),
            ValidationBody("Statement wasn't well formed, can't be processed: Unexpected keyword",
                           "Statement wasn't well formed, can't be processed: expected an attribute, a "
                           "literal, a parameter or SIZE at character 26, found 'WHERE' (statement 2)"));
  EXPECT_THAT(json_.Fail("ExecuteTransaction", R"({"TransactStatements":[
              {"Statement":"DELETE FROM Nothing WHERE pk = 'q' AND sk = '1'"},
              {"Statement":"DELETE FROM Things WHERE pk = 'q' AND sk = '1'"}]})"),
              ::testing::HasSubstr(R"("message":"Requested resource not found")"));
}

// ExecuteTransaction (OP-25, PQL-15) with EXISTS (PQL-06); its cancellation (ERR-05).
TEST_F(JsonStatements, ATransactionIsAllOrNothing) {
  Insert(1);
  EXPECT_EQ(json_.Succeed("ExecuteTransaction", R"j({"ClientRequestToken":"t","TransactStatements":[
              {"Statement":"INSERT INTO Things VALUE {'pk': 'q', 'sk': ?}","Parameters":[{"S":"1"}]},
              {"Statement":"EXISTS(SELECT * FROM Things WHERE pk = 'p' AND sk = '1' AND n = 1)"}]})j"),
            R"({"Responses":[]})");
  EXPECT_EQ(json_.Succeed("ExecuteTransaction", R"({"TransactStatements":[
              {"Statement":"SELECT * FROM Things WHERE pk = 'q' AND sk = '1'"},
              {"Statement":"SELECT * FROM Things WHERE pk = 'q' AND sk = '2'"}]})"),
            R"({"Responses":[{"Item":{"pk":{"S":"q"},"sk":{"S":"1"}}},{}]})");
  EXPECT_EQ(json_.Fail("ExecuteTransaction", R"({"TransactStatements":[
              {"Statement":"DELETE FROM Things WHERE pk = 'q' AND sk = '1'"},
              {"Statement":"UPDATE Things SET n = 2 WHERE pk = 'p' AND sk = '1' AND n = 7"}]})"),
            R"({"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",)"
            R"("message":"Transaction cancelled, please refer cancellation reasons for specific reasons )"
            R"([None, ConditionalCheckFailed]","CancellationReasons":[{"Code":"None"},)"
            R"({"Code":"ConditionalCheckFailed","Message":"The conditional request failed"}]})");
  // DuplicateItemException is a cancellation code here (ERR-13).
  std::string duplicate = json_.Fail("ExecuteTransaction", R"({"TransactStatements":[
              {"Statement":"INSERT INTO Things VALUE {'pk': 'q', 'sk': '1'}"}]})");
  EXPECT_NE(duplicate.find("for specific reasons [DuplicateItem]"), std::string::npos) << duplicate;
  EXPECT_NE(duplicate.find(R"("CancellationReasons":[{"Code":"DuplicateItem",)"), std::string::npos)
      << duplicate;
}

}  // namespace
}  // namespace itemdb::testing
