// Texts that are not statements: the error says what was expected and where (PQL-10, PQL-11, PQL-12, PQL-18).
#include "storage/partiql/statement_access.h"
#include "tests/storage/partiql/statements.h"

namespace itemdb::testing {
namespace {

std::string Repeat(int times, const std::string& text) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

class PartiqlBadText : public ::testing::Test {
 protected:
  PartiqlBadText() { database_.CreateTable(TableRequest("Things", /*sorted=*/false)); }

  TestDatabase database_;
};

TEST_F(PartiqlBadText, SaysWhatWasExpectedAndWhere) {
  const std::string bad = "PQL-18: Statement wasn't well formed, can't be processed: ";
  ExpectOutcomes(
      database_,
      {
          {" ",
           {},
           bad +
               "expected SELECT, INSERT, UPDATE, DELETE, FROM or EXISTS at character 2, found the end of the "
               "statement"},
          {"SELEKT * FROM t",
           {},
           bad + "expected SELECT, INSERT, UPDATE, DELETE, FROM or EXISTS at character 1, found "
                 "'SELEKT'"},
          {"SELECT FROM Things", {}, bad + "expected * or an attribute at character 8, found 'FROM'"},
          {"SELECT * Things", {}, bad + "expected FROM at character 10, found 'Things'"},
          {"SELECT * FROM",
           {},
           bad + "expected a table name at character 14, found the end of the statement"},
          {"SELECT * FROM 5", {}, bad + "expected a table name at character 15, found '5'"},
          {"SELECT * FROM Things WHERE",
           {},
           bad + "expected an attribute, a literal, a parameter or SIZE..."},
          {"SELECT * FROM Things WHERE pk", {}, bad + "expected a comparison..."},
          {"SELECT * FROM Things WHERE pk = ", {}, bad + "expected an attribute, a literal..."},
          {"SELECT * FROM Things WHERE pk = 'a' sk = 'b'",
           {},
           bad + "expected the end of the statement at character "
                 "37, found 'sk'"},
          {"SELECT * FROM Things WHERE (pk = 'a'", {}, bad + "expected ) at character 37..."},
          {"SELECT * FROM Things WHERE pk = 'ü' AND \xc3\xbc = 1",
           {},
           bad + "expected an attribute, a literal, a "
                 "parameter or SIZE at character 41, found 'ü'"},
          {"SELECT * FROM Things WHERE pk = 'a",
           {},
           bad + "expected an attribute, a literal, a parameter or SIZE at "
                 "character 33, found a quoted text without its end"},
          {"SELECT * FROM Things /* all",
           {},
           bad + "expected the end of the statement at character 22, found a comment "
                 "without its end"},
          {"SELECT * FROM Things WHERE order = 1", {}, bad + "expected..."},
          {"SELECT * FROM Things WHERE pk IN ()", {}, bad + "expected..."},
          {"SELECT * FROM Things WHERE pk IN 'a'",
           {},
           "PQL-08: IN operator must have a left hand argument of type Variable Reference..."},
          {"SELECT * FROM Things WHERE pk IN ('a']", {}, bad + "expected , or )..."},
          {"SELECT * FROM Things WHERE a IS WRONG", {}, bad + "expected MISSING, NULL or a type..."},
          {"SELECT * FROM Things WHERE a BETWEEN 1, 2", {}, bad + "expected AND..."},
          {"SELECT * FROM Things WHERE a NOT = 1", {}, bad + "expected BETWEEN or IN..."},
          {"SELECT * FROM Things WHERE a == 1", {}, bad + "expected..."},
          {"SELECT * FROM Things WHERE a = 1 = 2", {}, bad + "expected the end..."},
          {"SELECT * FROM Things WHERE a[x] = 1", {}, bad + "expected a list index..."},
          {"SELECT * FROM Things WHERE a[99999999999] = 1", {}, bad + "expected a list index..."},
          {"SELECT * FROM Things WHERE a[-1] = 1", {}, bad + "expected a list index..."},
          {"SELECT * FROM Things WHERE a..b = 1", {}, bad + "expected an attribute name..."},
          {"SELECT * FROM Things WHERE a = {b: 1}",
           {},
           bad + "expected an attribute name in single quotes..."},
          {"SELECT * FROM Things WHERE a = {'b' 1}", {}, bad + "expected :..."},
          {"SELECT * FROM Things WHERE a = [1, ]", {}, bad + "expected a literal or a parameter..."},
          {"SELECT * FROM Things WHERE a = [b]", {}, bad + "expected a literal or a parameter..."},
          {"SELECT * FROM Things WHERE a = <<1, 2", {}, bad + "expected , or >>..."},
          {"SELECT * FROM Things WHERE a = - b", {}, bad + "expected a number..."},
          {"SELECT * FROM Things;", {}, bad + "expected the end of the statement at character 21, found ';'"},
          {"SELECT * FROM Things ORDER pk", {}, bad + "expected BY..."},
          {"SELECT * FROM Things WHERE contains(a)", {}, bad + "expected ,..."},
          {"SELECT * FROM Things WHERE attribute_exists(a, b)", {}, bad + "expected )..."},
          {"INSERT Things VALUE {'pk': 'a'}", {}, bad + "expected INTO..."},
          {"INSERT INTO Things VALUES {'pk': 'a'}", {}, bad + "expected VALUE..."},
          {"INSERT INTO Things VALUE 'a'", {}, bad + "expected {..."},
          {"INSERT INTO Things VALUE {'pk': a}", {}, bad + "expected a literal or a parameter..."},
          {"UPDATE Things WHERE pk = 'a'", {}, bad + "expected SET or REMOVE..."},
          {"UPDATE Things SET a = 1", {}, bad + "expected WHERE..."},
          {"UPDATE Things SET a WHERE pk = 'a'", {}, bad + "expected =..."},
          {"UPDATE Things SET 1 = a WHERE pk = 'a'", {}, bad + "expected an attribute name..."},
          {"UPDATE Things SET a = 1 WHERE pk = 'a' RETURNING *", {}, bad + "expected ALL or MODIFIED..."},
          {"UPDATE Things SET a = 1 WHERE pk = 'a' RETURNING ALL *", {}, bad + "expected OLD or NEW..."},
          {"UPDATE Things SET a = 1 WHERE pk = 'a' RETURNING ALL OLD", {}, bad + "expected *..."},
          {"FROM Things WHERE pk = 'a'", {}, bad + "expected SET or REMOVE..."},
          {"DELETE Things WHERE pk = 'a'", {}, bad + "expected FROM..."},
          {"DELETE FROM Things", {}, bad + "expected WHERE..."},
          {"EXISTS (SELECT * FROM Things)", {}, bad + "expected WHERE..."},
          {std::string("SELECT * FROM Things\0", 21), {}, bad + "expected the end of the statement..."},
          {"SELECT * FROM \"Things",
           {},
           bad + "expected a table name at character 15, found a quoted text..."},
          {"SELECT * FROM Things WHERE pk = '\xff'", {}, bad + "it is not valid UTF-8"},
      });
}

// The error names the construct that the dialect does not have (PQL-11).
TEST_F(PartiqlBadText, SaysWhatIsNotInTheDialect) {
  ExpectOutcomes(
      database_,
      {
          {"SELECT * FROM Things AS t", {}, "PQL-11: Aliasing is not supported ('AS' at character 22)"},
          {"SELECT * FROM Things t", {}, "PQL-11: Aliasing is not supported ('t' at character 22)"},
          {"SELECT pk AS p FROM Things", {}, "PQL-11: Aliasing is not supported..."},
          {"SELECT pk p FROM Things", {}, "PQL-11: Aliasing is not supported..."},
          {"SELECT COUNT(*) FROM Things", {}, "PQL-11: Aggregate functions are not supported ('COUNT'..."},
          {"SELECT max(n) FROM Things", {}, "PQL-11: Aggregate functions are not supported..."},
          {"SELECT size(n) FROM Things", {}, "PQL-11: Functions are not supported in what SELECT shows..."},
          {"SELECT DISTINCT pk FROM Things", {}, "PQL-11: DISTINCT is not supported..."},
          {"SELECT * FROM Things GROUP BY pk", {}, "PQL-11: GROUP BY is not supported..."},
          {"SELECT * FROM Things WHERE pk = 'a' GROUP BY pk", {}, "PQL-11: GROUP BY is not supported..."},
          {"SELECT * FROM Things HAVING pk = 'a'", {}, "PQL-11: HAVING is not supported..."},
          {"SELECT * FROM Things, Others", {}, "PQL-11: Joins are not supported..."},
          {"SELECT * FROM Things JOIN Others", {}, "PQL-11: Joins are not supported..."},
          {"SELECT * FROM (SELECT * FROM Things)", {}, "PQL-11: Sub-selects are not supported..."},
          {"SELECT * FROM Things WHERE pk IN (SELECT pk FROM Things)", {}, "PQL-11: Sub-selects..."},
          {"SELECT * FROM Things WHERE pk = (SELECT pk FROM Things)", {}, "PQL-11: Sub-selects..."},
          {"SELECT * FROM Things WHERE pk LIKE 'a%'", {}, "PQL-11: LIKE is not supported..."},
          {"SELECT * FROM Things LIMIT 1", {}, "PQL-11: LIMIT and OFFSET are not supported..."},
          {"SELECT * FROM Things UNION SELECT * FROM Things", {}, "PQL-11: UNION is not supported..."},
          {"SELECT * FROM Things WHERE EXISTS(SELECT * FROM Things WHERE pk = 'a')",
           {},
           "PQL-06: EXISTS is a..."},
          {"SELECT * FROM Things WHERE count(pk) = 1", {}, "PQL-11: Aggregate functions..."},
          {"SELECT * FROM Things WHERE wrong(pk)", {}, "PQL-09: Unknown function..."},
          {"SELECT * FROM Things WHERE a + 1 = 2", {}, "PQL-07: In a condition + and - take literals and..."},
          {"SELECT * FROM Things WHERE 1 + a = 2", {}, "PQL-07: In a condition + and - take literals and..."},
          {"SELECT * FROM Things WHERE a = 'x' + 1", {}, "EXP-30: + and - take numbers..."},
          {"SELECT * FROM Things WHERE a = 9e125 + 9e125", {}, "..."},
          {"SELECT * FROM Things WHERE contains(size(a), 1)",
           {},
           "EXP-05: SIZE is only allowed in a comparison..."},
          {"SELECT * FROM Things WHERE size(size(a)) = 1",
           {},
           "EXP-05: SIZE is only allowed in a comparison..."},
          {"SELECT * FROM Things WHERE 'a' IS STRING", {}, "EXP-04: IS works on an attribute..."},
          {"SELECT * FROM Things WHERE attribute_exists('a')",
           {},
           "EXP-04: ATTRIBUTE_EXISTS works on an attribute..."},
          {"SELECT * FROM Things WHERE \"\" = 1", {}, "SEM-009: Empty attribute name..."},
      });
}

// Literals and parameters must be values of the data model (PQL-10, SEM-011, SEM-015, SEM-016).
TEST_F(PartiqlBadText, RefusesLiteralsAndParametersThatAreNoValues) {
  ExpectOutcomes(
      database_,
      {
          {"SELECT * FROM Things WHERE a = <<>>",
           {},
           "SEM-016: A set must not be empty ('<<' at character 32)"},
          {"SELECT * FROM Things WHERE a = <<1, 'a'>>",
           {},
           "SEM-015: The elements of a set must be of one type..."},
          {"SELECT * FROM Things WHERE a = <<[1]>>", {}, "SEM-015: The elements of a set must be strings..."},
          {"SELECT * FROM Things WHERE a = <<1, 1.0>>", {}, "SEM-015: ..."},
          {"SELECT * FROM Things WHERE a = 1e126", {}, "SEM-011: ..."},
          {"SELECT * FROM Things WHERE a = 123456789012345678901234567890123456789", {}, "SEM-011: ..."},
          {"SELECT * FROM Things WHERE a = ?",
           {},
           "PQL-10: Number of parameters in request and statement don't match..."},
          {"SELECT * FROM Things WHERE a = ?",
           {"1", "2"},
           "PQL-10: Number of parameters in request and statement don't match: the statement has 1, the "
           "request 2"},
          {"SELECT * FROM Things",
           {"1"},
           "PQL-10: Number of parameters in request and statement don't match..."},
          {"SELECT * FROM Things WHERE '?' = a", {"1"}, "PQL-10: ..."},
      });
  auto request = StatementRequest("SELECT * FROM Things WHERE a = ?");
  request.add_parameters("\xff");
  EXPECT_THAT(Outcome(Execute(database_, request)), ::testing::HasSubstr("(parameter 1 of the statement)"));
}

// The length of a statement counts in characters (PQL-12), operators as in expressions (SEM-020).
TEST_F(PartiqlBadText, BoundsLengthAndOperators) {
  const std::string select = "SELECT * FROM Things WHERE pk = '";
  const size_t room = 8'192 - select.size() - 1;
  EXPECT_EQ(Outcome(database_, ""), "PQL-12: a statement must be 1 to 8192 characters long; this one has 0");
  EXPECT_THAT(Outcome(database_, select + std::string(room + 1, 'x') + "'"),
              "PQL-12: a statement must be 1 to 8192 characters long; this one has 8193");
  const std::string insert = "SELECT * FROM Things WHERE a = '";
  EXPECT_EQ(Outcome(database_, insert + Repeat(static_cast<int>(room + 1), "ü") + "'"), "");
  EXPECT_EQ(Outcome(database_, "SELECT * FROM Things WHERE a=1" + Repeat(149, " OR a=1")), "");
  EXPECT_THAT(Outcome(database_, "SELECT * FROM Things WHERE a=1" + Repeat(150, " OR a=1")),
              ::testing::StartsWith("SEM-020: The statement contains too many operators; at most 300"));
  EXPECT_THAT(Outcome(database_, "SELECT * FROM Things WHERE a = 1" + Repeat(301, "+1")),
              ::testing::StartsWith("SEM-020: "));
  EXPECT_THAT(Outcome(database_, "UPDATE Things SET a = 1" + Repeat(301, "+1") + " WHERE pk = 'a'"),
              ::testing::StartsWith("SEM-020: "));
  EXPECT_EQ(Outcome(database_, "UPDATE Things SET a = 1" + Repeat(290, "+1") + " WHERE pk = 'a'"),
            "condition failed");
  EXPECT_THAT(Outcome(database_, "SELECT * FROM Things WHERE " + Repeat(301, "NOT ") + "a = 1"),
              ::testing::StartsWith("SEM-020: "));
}

// Nesting of every kind is limited, so that no recursion gets too deep (SEM-017).
TEST_F(PartiqlBadText, BoundsNesting) {
  const std::string deep =
      "PQL-18: Statement wasn't well formed, can't be processed: parentheses and functions nest more than "
      "100 levels deep";
  const std::string select = "SELECT * FROM Things WHERE ";
  for (const std::string& bomb :
       {select + Repeat(8'000, "("), select + "a = " + Repeat(8'000, "("), select + Repeat(1'600, "size("),
        "UPDATE Things SET a = " + Repeat(8'000, "("), "UPDATE Things SET a = " + Repeat(600, "list_append("),
        select + Repeat(2'000, "NOT(")}) {
    EXPECT_THAT(Outcome(database_, bomb), ::testing::StartsWith(deep)) << bomb.substr(0, 40);
  }
  // A literal that nests too deeply is refused before its content is parsed.
  const std::string too_deep = "SEM-017: Nesting Levels have exceeded supported limits";
  for (const std::string& bomb :
       {select + "a = " + Repeat(8'000, "["), select + "a = " + Repeat(1'600, "{'a':"),
        select + "a = " + Repeat(4'000, "<<"), "INSERT INTO Things VALUE " + Repeat(1'600, "{'a':"),
        select + "a = " + Repeat(32, "[") + "wrong"}) {
    EXPECT_THAT(Outcome(database_, bomb), ::testing::StartsWith(too_deep)) << bomb.substr(0, 40);
  }
  EXPECT_EQ(Outcome(database_, select + "a = " + Repeat(31, "[") + "1" + Repeat(31, "]")), "");
  EXPECT_THAT(Outcome(database_, "INSERT INTO Things VALUE {'pk': 'p', 'a': " + Repeat(32, "[") + "1" +
                                     Repeat(32, "]") + "}"),
              ::testing::StartsWith(too_deep));
  EXPECT_EQ(
      Outcome(database_,
              "INSERT INTO Things VALUE {'pk': 'p', 'a': " + Repeat(31, "[") + "?" + Repeat(31, "]") + "}",
              {std::string("'") + std::string(100'000, 'x') + "'"}),
      "");
  EXPECT_EQ(Outcome(database_, select + Repeat(90, "(") + "a = 1" + Repeat(90, ")")), "");
  EXPECT_THAT(Outcome(database_, select + "a = " + Repeat(40, "[") + Repeat(40, "]")),
              ::testing::StartsWith("SEM-017: "));
  EXPECT_EQ(Outcome(database_, select + "a" + Repeat(31, ".a") + " = 1"), "");
  EXPECT_THAT(Outcome(database_, select + "a" + Repeat(32, ".a") + " = 1"),
              ::testing::StartsWith("SEM-017: "));
  EXPECT_THAT(Outcome(database_, select + "a" + Repeat(8'000, "[") + " = 1"),
              ::testing::StartsWith("PQL-18: "));
}

// Whether a statement reads or writes is known without executing it (OP-23).
TEST(PartiqlAccess, OnlySelectReads) {
  for (const char* reads : {"SELECT * FROM t", "select", " \n-- comment\n/* another */ Select x"})
    EXPECT_TRUE(IsReadStatement(reads)) << reads;
  for (const char* writes :
       {"INSERT INTO t VALUE {}", "UPDATE t", "DELETE FROM t", "FROM t", "EXISTS(SELECT * FROM t)", "",
        "-- SELECT", "/* SELECT", "'SELECT'", "\"SELECT\" ", "SELECTED", "(SELECT)", "\xff"}) {
    EXPECT_FALSE(IsReadStatement(writes)) << writes;
  }
}

// For counters: the table is known without parsing the rest, and texts that are no statements do no harm.
TEST(PartiqlAccess, TheTableIsInTheText) {
  for (const char* names_t :
       {"SELECT * FROM t", "select a, b.c[1] from t where FROM = 1", "SELECT * FROM \"t\".\"FROM\"",
        "INSERT INTO t VALUE {'from': 'FROM u'}", "insert into \"t\"", "UPDATE t SET a = 1", "DELETE FROM t",
        "FROM t WHERE a = 1 REMOVE b", "EXISTS(SELECT * FROM t WHERE a = 1)",
        "/* FROM u */ SELECT 'FROM u' FROM t", "SELECT into FROM t", "--\nDELETE FROM t"}) {
    EXPECT_EQ(TableNameInStatement(names_t), "t") << names_t;
  }
  EXPECT_EQ(TableNameInStatement("SELECT * FROM \"a\"\"b\""), "a\"b");
  for (const char* names_none :
       {"", "SELECT", "SELECT * FROM", "SELECT * FROM 'u'", "INSERT", "INSERT INTO", "UPDATE", "UPDATE 7",
        "/* FROM u", "DELETE \"FROM\" u", "\xff\xfe", "SELECT * FROM \"u", "INSERT FROM u"}) {
    EXPECT_EQ(TableNameInStatement(names_none), "") << names_none;
  }
}

}  // namespace
}  // namespace itemdb::testing
