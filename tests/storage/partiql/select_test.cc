// SELECT: which statements are a Query or a Scan; conditions, order, pages.
#include "tests/storage/expressions/notation.h"
#include "tests/storage/partiql/statements.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PartiqlSelect : public ::testing::Test {
 protected:
  PartiqlSelect() {
    auto table = TableRequest("Music");
    AddIndex(&table, "ByYear", {"year:N"}, 1, v1::PROJECTION_TYPE_ALL);
    AddIndex(&table, "Names", {"label:S"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
    AddIndex(&table, "Both", {"label:S", "year:N"}, 2, v1::PROJECTION_TYPE_ALL);
    AddLocalIndex(&table, "Local", "title:S", v1::PROJECTION_TYPE_KEYS_ONLY);
    database_.CreateTable(table);
    database_.CreateTable(TableRequest("Single", /*sorted=*/false));
    for (const char* statement : {
             "INSERT INTO Music VALUE {'pk': 'a', 'sk': '1', 'year': 1999, 'label': 'x', 'title': 'T1'}",
             "INSERT INTO Music VALUE {'pk': 'a', 'sk': '2', 'year': 2001, 'tags': <<'r', 's'>>, 'title': "
             "'T0'}",
             "INSERT INTO Music VALUE {'pk': 'a', 'sk': '3', 'd': {'l': [1, {'n': 2}]}, 'none': null}",
             "INSERT INTO Music VALUE {'pk': 'b', 'sk': '1', 'year': 1999, 'flag': true}",
             "INSERT INTO Single VALUE {'pk': 'one', 'n': 1}",
         }) {
      EXPECT_EQ(Outcome(database_, statement), "");
    }
  }

  // The keys of the items that `rest` selects, as "a1 a2".
  std::string Keys(const std::string& rest, const Values& parameters = {}) {
    std::string keys;
    for (const std::string& item :
         AllItems(database_, StatementRequest("SELECT pk, sk FROM \"Music\" " + rest, parameters))) {
      keys += (keys.empty() ? "" : " ") + item.substr(6, 1) + item.substr(15, 1);
    }
    return keys;
  }

  int64_t Scanned(const std::string& statement, const Values& parameters = {}) {
    auto request = StatementRequest(statement, parameters);
    request.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_TOTAL);
    request.set_limit(1);
    // One page for each evaluated item, and an empty last page.
    int pages = 0;
    AllItems(database_, request, &pages);
    return pages;
  }

  TestDatabase database_;
};

// SELECT returns whole items or paths (PQL-01).
TEST_F(PartiqlSelect, ShowsWholeItemsOrPaths) {
  ExpectOutcomes(
      database_,
      {
          {"SELECT * FROM Single", {}, "{n: 1, pk: 'one'}"},
          {"select pk from \"Single\"", {}, "{pk: 'one'}"},
          // A path becomes an attribute with the last name of the path, and the indexes behind it.
          {"SELECT d.l[1].n, sk FROM Music WHERE pk = 'a' AND sk = '3'", {}, "{n: 2, sk: '3'}"},
          {"SELECT d.l[1].n, d.l[0], d.l[7] FROM Music WHERE pk = 'a' AND sk = '3'", {}, "{l[0]: 1, n: 2}"},
          {"SELECT \"d\".\"l\" FROM Music WHERE pk = 'a' AND sk = '3'", {}, "{l: [1, {n: 2}]}"},
          {"SELECT d.l[1].n, n FROM Music", {}, "PQL-01: Duplicate identifiers in select clause: n"},
          {"SELECT sk, sk FROM Music", {}, "PQL-01: Duplicate identifiers in select clause: sk"},
          // Key attributes are scalars.
          {"SELECT pk.a FROM Music", {}, "SEM-071: Key attributes must be scalars..."},
          {"SELECT * FROM Music WHERE pk = 'a' AND sk[0] = 1",
           {},
           "SEM-071: Key attributes must be scalars..."},
          {"SELECT sk, d.l[1].n, d.l[0], pk FROM Music WHERE pk = 'a' AND sk = '3'",
           {},
           "{l[0]: 1, n: 2, pk: 'a', sk: '3'}"},
          {"SELECT nothing FROM Single", {}, "{}"},
          {"SELECT d, d.l FROM Music", {}, "EXP-24: Invalid SELECT list: Two document paths overlap..."},
          {"SELECT * FROM Nothing", {}, "SEM-039: Requested resource not found..."},
          {"SELECT * FROM Music.Nothing", {}, "SEM-039: The table does not have the specified index..."},
          {"SELECT * FROM \"arn:aws:dynamodb:local:000000000000:table/Single\"", {}, "{n: 1, pk: 'one'}"},
      });
}

// Conditions on the key become key conditions or filters (PQL-01), others filters (PQL-07, PQL-09).
TEST_F(PartiqlSelect, SelectsByConditions) {
  struct Row {
    std::string where;
    Values parameters;
    std::string keys;
  };
  const Row rows[] = {
      {"", {}, "a1 a2 a3 b1"},
      {"WHERE pk = 'a'", {}, "a1 a2 a3"},
      {"WHERE 'a' = pk", {}, "a1 a2 a3"},
      {"WHERE pk = ?", {"'b'"}, "b1"},
      {"WHERE pk = 'a' AND sk = '2'", {}, "a2"},
      {"WHERE (pk = 'a') AND ((sk >= '2') AND sk < '3')", {}, "a2"},
      {"WHERE pk = 'a' AND '2' <= sk", {}, "a2 a3"},
      {"WHERE pk = 'a' AND sk BETWEEN '1' AND '2'", {}, "a1 a2"},
      {"WHERE pk = 'a' AND begins_with(sk, '2')", {}, "a2"},
      {"WHERE pk = 'a' AND BEGINS_WITH(\"sk\", ?)", {"'3'"}, "a3"},
      {"WHERE pk = 'a' AND (sk = '1' OR sk = '3')", {}, "a1 a3"},
      {"WHERE pk = 'a' AND sk IN ('1', '3')", {}, "a1 a3"},
      {"WHERE pk = 'a' AND sk <> '1'", {}, "a2 a3"},
      {"WHERE pk = 'a' AND pk = 'b'", {}, ""},
      {"WHERE pk = 'a' OR sk = '1'", {}, "a1 a2 a3 b1"},
      {"WHERE pk IN ('b', 'a', 'b', 'c')", {}, "a1 a2 a3 b1"},
      {"WHERE pk IN ['b', ?]", {"'a'"}, "a1 a2 a3 b1"},
      {"WHERE pk IN ('b', 'a') AND sk = '1'", {}, "a1 b1"},
      {"WHERE pk NOT IN ('a')", {}, "b1"},
      {"WHERE year = 1999", {}, "a1 b1"},
      {"WHERE year != 1999", {}, "a2 a3"},
      {"WHERE year > 1998 + 1", {}, "a2"},
      {"WHERE year = ? - 1", {"2000"}, "a1 b1"},
      {"WHERE NOT year = 1999", {}, "a2 a3"},
      {"WHERE NOT NOT (year = 1999)", {}, "a1 b1"},
      {"WHERE year NOT BETWEEN 1900 AND 2000 AND year IS NOT MISSING", {}, "a2"},
      {"WHERE year IS MISSING", {}, "a3"},
      {"WHERE MISSING(year)", {}, "a3"},
      {"WHERE year IS NOT MISSING", {}, "a1 a2 b1"},
      {"WHERE attribute_exists(flag)", {}, "b1"},
      {"WHERE attribute_not_exists(year)", {}, "a3"},
      // A function may be compared with a truth value.
      {"WHERE attribute_exists(flag) = true", {}, "b1"},
      {"WHERE attribute_exists(flag) = false AND year = 1999", {}, "a1"},
      {"WHERE attribute_not_exists(year) <> false", {}, "a3"},
      {"WHERE NOT begins_with(title, 'T') = ?", {"true"}, "a3 b1"},
      {"WHERE contains(tags, 's') != ?", {"false"}, "a2"},
      // A number may begin with its point.
      {"WHERE year > .2e4 AND d IS MISSING", {}, "a2"},
      {"WHERE d.l[1].n = .2E+1", {}, "a3"},
      {"WHERE none IS NULL", {}, "a3"},
      {"WHERE none = NULL", {}, "a3"},
      {"WHERE none IS NOT NULL AND pk = 'a'", {}, "a1 a2"},
      {"WHERE tags IS STRING_SET", {}, "a2"},
      {"WHERE d IS MAP AND d.l IS LIST AND d.l[0] IS NUMBER", {}, "a3"},
      {"WHERE attribute_type(flag, 'BOOL')", {}, "b1"},
      {"WHERE flag = TRUE", {}, "b1"},
      {"WHERE contains(tags, 's')", {}, "a2"},
      {"WHERE tags = <<'s', 'r'>>", {}, "a2"},
      {"WHERE d = {'l': [1, {'n': 2}]}", {}, "a3"},
      {"WHERE size(tags) = 2", {}, "a2"},
      {"WHERE SIZE(\"title\") > 1", {}, "a1 a2"},
      {"WHERE d.l[1].n = 2", {}, "a3"},
      {"WHERE pk = sk OR pk > sk", {}, "a1 a2 a3 b1"},
      {"WHERE year = (1999)", {}, "a1 b1"},
      {"-- all\nWHERE /* of them */ pk = 'a' -- end", {}, "a1 a2 a3"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.where);
    EXPECT_EQ(Keys(row.where, row.parameters), row.keys);
  }
}

// Without a condition on the partition key a SELECT reads the whole table (PQL-01).
TEST_F(PartiqlSelect, ReadsNoMoreThanTheKeyDemands) {
  EXPECT_EQ(Scanned("SELECT * FROM Music WHERE pk = 'b'"), 2);
  EXPECT_EQ(Scanned("SELECT * FROM Music WHERE pk = 'a' AND sk > '1' AND year = 3"), 3);
  EXPECT_EQ(Scanned("SELECT * FROM Music WHERE sk = '1'"), 5);
  EXPECT_EQ(Scanned("SELECT * FROM Music WHERE pk = 'b' OR pk = 'c'"), 5);
}

TEST_F(PartiqlSelect, RefusesKeyConditionsThatFitNoKey) {
  ExpectOutcomes(
      database_,
      {
          {"SELECT * FROM Music WHERE pk = 5",
           {},
           "PQL-16: Key attribute's data type should match its data type in table's schema: Key pk: it is S, "
           "not N"},
          {"SELECT * FROM Music WHERE pk IN ['a', 5]",
           {},
           "PQL-16: Key attribute's data type should match its data type in table's schema: Key pk..."},
          {"SELECT * FROM Music WHERE pk = 'a' AND sk BETWEEN 1 AND 2",
           {},
           "PQL-16: Key attribute's data type should match its data type in table's schema: Key sk..."},
          {"SELECT * FROM Music WHERE year = 1 AND NOT sk = 5",
           {},
           "PQL-16: One or more parameter values were invalid: Condition parameter type does not match "
           "schema "
           "type; key: sk"},
          {"SELECT * FROM Music WHERE year = MISSING",
           {},
           "PQL-18: MISSING must be compared using IS operator..."},
          {"SELECT * FROM Music WHERE year IN []",
           {},
           "PQL-08: IN operator must have a left hand argument of type Variable Reference and right hand "
           "argument of "
           "type Seq with at least one member..."},
          {"SELECT * FROM Music WHERE pk = ''", {}, "SEM-007: One or more parameter values are not valid..."},
          {"SELECT * FROM Music WHERE pk = 'a' AND sk > true",
           {},
           "EXP-13: Invalid WHERE clause: Incorrect operand type for operator or function; operator or "
           "function: >, operand type: BOOL"},
          {"SELECT * FROM Music WHERE year BETWEEN 3 AND 2", {}, "EXP-19: Invalid WHERE clause..."},
          {"SELECT * FROM Music WHERE year = year", {}, "EXP-17: Invalid WHERE clause..."},
          {"SELECT * FROM Music WHERE attribute_exists(year) = 1",
           {},
           "PQL-09: A function is true or false, and is compared with true or false only..."},
          {"SELECT * FROM Music WHERE attribute_exists(year) = year", {}, "PQL-18: ..."},
          {"SELECT * FROM Music WHERE d.5 = 1", {}, "PQL-18: ..."},
          {"SELECT * FROM Music WHERE attribute_type(year, 'X')", {}, "EXP-15: Invalid WHERE clause..."},
      });
}

// ORDER BY needs a condition on the partition key, and orders as ScanIndexForward does (PQL-01, SEM-035).
TEST_F(PartiqlSelect, OrdersByItsKey) {
  EXPECT_EQ(Keys("WHERE pk = 'a' ORDER BY sk DESC"), "a3 a2 a1");
  EXPECT_EQ(Keys("WHERE pk = 'a' ORDER BY sk"), "a1 a2 a3");
  EXPECT_EQ(Keys("WHERE pk = 'a' ORDER BY pk DESC, sk ASC"), "a1 a2 a3");
  EXPECT_EQ(Keys("WHERE pk IN ('a', 'b') ORDER BY pk DESC"), "b1 a1 a2 a3");
  EXPECT_EQ(Keys("WHERE pk IN ('a', 'b') ORDER BY pk ASC, sk DESC"), "a3 a2 a1 b1");
  EXPECT_EQ(Keys("WHERE pk IN ('a', 'a') ORDER BY sk DESC"), "a3 a2 a1");
  EXPECT_EQ(Keys("WHERE pk IN ('a', 'b') AND pk = 'a' ORDER BY sk DESC"), "a3 a2 a1");
  ExpectOutcomes(
      database_,
      {
          {"SELECT * FROM Music ORDER BY sk",
           {},
           "PQL-01: Must have WHERE clause in the statement when using ORDER BY clause."},
          {"SELECT * FROM Music WHERE sk = '1' ORDER BY sk",
           {},
           "PQL-01: Must have at least one non-optional hash key condition in WHERE clause when using ORDER "
           "BY "
           "clause."},
          {"SELECT * FROM Music WHERE pk = 'a' ORDER BY year",
           {},
           "PQL-01: Variable reference year in ORDER BY clause must be part of the primary key"},
          {"SELECT * FROM Music WHERE pk = 'a' ORDER BY sk, sk",
           {},
           "PQL-01: ORDER BY names sk more than once"},
          {"SELECT * FROM Music WHERE pk IN ('a', 'b') ORDER BY sk",
           {},
           "PQL-01: ORDER BY sk needs a condition..."},
          {"SELECT * FROM Single WHERE pk = 'one' ORDER BY sk", {}, "PQL-01: Variable reference sk..."},
      });
}

// SELECT from an index; global indexes and those of several key attributes have limits (PQL-01, PQL-17,
// SEM-037, SEM-087).
TEST_F(PartiqlSelect, ReadsIndexes) {
  ExpectOutcomes(
      database_,
      {
          {"SELECT pk FROM \"Music\".\"ByYear\" WHERE year = 1999 AND flag = true", {}, "{pk: 'b'}"},
          {"SELECT pk FROM Music.ByYear WHERE pk = 'b'", {}, "{pk: 'b'}"},
          {"SELECT * FROM Music.\"Names\"", {}, "{label: 'x', pk: 'a', sk: '1'}"},
          {"SELECT year FROM Music.\"Names\"", {}, "SEM-037: One or more parameter values were invalid..."},
          {"SELECT sk, year FROM Music.\"Local\" WHERE pk = 'a' ORDER BY title",
           {},
           "{sk: '2', year: 2001} {sk: '1', year: 1999}"},
          {"SELECT * FROM Music.\"Both\" WHERE label = 'x'",
           {},
           "SEM-087: PartiQL statements cannot be executed on tables with multi-attribute HASH keys or "
           "multi-attribute "
           "RANGE keys."},
      });
  auto global = StatementRequest("SELECT * FROM Music.ByYear");
  global.set_consistent_read(true);
  EXPECT_THAT(
      Outcome(Execute(database_, global)),
      ::testing::StartsWith("PQL-17: Strongly consistent read is not supported on Global Secondary Indexes"));
  auto local = StatementRequest("SELECT sk FROM Music.\"Local\" WHERE pk = 'a' AND title = 'T1'");
  local.set_consistent_read(true);
  EXPECT_EQ(Outcome(Execute(database_, local)), "{sk: '1'}");
}

// IN takes 50 partition keys, and a page then has at most 10 items (PQL-08).
TEST_F(PartiqlSelect, TakesFiftyPartitionsAndPagesOfTen) {
  std::string some, many;
  for (int i = 0; i < 101; ++i) {
    const std::string name = "p" + std::to_string(i);
    if (i < 15) {
      EXPECT_EQ(Outcome(database_, "INSERT INTO Single VALUE {'pk': '" + name + "'}"), "");
    }
    if (i < 50) some += (i > 0 ? ", '" : "'") + name + "'";
    many += (i > 0 ? ", '" : "'") + name + "'";
  }
  auto request = StatementRequest("SELECT pk FROM Single WHERE pk IN (" + some + ")");
  int pages = 0;
  EXPECT_THAT(AllItems(database_, request, &pages), SizeIs(15));
  EXPECT_EQ(pages, 2);
  auto first = Execute(database_, request);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(ItemsOf(*first), SizeIs(10));
  request.set_limit(4);
  EXPECT_THAT(AllItems(database_, request, &pages), SizeIs(15));
  EXPECT_EQ(pages, 4);
  ExpectOutcomes(database_,
                 {
                     {"SELECT * FROM Single WHERE pk IN (" + some + ", 'one')",
                      {},
                      "PQL-08: IN on the partition key takes at most 50 values; it has 51"},
                     {"SELECT * FROM Single WHERE n IN (" + some + ", 1)", {}, "{n: 1, pk: 'one'}"},
                     {"SELECT * FROM Single WHERE n IN (" + many + ")",
                      {},
                      "PQL-08: The IN operator has too many operands..."},
                 });
}

// All pages together equal the result without paging (PQL-13, SEM-029, SEM-030).
TEST_F(PartiqlSelect, PagesAddUp) {
  for (const std::string rest :
       {"", " WHERE pk = 'a'", " WHERE pk = 'a' ORDER BY sk DESC", " WHERE pk IN ('a', 'b')",
        " WHERE year = 1999", " WHERE pk IN ('a', 'b') ORDER BY pk DESC, sk DESC",
        " WHERE pk IN ('a', 'b', 'c') AND year = 1999"}) {
    SCOPED_TRACE(rest);
    auto request = StatementRequest("SELECT * FROM Music" + rest);
    const std::vector<std::string> all = AllItems(database_, request);
    EXPECT_FALSE(all.empty());
    for (int limit = 1; limit <= 5; ++limit) {
      request.set_limit(limit);
      EXPECT_EQ(AllItems(database_, request), all) << limit;
    }
  }
}

// A NextToken is valid only for its statement and parameters (PQL-13).
TEST_F(PartiqlSelect, TakesOnlyTokensOfTheSameStatementAndParameters) {
  auto request = StatementRequest("SELECT * FROM Music WHERE pk = ?", {"'a'"});
  request.set_limit(1);
  auto page = Execute(database_, request);
  ASSERT_TRUE(page.ok()) << page.status();
  const std::string token = page->reply.next_token();
  ASSERT_FALSE(token.empty());
  EXPECT_TRUE(page->reply.has_last_evaluated_key());
  const std::string wrong =
      "PQL-13: The NextToken is not one that this statement with these parameters was answered with";

  auto other = StatementRequest("SELECT * FROM Music WHERE pk = ?", {"'b'"});
  other.set_next_token(token);
  EXPECT_EQ(Outcome(Execute(database_, other)), wrong);
  other = StatementRequest("SELECT sk FROM Music WHERE pk = ?", {"'a'"});
  other.set_next_token(token);
  EXPECT_EQ(Outcome(Execute(database_, other)), wrong);
  for (const std::string& damaged : {std::string("x"), std::string("!!"), token.substr(0, 20)}) {
    request.set_next_token(damaged);
    EXPECT_EQ(Outcome(Execute(database_, request)), wrong);
  }
  request.set_next_token(std::string(32'769, 'a'));
  EXPECT_EQ(Outcome(Execute(database_, request)),
            "PQL-13: NextToken must be at most 32768 characters long; it has 32769");
  // A changed token returns a page or an error, never a crash.
  for (size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    request.set_next_token(changed);
    auto reply = Execute(database_, request);
    EXPECT_TRUE(reply.ok() || absl::IsInvalidArgument(reply.status())) << reply.status();
  }
  request.clear_next_token();
  request.set_limit(0);
  EXPECT_EQ(Outcome(Execute(database_, request)), "SEM-029: Limit must be at least 1; it is 0");
}

// Capacity is that of the Query that the statement performs, over all its ranges (SEM-061, SEM-062).
TEST_F(PartiqlSelect, AccountsForWhatItReads) {
  auto request = StatementRequest("SELECT * FROM Music WHERE pk IN ('a', 'b')");
  request.set_consistent_read(true);
  request.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_INDEXES);
  auto page = Execute(database_, request);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->reply.consumed_capacity().table_name(), "Music");
  EXPECT_EQ(page->reply.consumed_capacity().capacity_units(), 2);
  EXPECT_EQ(page->reply.consumed_capacity().table().capacity_units(), 2);
  EXPECT_GT(page->reply.change_sequence(), 0u);
}

// A SELECT sees all earlier writes (OP-23).
TEST_F(PartiqlSelect, SeesTheStateOfItsMoment) {
  EXPECT_THAT(AllItems(database_, StatementRequest("SELECT * FROM Music WHERE pk = 'z'")), IsEmpty());
  EXPECT_EQ(Outcome(database_, "INSERT INTO Music VALUE {'pk': 'z', 'sk': '1'}"), "");
  EXPECT_THAT(AllItems(database_, StatementRequest("SELECT * FROM Music WHERE pk = 'z'")),
              ElementsAre("{pk: 'z', sk: '1'}"));
}

}  // namespace
}  // namespace itemdb::testing
