// Which parts of an item a projection keeps (EXP-11, EXP-34).
#include "storage/expressions/projection.h"

#include <gtest/gtest.h>

#include "tests/storage/expressions/notation.h"

namespace itemdb::storage {
namespace {

const PlaceholderTexts kProjectionPlaceholders = {{"#d", "d.t"}, {"#a", "a"}};

absl::StatusOr<Projection> CompilePaths(std::string_view text) {
  Placeholders placeholders = MakePlaceholders(kProjectionPlaceholders);
  return Projection::Compile(text, placeholders);
}

TEST(Projection, KeepsWhatThePathsName) {
  constexpr std::string_view kItem =
      "{a: 1, b: [10, 11, {x: 1, y: 2}, [7, 8]], d: {t: 5}, d.t: 6, m: {k: {p: 1, q: 2}, n: 3}, s: <'x'>}";
  struct {
    std::string_view text, expected;
  } rows[] = {
      {"a", "{a: 1}"},
      {"s,a", "{a: 1, s: <'x'>}"},
      {"#d, d.t", "{d: {t: 5}, d.t: 6}"},
      {"m.k.q", "{m: {k: {q: 2}}}"},
      {"m.n, m.k.p", "{m: {k: {p: 1}, n: 3}}"},
      // A list keeps only the named elements, in their order.
      {"b[3], b[0]", "{b: [10, [7, 8]]}"},
      {"b[2].y, b[3][1]", "{b: [{y: 2}, [8]]}"},
      {"b[9], b[1]", "{b: [11]}"},
      // No match: not even the enclosing lists and maps are kept.
      {"gone", "{}"},
      {"m.gone", "{}"},
      {"m.k.gone, a", "{a: 1}"},
      {"b[9]", "{}"},
      {"b[2].gone", "{}"},
      {"a.x, a[0]", ""},
      {"m[0]", "{}"},
      {"b.x", "{}"},
      {"s[0]", "{}"},
      {"zz, aa", "{}"},
  };
  std::string item = Item(kItem);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    absl::StatusOr<Projection> projection = CompilePaths(row.text);
    if (row.expected.empty()) {
      EXPECT_FALSE(projection.ok());
      continue;
    }
    ASSERT_TRUE(projection.ok()) << projection.status();
    std::string result;
    projection->Apply(ItemView(item), &result);
    EXPECT_EQ(ShowItem(result), row.expected);
    EXPECT_EQ(result, Item(row.expected));
  }
}

TEST(Projection, AppendsToItsOutput) {
  std::string item = Item("{a: 1, b: 2}");
  std::string result = Item("{0: 0}");
  CompilePaths("b")->Apply(ItemView(item), &result);
  EXPECT_EQ(ShowItem(result), "{0: 0, b: 2}");
}

// An empty value is a match.
TEST(Projection, KeepsEmptyListsAndMaps) {
  std::string item = Item("{l: [], m: {e: {}}, b: [[]]}");
  std::string result;
  CompilePaths("l, m.e, b[0]")->Apply(ItemView(item), &result);
  EXPECT_EQ(ShowItem(result), "{b: [[]], l: [], m: {e: {}}}");
}

TEST(Projection, ListsTopLevelAttributes) {
  EXPECT_EQ(CompilePaths("m.b, m.a, #a, #d[0]")->TopLevelAttributes(),
            (std::vector<std::string>{"a", "d.t", "m"}));
}

TEST(Projection, RefusesOverlapAndBadSyntax) {
  struct {
    std::string_view text;
    std::string message;
  } rows[] = {
      {"", "The expression can not be empty;"},
      {"a,", "Syntax error; token: \"<EOF>\", near: \",\""},
      {"a b", "Syntax error; token: \"b\", near: \"a b\""},
      {"a, :v", "Syntax error; token: \":v\", near: \", :v\""},
      {"size(a)", "Attribute name is a reserved keyword; reserved keyword: size; name it by an #alias"},
      {"a + b", "Syntax error; token: \"+\", near: \"a + b\""},
      {"a, #a",
       "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: "
       "[a], path two: "
       "[a]"},
      {"m.a, m",
       "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [m, "
       "a], path "
       "two: [m]"},
      {"m.a, m[0]",
       "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: "
       "[m, a], path "
       "two: [m, [0]]"},
      {"#x", "An expression attribute name used in the document path is not defined; attribute name: #x"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    absl::Status status = CompilePaths(row.text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(MessageOf(status), "Invalid ProjectionExpression: " + row.message);
  }
}

}  // namespace
}  // namespace itemdb::storage
