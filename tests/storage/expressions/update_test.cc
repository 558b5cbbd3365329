// The results of update expressions on items, one table per rule.
#include "storage/expressions/update.h"

#include <gtest/gtest.h>

#include "storage/base/limits.h"
#include "storage/values/canonical.h"
#include "tests/storage/expressions/notation.h"

namespace itemdb::storage {
namespace {

const PlaceholderTexts kUpdatePlaceholders = {
    {"#dot", "d.t"},       {":0", "0"},         {":1", "1"},       {":2", "2"},      {":n5", "-5"},
    {":s", "'s'"},         {":l", "[8, 9]"},    {":e", "[]"},      {":m", "{q: 1}"}, {":t", "true"},
    {":ss", "<'b', 'd'>"}, {":ns", "<2.0, 7>"}, {":bs", "<b'x'>"}, {":z", "'z'"},    {":half", "0.5"}};

absl::StatusOr<UpdateExpression> CompileUpdate(std::string_view text) {
  Placeholders placeholders = MakePlaceholders(kUpdatePlaceholders);
  return UpdateExpression::Compile(text, placeholders);
}

struct UpdateRow {
  std::string_view text;
  std::string_view before;
  std::string_view after;
};

void ExpectUpdates(std::initializer_list<UpdateRow> rows) {
  for (const UpdateRow& row : rows) {
    SCOPED_TRACE(std::string(row.text) + " of " + std::string(row.before));
    absl::StatusOr<UpdateExpression> update = CompileUpdate(row.text);
    ASSERT_TRUE(update.ok()) << update.status();
    std::string before = Item(row.before);
    absl::StatusOr<std::string> after = update->Apply(ItemView(before));
    ASSERT_TRUE(after.ok()) << after.status();
    EXPECT_EQ(ShowItem(*after), ShowItem(Item(row.after)));
    // Equal items must have equal bytes.
    EXPECT_EQ(*after, Item(row.after));
  }
}

struct Failure {
  std::string_view text;
  std::string_view before;
  std::string_view message;
};

void ExpectFailures(std::initializer_list<Failure> failures) {
  for (const Failure& failure : failures) {
    SCOPED_TRACE(std::string(failure.text) + " of " + std::string(failure.before));
    absl::StatusOr<UpdateExpression> update = CompileUpdate(failure.text);
    ASSERT_TRUE(update.ok()) << update.status();
    std::string before = Item(failure.before);
    absl::Status status = update->Apply(ItemView(before)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ReasonOf(status), kReasonValidation);
    EXPECT_EQ(MessageOf(status).substr(0, failure.message.size()), failure.message);
  }
}

constexpr std::string_view kInvalidPath =
    "The document path provided in the update expression is invalid for update";
constexpr std::string_view kMissing =
    "The provided expression refers to an attribute that does not exist in the item";
constexpr std::string_view kWrongType = "An operand in the update expression has an incorrect data type";

// SET adds an attribute at its place in the order of names (EXP-09, EXP-10).
TEST(Update, SetsAttributes) {
  ExpectUpdates({
      {"SET a = :1", "{}", "{a: 1}"},
      {"SET a = :1", "{b: 2}", "{a: 1, b: 2}"},
      {"SET c = :1", "{b: 2}", "{b: 2, c: 1}"},
      {"SET b = :1", "{a: 0, b: 2, c: 3}", "{a: 0, b: 1, c: 3}"},
      {"SET d = :1, b = :2, a = :s", "{a: 0, b: 0, c: 0}", "{a: 's', b: 2, c: 0, d: 1}"},
      {"SET a = b", "{b: [1, {x: 2}]}", "{a: [1, {x: 2}], b: [1, {x: 2}]}"},
      {"SET a = b.c[1]", "{b: {c: [1, 2]}}", "{a: 2, b: {c: [1, 2]}}"},
      {"SET a = :m", "{a: <1>}", "{a: {q: 1}}"},
      {"SET #dot = :1", "{d: {t: 0}}", "{d: {t: 0}, d.t: 1}"},
      {"set a = (:1)", "{}", "{a: 1}"},
  });
}

TEST(Update, SetsNestedValues) {
  ExpectUpdates({
      {"SET m.x = :1", "{m: {}}", "{m: {x: 1}}"},
      {"SET m.x = :1, m.a = :2", "{m: {k: 0, x: 0}}", "{m: {a: 2, k: 0, x: 1}}"},
      {"SET m.x.y[1].z = :1", "{m: {x: {y: [0, {z: 0, w: 5}, 2]}}}", "{m: {x: {y: [0, {z: 1, w: 5}, 2]}}}"},
      {"SET l[0] = :1, l[2] = :s", "{l: [7, 8, 9]}", "{l: [1, 8, 's']}"},
      {"SET l[0][0] = :1", "{l: [[7, 8]]}", "{l: [[1, 8]]}"},
  });
}

// List indexes are positions before the update; elements set after the end are appended in the order of their
// indexes (EXP-25).
TEST(Update, SetPastTheEndAppends) {
  ExpectUpdates({
      {"SET l[2] = :1", "{l: [7, 8]}", "{l: [7, 8, 1]}"},
      {"SET l[99] = :1", "{l: [7, 8]}", "{l: [7, 8, 1]}"},
      {"SET l[7] = :2, l[5] = :1", "{l: [7, 8]}", "{l: [7, 8, 1, 2]}"},
      {"SET l[0] = :1", "{l: []}", "{l: [1]}"},
      {"SET l[1] = :1 REMOVE l[0]", "{l: [7, 8, 9]}", "{l: [1, 9]}"},
      {"SET l[9] = :1 REMOVE l[0], l[1]", "{l: [7, 8]}", "{l: [1]}"},
  });
}

// All right-hand sides use the item before the update (EXP-23).
TEST(Update, ReadsTheItemBeforeTheUpdate) {
  ExpectUpdates({
      {"SET a = b, b = a", "{a: 1, b: 2}", "{a: 2, b: 1}"},
      {"SET a = a + :1, b = a", "{a: 1, b: 5}", "{a: 2, b: 1}"},
      {"SET b = a REMOVE a", "{a: 1}", "{b: 1}"},
      {"REMOVE a SET b = a", "{a: 1}", "{b: 1}"},
      {"ADD a :1 SET b = a", "{a: 1}", "{a: 2, b: 1}"},
      {"SET l[0] = l[1], l[1] = l[0]", "{l: [1, 2]}", "{l: [2, 1]}"},
  });
}

// Arithmetic works on numbers of at most 38 digits (EXP-30).
TEST(Update, AddsAndSubtractsNumbers) {
  ExpectUpdates({
      {"SET a = a + :1", "{a: 1.5}", "{a: 2.5}"},
      {"SET a = a - :1", "{a: 1}", "{a: 0}"},
      {"SET a = :1 - a", "{a: 3}", "{a: -2}"},
      {"SET a = b + c", "{b: 1, c: -1}", "{a: 0, b: 1, c: -1}"},
      {"SET a = :1 + :1", "{}", "{a: 2}"},
      {"SET a = (:1 + :1)", "{}", "{a: 2}"},
      {"SET a = (b) - (:half)", "{b: 1}", "{a: 0.5, b: 1}"},
      {"SET a = if_not_exists(a, :0) + :1", "{}", "{a: 1}"},
      {"SET a = if_not_exists(a, :0) + :1", "{a: 1}", "{a: 2}"},
      {"SET a = :2 - if_not_exists(a, b)", "{b: 5}", "{a: -3, b: 5}"},
  });
  ExpectFailures({
      {"SET a = a + :1", "{}", kMissing},
      {"SET a = :1 + b.c", "{b: 1}", kMissing},
      {"SET a = a + :1", "{a: '1'}", kWrongType},
      {"SET a = :1 - a", "{a: [1]}", kWrongType},
      {"SET a = if_not_exists(b, :s) + :1", "{}", kWrongType},
      {"SET a = a + :1", "{a: 9.9999999999999999999999999999999999999e125}", ""},
      {"SET a = a + :1", "{a: 1e60}", ""},
      {"ADD a :1", "{a: 1e60}", ""},
  });
}

// list_append and if_not_exists, also one in the other (EXP-10, EXP-31).
TEST(Update, AppendsListsAndChoosesDefaults) {
  ExpectUpdates({
      {"SET a = list_append(a, :l)", "{a: [1]}", "{a: [1, 8, 9]}"},
      {"SET a = list_append(:l, a)", "{a: [1]}", "{a: [8, 9, 1]}"},
      {"SET a = list_append(a, a)", "{a: [1, [2]]}", "{a: [1, [2], 1, [2]]}"},
      {"SET a = list_append(:e, :e)", "{}", "{a: []}"},
      {"SET a = list_append(if_not_exists(a, :e), :l)", "{}", "{a: [8, 9]}"},
      {"SET a = list_append(if_not_exists(a, :e), :l)", "{a: [1]}", "{a: [1, 8, 9]}"},
      {"SET a = if_not_exists(a, :1)", "{}", "{a: 1}"},
      {"SET a = if_not_exists(a, :1)", "{a: 5}", "{a: 5}"},
      {"SET a = if_not_exists(b, c)", "{b: 5}", "{a: 5, b: 5}"},
      {"SET a = if_not_exists(b.c, if_not_exists(d, :1))", "{d: 5}", "{a: 5, d: 5}"},
      {"SET a = if_not_exists(b, list_append(:l, :l))", "{}", "{a: [8, 9, 8, 9]}"},
  });
  ExpectFailures({
      {"SET a = list_append(a, :l)", "{}", kMissing},
      {"SET a = list_append(a, :l)", "{a: <1>}", kWrongType},
      {"SET a = list_append(:l, if_not_exists(b, :s))", "{}", kWrongType},
      {"SET a = if_not_exists(a, b)", "{}", kMissing},
      {"SET a = b", "{}", kMissing},
  });
}

// REMOVE uses list positions before the update; a missing leaf is ignored (EXP-25, EXP-27).
TEST(Update, RemovesValues) {
  ExpectUpdates({
      {"REMOVE a", "{a: 1, b: 2}", "{b: 2}"},
      {"REMOVE a, c", "{a: 1, b: 2, c: 3}", "{b: 2}"},
      {"REMOVE gone", "{b: 2}", "{b: 2}"},
      {"REMOVE m.x", "{m: {x: 1}}", "{m: {}}"},
      {"REMOVE m.gone", "{m: {x: 1}}", "{m: {x: 1}}"},
      {"REMOVE l[0], l[2]", "{l: [1, 2, 3, 4]}", "{l: [2, 4]}"},
      {"REMOVE l[2], l[0]", "{l: [1, 2, 3, 4]}", "{l: [2, 4]}"},
      {"REMOVE l[0]", "{l: [1]}", "{l: []}"},
      {"REMOVE l[7]", "{l: [1]}", "{l: [1]}"},
      {"REMOVE l[1].x, l[0]", "{l: [1, {x: 1, y: 2}]}", "{l: [{y: 2}]}"},
  });
  ExpectFailures({
      {"REMOVE m.x", "{}", kInvalidPath},
      {"REMOVE m.x", "{m: 1}", kInvalidPath},
      {"REMOVE m[0]", "{m: {}}", kInvalidPath},
      {"REMOVE m.x.y", "{m: {}}", kInvalidPath},
      {"REMOVE l[3].x", "{l: []}", kInvalidPath},
  });
}

// The parent of a SET path must exist (EXP-26).
TEST(Update, NeedsTheParentOfWhatItSets) {
  ExpectFailures({
      {"SET m.x = :1", "{}", kInvalidPath},
      {"SET m.x = :1", "{m: 1}", kInvalidPath},
      {"SET m.x = :1", "{m: [1]}", kInvalidPath},
      {"SET l[0] = :1", "{l: {}}", kInvalidPath},
      {"SET l[0] = :1", "{}", kInvalidPath},
      {"SET l[1].x = :1", "{l: [{}]}", kInvalidPath},
      {"SET m.x.y = :1", "{m: {}}", kInvalidPath},
      {"ADD m.x :1", "{}", kInvalidPath},
      {"DELETE m.x :ss", "{}", kInvalidPath},
  });
}

// ADD adds to a number, which counts as 0 if missing, or to a set (EXP-28).
TEST(Update, AddsToNumbersAndSets) {
  ExpectUpdates({
      {"ADD a :1", "{}", "{a: 1}"},
      {"ADD a :n5", "{a: 1}", "{a: -4}"},
      {"ADD a :ss", "{}", "{a: <'b', 'd'>}"},
      {"ADD a :ss", "{a: <'a', 'b', 'c', 'e'>}", "{a: <'a', 'b', 'c', 'd', 'e'>}"},
      // Numbers are equal and ordered by value.
      {"ADD a :ns", "{a: <-1, 10, 2>}", "{a: <-1, 2, 7, 10>}"},
      {"ADD a :bs", "{a: <b'y'>}", "{a: <b'x', b'y'>}"},
      {"ADD m.x :1, m.y :ss", "{m: {x: 1}}", "{m: {x: 2, y: <'b', 'd'>}}"},
      {"ADD l[0] :1", "{l: [1]}", "{l: [2]}"},
  });
  ExpectFailures({
      {"ADD a :1", "{a: '1'}", kWrongType},
      {"ADD a :ss", "{a: <1>}", kWrongType},
      {"ADD a :ns", "{a: 1}", kWrongType},
      {"ADD a :1", "{a: [1]}", kWrongType},
  });
}

// DELETE removes elements from a set; an empty set is removed (EXP-29).
TEST(Update, DeletesFromSets) {
  ExpectUpdates({
      {"DELETE a :ss", "{a: <'a', 'b', 'c'>}", "{a: <'a', 'c'>}"},
      {"DELETE a :ss", "{a: <'b', 'd'>, b: 1}", "{b: 1}"},
      {"DELETE a :ss", "{a: <'x'>}", "{a: <'x'>}"},
      {"DELETE a :ns", "{a: <1, 2, 7, 8>}", "{a: <1, 8>}"},
      {"DELETE a :ss", "{}", "{}"},
      {"DELETE m.x :ss", "{m: {x: <'b'>}}", "{m: {}}"},
      {"DELETE m.x :ss", "{m: {}}", "{m: {}}"},
      {"DELETE l[0] :ss", "{l: [<'b'>, 1]}", "{l: [1]}"},
  });
  ExpectFailures({
      {"DELETE a :ss", "{a: <1>}", kWrongType},
      {"DELETE a :ss", "{a: 's'}", kWrongType},
  });
}

TEST(Update, CombinesSections) {
  ExpectUpdates({
      {"REMOVE b, m.y ADD c :1, s :ss DELETE t :ss SET a = :s, m.x = :2",
       "{b: 1, c: 1, m: {x: 1, y: 1, z: 1}, t: <'b', 'c'>, u: 1}",
       "{a: 's', c: 2, m: {x: 2, z: 1}, s: <'b', 'd'>, t: <'c'>, u: 1}"},
  });
}

// The finished item may nest 32 levels deep (SEM-017).
TEST(Update, KeepsTheDepthLimit) {
  auto nested = [](int levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  Placeholders placeholders = MakePlaceholders({{":v", nested(31)}});
  auto top = UpdateExpression::Compile("SET a = :v", placeholders);
  auto second = UpdateExpression::Compile("SET m.a = :v", placeholders);
  auto third = UpdateExpression::Compile("SET m.m.a = :v", placeholders);
  ASSERT_TRUE(top.ok() && second.ok() && third.ok());
  std::string item = Item("{m: {m: {}}}");
  EXPECT_TRUE(top->Apply(ItemView(item)).ok());
  absl::StatusOr<std::string> result = second->Apply(ItemView(item));
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(CanonicalizeItem(*result).ok());
  EXPECT_EQ(third->Apply(ItemView(item)).status().code(), absl::StatusCode::kInvalidArgument);
}

// A short text can multiply a large value; it must be refused before memory is full.
TEST(Update, RefusesToMultiplyLargeValues) {
  std::string item =
      Item("{b: '" + std::string(300'000, 'x') + "', l: ['" + std::string(300'000, 'x') + "']}");
  ItemView view(item);
  Placeholders placeholders;
  std::string copies = "SET a0 = b";
  for (int i = 1; i < 300; ++i) copies += ", a" + std::to_string(i) + " = b";
  auto update = UpdateExpression::Compile(copies, placeholders);
  ASSERT_TRUE(update.ok()) << update.status();
  EXPECT_EQ(MessageOf(update->Apply(view).status()),
            "Item size to update has exceeded the maximum allowed size");

  std::string appends = "l";
  for (int i = 0; i < 100; ++i) appends = "list_append(l, if_not_exists(zz, " + appends + "))";
  update = UpdateExpression::Compile("SET a = " + appends, placeholders);
  ASSERT_TRUE(update.ok()) << update.status();
  EXPECT_EQ(MessageOf(update->Apply(view).status()),
            "Item size to update has exceeded the maximum allowed size");
}

// A missing item is created, unless all clauses are REMOVE or DELETE (EXP-27, EXP-33).
TEST(Update, KnowsWhetherItCreatesAnItem) {
  EXPECT_TRUE(CompileUpdate("SET a = :1")->CreatesItem());
  EXPECT_TRUE(CompileUpdate("REMOVE b ADD a :1")->CreatesItem());
  EXPECT_FALSE(CompileUpdate("REMOVE a DELETE b :ss")->CreatesItem());
  std::string key = Item("{pk: 'k'}");
  absl::StatusOr<std::string> created =
      CompileUpdate("SET a = :1 REMOVE m.x, l[0].y")->Apply(ItemView(key), false);
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(ShowItem(*created), "{a: 1, pk: 'k'}");
  EXPECT_FALSE(CompileUpdate("SET m.y = :1 REMOVE m.x")->Apply(ItemView(key), false).ok());
}

// UPDATED_OLD and UPDATED_NEW return only the paths that the update touched (SEM-059).
TEST(Update, ShowsTheTouchedPart) {
  struct {
    std::string_view text, item, part;
  } rows[] = {
      {"SET a = :1", "{a: 5, b: 6}", "{a: 5}"},
      {"SET a = :1", "{b: 6}", "{}"},
      {"SET m.x.y = :1 REMOVE l[2], l[0]", "{l: [1, 2, 3], m: {x: {y: 1, z: 2}, w: 3}}",
       "{l: [1, 3], m: {x: {y: 1}}}"},
      {"SET m.x = :1", "{m: {w: 3}}", "{}"},
      {"ADD s :ss", "{s: <'a'>, t: 1}", "{s: <'a'>}"},
      {"SET a = b", "{b: 1}", "{}"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    std::string item = Item(row.item);
    EXPECT_EQ(ShowItem(CompileUpdate(row.text)->TouchedPart(ItemView(item))), row.part);
  }
}

TEST(Update, NamesWhatItWrites) {
  absl::StatusOr<UpdateExpression> update = CompileUpdate("SET m.x = a, z = b REMOVE #dot, l[0] ADD m.y :1");
  ASSERT_TRUE(update.ok()) << update.status();
  EXPECT_EQ(update->TopLevelAttributes(), (std::vector<std::string>{"d.t", "l", "m", "z"}));
  EXPECT_EQ(update->NestedAttributes(), (std::vector<std::string>{"l", "m"}));
  EXPECT_EQ(CompileUpdate("SET z = a.b, y = if_not_exists(c[0], :1)")->NestedAttributes(),
            (std::vector<std::string>{"a", "c"}));
}

// Errors that are found before any item is read (EXP-09, EXP-10, EXP-24, EXP-31, SEM-020, SEM-024, SEM-025).
TEST(Update, RefusesWhatItCannotMean) {
  auto overlap = [](std::string verb, std::string one, std::string two) {
    return "Two document paths " + verb +
           " with each other; must remove or rewrite one of these paths; path one: " + one +
           ", path two: " + two;
  };
  std::string many = "SET a0 = b + :1";
  for (int i = 1; i <= 300; ++i) many += ",a" + std::to_string(i) + "=b+:1";
  struct {
    std::string_view text;
    std::string message;
  } rows[] = {
      {"", "The expression can not be empty;"},
      {"a = :1", "Syntax error; token: \"a\", near: \"a =\""},
      {"SET", "Syntax error; token: \"<EOF>\", near: \"SET\""},
      {"SET a", "Syntax error; token: \"<EOF>\", near: \"a\""},
      {"SET a = ", "Syntax error; token: \"<EOF>\", near: \"=\""},
      {"SET a = :1,", "Syntax error; token: \"<EOF>\", near: \",\""},
      {"SET a = :1 b = :2", "Syntax error; token: \"b\", near: \":1 b =\""},
      {"SET a = :1 + :2 + :1", "Syntax error; token: \"+\", near: \":2 + :1\""},
      {"SET a = (:1 + :2) + :1", "Syntax error; token: \"+\", near: \") + :1\""},
      {"SET a = :1 + (:2 - :1)", "Syntax error; token: \"<EOF>\", near: \")\""},
      {"SET a = if_not_exists(a, :1 + :2)", "Syntax error; token: \"+\", near: \":1 + :2\""},
      {"SET a = -:1", "Syntax error; token: \"-\", near: \"= -:1\""},
      {"SET a = :1 * :2", "Syntax error; token: \"*\", near: \":1 * :2\""},
      {"SET :a = :1", "Syntax error; token: \":a\", near: \"SET :a =\""},
      {"SET a = set", "Syntax error; token: \"set\", near: \"= set\""},
      {"SET a = :1 REMOVE", "Syntax error; token: \"<EOF>\", near: \"REMOVE\""},
      {"REMOVE a :1", "Syntax error; token: \":1\", near: \"a :1\""},
      {"ADD a = :1", "Syntax error; token: \"=\", near: \"a = :1\""},
      {"ADD a b", "Syntax error; token: \"b\", near: \"a b\""},
      {"DELETE a", "Syntax error; token: \"<EOF>\", near: \"a\""},
      {"SET a = :1 SET b = :2", "The \"SET\" section can only be used once in an update expression;"},
      {"remove a Remove b", "The \"REMOVE\" section can only be used once in an update expression;"},
      {"SET a = ((:1))", "The expression has redundant parentheses;"},
      {"SET a = size(b)", "The function is not allowed in an update expression; function: size"},
      {"SET a = IF_NOT_EXISTS(a, :1)", "Invalid function name; function: IF_NOT_EXISTS"},
      {"SET a = if_not_exists(:1, :1)",
       "Operator or function requires a document path; operator or function: if_not_exists"},
      {"SET a = if_not_exists(a)",
       "Incorrect number of operands for operator or function; operator or function: if_not_exists, number "
       "of operands: "
       "1"},
      {"SET a = list_append(a, b, c)",
       "Incorrect number of operands for operator or function; operator or function: list_append, number of "
       "operands: "
       "3"},
      {"SET a = list_append(list_append(a, b), c)",
       "The function is not allowed to be used this way in an expression; function: list_append"},
      {"SET a = list_append(a, list_append(b, :l))",
       "The function is not allowed to be used this way in an expression; function: list_append"},
      {"SET a = :1 + :s",
       "Incorrect operand type for operator or function; operator or function: +, operand type: S"},
      {"SET a = :t - b",
       "Incorrect operand type for operator or function; operator or function: -, operand type: BOOL"},
      {"SET a = list_append(a, :1)",
       "Incorrect operand type for operator or function; operator or function: list_append, operand type: N"},
      {"ADD a :s",
       "Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: "
       "ALLOWED_FOR_ADD_OPERAND"},
      {"ADD a :l",
       "Incorrect operand type for operator or function; operator: ADD, operand type: LIST, typeSet: "
       "ALLOWED_FOR_ADD_OPERAND"},
      {"SET a = if_not_exists(a, a)",
       "The first operand must be distinct from the remaining operands for this operator or function; "
       "operator: "
       "if_not_exists, first operand: [a]"},
      {"DELETE a :1",
       "Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: "
       "ALLOWED_FOR_DELETE_OPERAND"},
      {"SET a = :nope",
       "An expression attribute value used in expression is not defined; attribute value: :nope"},
      {"REMOVE #nope",
       "An expression attribute name used in the document path is not defined; attribute name: #nope"},
      {"SET a = :1, a.b = :2", overlap("overlap", "[a]", "[a, b]")},
      {"SET a.b.c = :1 REMOVE a", overlap("overlap", "[a, b, c]", "[a]")},
      {"SET a = :1 REMOVE a", overlap("overlap", "[a]", "[a]")},
      {"SET a[1] = :1 ADD a[1].b :1", overlap("overlap", "[a, [1]]", "[a, [1], b]")},
      {"SET a.b = :1, a[1] = :2", overlap("conflict", "[a, b]", "[a, [1]]")},
      {"SET a[1] = :1, a.b = :2", overlap("conflict", "[a, [1]]", "[a, b]")},
      {many, "The expression contains too many operators; operator count: 301"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    absl::Status status = CompileUpdate(row.text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(MessageOf(status), "Invalid UpdateExpression: " + row.message);
  }
}

}  // namespace
}  // namespace itemdb::storage
