// INSERT, UPDATE and DELETE, one statement at a time.
#include "tests/storage/partiql/statements.h"

namespace itemdb::testing {
namespace {

class PartiqlWrite : public ::testing::Test {
 protected:
  PartiqlWrite() {
    auto table = TableRequest("Things");
    AddIndex(&table, "ByGroup", {"grp:S"}, 1, v1::PROJECTION_TYPE_ALL);
    database_.CreateTable(table);
    EXPECT_EQ(Outcome(database_,
                      "INSERT INTO Things VALUE {'pk': 'p', 'sk': 's', 'a': 1, 'b': 2, 'l': [1, 2], "
                      "'m': {'x': 1}, 't': <<'u', 'v'>>}"),
              "");
  }

  // The item after `statement`, whose outcome must be "".
  std::string After(const std::string& statement, const Values& parameters = {}) {
    EXPECT_EQ(Outcome(database_, statement, parameters), "");
    return Outcome(database_, "SELECT * FROM Things WHERE pk = 'p' AND sk = 's'");
  }

  const std::string kKey = " WHERE pk = 'p' AND sk = 's'";
  TestDatabase database_;
};

// INSERT never replaces an item (PQL-02, ERR-13, OP-23).
TEST_F(PartiqlWrite, InsertsWhatIsNotThere) {
  ExpectOutcomes(
      database_,
      {
          {"INSERT INTO \"Things\" VALUE {'pk': 'q', 'sk': ?, 'n': -1.50, 'deep': [true, {'k': ?}]}",
           {"'1'", "<1, 2>"},
           ""},
          {"SELECT * FROM Things WHERE pk = 'q'",
           {},
           "{deep: [true, {k: <1, 2>}], n: -1.5, pk: 'q', sk: '1'}"},
          {"INSERT INTO Things VALUE {'pk': 'q', 'sk': '1'}",
           {},
           "ERR-13: Duplicate primary key exists in table"},
          {"SELECT n FROM Things WHERE pk = 'q'", {}, "{n: -1.5}"},
          {"INSERT INTO Things VALUE {'pk': 'q'}",
           {},
           "PQL-02: Key attribute should be present in the item: Key sk"},
          {"INSERT INTO Things VALUE {'pk': 'q', 'sk': 1}",
           {},
           "PQL-16: Key attribute's data type should match its data type in table's schema: Key sk..."},
          {"INSERT INTO Things VALUE {'pk': 'q', 'sk': '2', 'grp': 1}", {}, "SEM-070: ..."},
          {"INSERT INTO Things VALUE {'pk': 'q', 'pk': 'q', 'sk': '2'}", {}, "..."},
          {"INSERT INTO Nothing VALUE {'pk': 'q'}", {}, "SEM-039: ..."},
          {"INSERT INTO Things VALUE {'pk': 'q', 'sk': 'it''s', \"q\": '\"'}", {}, ""},
          {"SELECT q FROM Things WHERE pk = 'q' AND sk = 'it''s'", {}, "{q: '\"'}"},
      });
  auto duplicate = Execute(database_, StatementRequest("INSERT INTO Things VALUE {'pk': 'q', 'sk': '1'}"));
  EXPECT_TRUE(absl::IsAlreadyExists(duplicate.status()));
  EXPECT_EQ(ReasonOf(duplicate.status()), kReasonDuplicateItem);
  EXPECT_EQ(Outcome(database_, "INSERT INTO Things VALUE {'pk': 'q', 'sk': '2', 'pk': 'q'}").substr(0, 4),
            Outcome(database_, "INSERT INTO Things VALUE {'pk': 'q', 'pk': 'q', 'sk': '2'}").substr(0, 4));
}

// All right-hand sides use the item before the update (PQL-03, PQL-04, PQL-07, PQL-09, EXP-23).
TEST_F(PartiqlWrite, UpdatesOneItem) {
  const std::string rest = "l: [1, 2], m: {x: 1}, pk: 'p', sk: 's', t: <'u', 'v'>}";
  EXPECT_EQ(After("UPDATE Things SET a = b SET b = a" + kKey), "{a: 2, b: 1, " + rest);
  EXPECT_EQ(After("UPDATE Things SET a = a + 5 - ?, b = 10 - b" + kKey, {"1"}), "{a: 6, b: 9, " + rest);
  EXPECT_EQ(After("UPDATE \"Things\" SET a = (1 + 1) REMOVE b" + kKey), "{a: 2, " + rest);
  EXPECT_EQ(After("FROM Things" + kKey + " SET b = 3 REMOVE a"), "{b: 3, " + rest);
  EXPECT_EQ(
      After("UPDATE Things SET l = list_append(l, [?]) SET m.y = 'z' SET t = set_add(t, <<'w'>>)" + kKey,
            {"3"}),
      "{b: 3, l: [1, 2, 3], m: {x: 1, y: 'z'}, pk: 'p', sk: 's', t: <'u', 'v', 'w'>}");
  EXPECT_EQ(After("UPDATE Things SET t = SET_DELETE(t, <<'w', 'u'>>) SET l[0] = 9 REMOVE l[1], m.x" + kKey),
            "{b: 3, l: [9, 3], m: {y: 'z'}, pk: 'p', sk: 's', t: <'v'>}");
  EXPECT_EQ(After("UPDATE Things SET t = set_add(t, ?)" + kKey, {"<'x'>"}),
            "{b: 3, l: [9, 3], m: {y: 'z'}, pk: 'p', sk: 's', t: <'v', 'x'>}");
}

// UPDATE fails if the item is missing, or a condition besides the key is false (PQL-03).
TEST_F(PartiqlWrite, UpdatesOnlyWhatIsThereAndMeetsTheCondition) {
  ExpectOutcomes(database_,
                 {
                     {"UPDATE Things SET a = 2 WHERE pk = 'p' AND sk = 'x'", {}, "condition failed"},
                     {"UPDATE Things SET a = 2" + kKey + " AND a = 5", {}, "condition failed"},
                     {"UPDATE Things SET a = 2" + kKey + " AND (a = 5 OR b = 2)", {}, ""},
                     {"UPDATE Things REMOVE a" + kKey + " AND sk <> 's'", {}, "condition failed"},
                     {"SELECT a FROM Things" + kKey, {}, "{a: 2}"},
                     {"SELECT * FROM Things WHERE pk = 'p' AND sk = 'x'", {}, ""},
                 });
  auto request = StatementRequest("UPDATE Things SET a = 2 WHERE pk = 'p' AND sk = 's' AND a = 5");
  request.set_return_values_on_condition_check_failure(v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
  EXPECT_THAT(Outcome(Execute(database_, request)), ::testing::StartsWith("condition failed {a: 2, b: 2"));
}

// RETURNING returns what ReturnValues returns (PQL-03, PQL-05, SEM-058, SEM-059).
TEST_F(PartiqlWrite, ReturnsWhatIsAskedFor) {
  ExpectOutcomes(
      database_,
      {
          {"UPDATE Things SET a = 7" + kKey + " RETURNING MODIFIED OLD *", {}, "{a: 1}"},
          {"UPDATE Things SET m.x = 2 SET a = 8" + kKey + " RETURNING MODIFIED NEW *",
           {},
           "{a: 8, m: {x: 2}}"},
          {"UPDATE Things REMOVE l, t, m" + kKey + " RETURNING ALL NEW *",
           {},
           "{a: 8, b: 2, pk: 'p', sk: 's'}"},
          {"FROM Things" + kKey + " SET a = 9 RETURNING ALL OLD *", {}, "{a: 8, b: 2, pk: 'p', sk: 's'}"},
          {"DELETE FROM Things" + kKey + " RETURNING ALL OLD *", {}, "{a: 9, b: 2, pk: 'p', sk: 's'}"},
          {"DELETE FROM Things" + kKey + " RETURNING ALL OLD *", {}, ""},
          {"DELETE FROM Things" + kKey + " RETURNING ALL NEW *",
           {},
           "PQL-05: DELETE returns ALL OLD * only ('ALL' at character 58)"},
          {"DELETE FROM Things" + kKey + " RETURNING MODIFIED OLD *", {}, "PQL-05: ..."},
      });
}

// DELETE of a missing item succeeds; DELETE with a false condition fails (PQL-05).
TEST_F(PartiqlWrite, DeletesOneItem) {
  ExpectOutcomes(database_, {
                                {"DELETE FROM Things" + kKey + " AND a = 5", {}, "condition failed"},
                                {"DELETE FROM Things WHERE pk = 'p' AND sk = 'none' AND a = 5", {}, ""},
                                {"DELETE FROM Things" + kKey + " AND a = 1", {}, ""},
                                {"SELECT * FROM Things", {}, ""},
                            });
}

// A write needs equality on all key attributes, and obeys the rules of update expressions (PQL-06, PQL-16,
// EXP-24, EXP-30, EXP-32).
TEST_F(PartiqlWrite, RefusesWhatIsNoWriteOfOneItem) {
  ExpectOutcomes(
      database_,
      {
          {"UPDATE Things SET a = 1 WHERE pk = 'p'",
           {},
           "PQL-16: Where clause does not contain a mandatory equality on all key attributes: sk of table "
           "Things has "
           "none"},
          {"UPDATE Things SET a = 1 WHERE pk = 'p' AND sk > 's'", {}, "PQL-16: ..."},
          {"UPDATE Things SET a = 1 WHERE pk = 'p' OR sk = 's'", {}, "PQL-16: ..."},
          {"UPDATE Things SET a = 1 WHERE NOT (pk = 'p' AND sk = 's')", {}, "PQL-16: ..."},
          {"UPDATE Things SET a = 1 WHERE pk = 'p' AND sk = a", {}, "PQL-16: ..."},
          {"DELETE FROM Things WHERE pk IN ('p') AND sk = 's'", {}, "PQL-16: ..."},
          {"DELETE FROM Things WHERE pk = 'p' AND sk = 1",
           {},
           "PQL-16: Key attribute's data type should match its data type in table's schema: Key sk: it is S, "
           "not N"},
          {"UPDATE Things SET a = 1 WHERE pk = 'p' AND sk = 's' AND sk = 't'",
           {},
           "PQL-16: Multiple conditions on same key sk. Only single item Update/Insert/Delete are supported"},
          {"INSERT INTO Things VALUE {'pk': 'p'}",
           {},
           "PQL-02: Key attribute should be present in the item: Key sk"},
          {"INSERT INTO Things VALUE {'pk': 'p', 'sk': 1}",
           {},
           "PQL-16: Key attribute's data type should match its data type in table's schema: Key sk..."},
          {"UPDATE Things SET a = 1 SET a = 2" + kKey,
           {},
           "EXP-24: Invalid SET or REMOVE clause: Two document paths overlap..."},
          {"UPDATE Things SET pk = 'x'" + kKey, {}, "EXP-32: ..."},
          {"UPDATE Things SET a = 'x' + 1" + kKey,
           {},
           "EXP-30: Invalid SET or REMOVE clause: Incorrect operand..."},
          {"UPDATE Things SET a = nothing" + kKey,
           {},
           "EXP-30: The provided expression refers to an attribute..."},
          {"UPDATE Things SET x.y = 1" + kKey, {}, "EXP-26: ..."},
          {"UPDATE Things SET t = set_add(a, <<1>>)" + kKey, {}, "PQL-09: set_add changes the attribute..."},
          {"UPDATE Things SET a = set_add(a, 1)" + kKey,
           {},
           "PQL-09: The second argument of set_add must be a set..."},
          {"UPDATE Things SET a = if_not_exists(a, 1)" + kKey, {}, "PQL-09: Unknown function..."},
          {"UPDATE Nothing SET a = 1" + kKey, {}, "SEM-039: ..."},
          {"EXISTS(SELECT * FROM Things WHERE pk = 'p' AND sk = 's' AND a = 1)",
           {},
           "PQL-06: EXISTS is only supported in ExecuteTransaction"},
      });
  for (bool token : {true, false}) {
    auto request = StatementRequest("DELETE FROM Things" + kKey);
    if (token) request.set_next_token("x");
    if (!token) request.set_limit(1);
    EXPECT_EQ(Outcome(Execute(database_, request)),
              "PQL-13: Limit, NextToken and ConsistentRead are for SELECT; this statement writes");
  }
}

// A statement consumes capacity and makes change records as any write does (SEM-063, SEM-102).
TEST_F(PartiqlWrite, IsAccountedForAndLogged) {
  auto before = database_.ReadChanges(0);
  auto request = StatementRequest("UPDATE Things SET a = a" + kKey);
  request.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_TOTAL);
  auto same = Execute(database_, request);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->reply.consumed_capacity().capacity_units(), 1);
  EXPECT_EQ(Outcome(database_, "UPDATE Things SET grp = 'g'" + kKey), "");
  auto after = database_.ReadChanges(0);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(after->records_size(), before->records_size() + 1);
  EXPECT_EQ(Outcome(database_, "SELECT pk FROM Things.ByGroup WHERE grp = 'g'"), "{pk: 'p'}");
  database_.CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
