// Which texts are conditions, and the errors for those that are not.
#include <gtest/gtest.h>

#include "storage/base/limits.h"
#include "storage/expressions/condition.h"
#include "storage/expressions/grammar.h"
#include "tests/storage/expressions/notation.h"

namespace itemdb::storage {
namespace {

const PlaceholderTexts kPlaceholders = {{"#a", "a.b"}, {"#0", "zero"},   {":v", "1"},       {":w", "2"},
                                        {":s", "'x'"}, {":t", "'N'"},    {":bad", "'FOO'"}, {":bool", "true"},
                                        {":l", "[]"},  {":b", "b'x'"},   {":null", "null"}, {":long", "'a'"},
                                        {":m", "{}"},  {":ss", "<'x'>"}, {":ns", "<1>"}};

absl::Status Compile(std::string_view text) {
  Placeholders placeholders = MakePlaceholders(kPlaceholders);
  return Condition::Compile("ConditionExpression", text, placeholders).status();
}

// The grammar of conditions (EXP-01..07).
TEST(ConditionSyntax, AcceptsTheGrammar) {
  for (std::string_view text : {
           "a = :v",
           "a<>:v",
           " a\t<=\n:v\r",
           ":v > a",
           "a = b",
           ":v = :w",
           "a.b.c = :v",
           "a[0] = :v",
           "a[0][12].b[2147483647] = :v",
           "a . b [ 1 ] = :v",
           "#a.#0[0] = :v",
           "a BETWEEN :v AND :w",
           "a between b and c",
           "a IN (:v)",
           "a in (:v, b, :s , :l)",
           "size(a) = :v",
           "size ( a ) > size(b.c)",
           "size(:s) = a",
           "size(a) BETWEEN :v AND :w",
           "size(a) IN (:v, :w)",
           "a = size(b)",
           "attribute_exists(a)",
           "attribute_not_exists ( a.b[1] )",
           "attribute_type(a, :t)",
           "begins_with(a, :s)",
           "begins_with(a, b)",
           "begins_with(:s, a)",
           "contains(a, :bool)",
           "contains(a, b)",
           "contains(:l, a)",
           "NOT a = :v",
           "not not NOT a = :v",
           "a = :v AND b = :w",
           "a = :v Or b = :w aNd c = :w",
           "NOT a = :v AND NOT (b = :w OR c = :w)",
           "(a = :v)",
           "(a = :v) AND (b = :w)",
           "((a = :v) AND b = :w) OR c = :v",
           "(NOT (a = :v))",
           "NOT (NOT (a = :v))",
           "((a) = :v)",
           "(a) = (:v)",
           "(size(a)) > (:v)",
           "(a) BETWEEN (:v) AND (:w)",
           "(a) IN ((:v), (:w))",
           "contains((a), (:v))",
           "a = :v AND b BETWEEN :v AND :w AND c = :w",
           // A function's name without "(" is an attribute name.
           "contains = :v",
           "size_of = :v",
           "attribute_exists = :v",
       }) {
    SCOPED_TRACE(text);
    absl::Status status = Compile(text);
    EXPECT_TRUE(status.ok()) << status;
  }
}

struct Refusal {
  std::string_view text;
  // The text after "Invalid ConditionExpression: ".
  std::string_view message;
};

void ExpectRefusals(std::initializer_list<Refusal> refusals) {
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.text);
    absl::Status status = Compile(refusal.text);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ReasonOf(status), kReasonValidation);
    EXPECT_EQ(MessageOf(status), "Invalid ConditionExpression: " + std::string(refusal.message));
  }
}

TEST(ConditionSyntax, NamesTheTokenThatCannotStandThere) {
  struct Row {
    std::string_view text;
    std::string token;
    std::string near;
  };
  const Row rows[] = {
      {"a x b", "x", "a x b"},
      {"a =", "<EOF>", "="},
      {"= a", "=", "= a"},
      {"a", "<EOF>", "a"},
      {"a = :v b", "b", ":v b"},
      {"a == :v", "=", "== :v"},
      {"a != :v", "!", "a !="},
      {"a = 1", "1", "= 1"},
      {"a = 'x'", "'", "= 'x"},
      {"a > < :v", "<", "> < :v"},
      {"_a = :v", "_a", "_a ="},
      {"2a = :v", "2a", "2a ="},
      {"a. = :v", "=", ". = :v"},
      {".a = :v", ".", ".a"},
      {"a.:v = :v", ":v", ".:v ="},
      {"a.1 = :v", "1", ".1 ="},
      {"a[] = :v", "]", "[] ="},
      {"a[-1] = :v", "-", "[-1"},
      {"a[b] = :v", "b", "[b]"},
      {"a[:v] = :v", ":v", "[:v]"},
      {"a[1 = :v", "=", "1 = :v"},
      {"[1] = :v", "[", "[1"},
      {"# = :v", "#", "# ="},
      {"a = :", ":", "= :"},
      {"(a = :v", "<EOF>", ":v"},
      {"a = :v)", ")", ":v)"},
      {"()", ")", "()"},
      {"(a)", "<EOF>", ")"},
      {"(a) AND b = :v", "AND", ") AND b"},
      {"(a AND b = :v)", "AND", "a AND b"},
      {"NOT a", "<EOF>", "a"},
      {"(NOT a)", ")", "a)"},
      {"(NOT a) = :v", ")", "a) ="},
      {"(a = :v OR b)", ")", "b)"},
      {"NOT (a)", "<EOF>", ")"},
      {"a = NOT :v", "NOT", "= NOT :v"},
      {"a = :v AND", "<EOF>", "AND"},
      {"AND = :v", "AND", "AND ="},
      {"a.or = :v", "or", ".or ="},
      {"a BETWEEN :v", "<EOF>", ":v"},
      {"a BETWEEN :v OR :w", "OR", ":v OR :w"},
      {"a NOT BETWEEN :v AND :w", "NOT", "a NOT BETWEEN"},
      {"a IN :v", ":v", "IN :v"},
      {"a IN ()", ")", "()"},
      {"a IN (:v,)", ")", ",)"},
      {"a = b = c", "=", "b = c"},
      {"a + b = :v", "+", "a + b"},
      {"a = (b = c)", "=", "b = c"},
      {"(a = b) = c", "=", ") = c"},
      {"a, b", ",", "a, b"},
      {"a = \xc3\xa4", "\xc3\xa4", "= \xc3\xa4"},
  };
  for (const Row& row : rows) {
    std::string message = "Syntax error; token: \"" + row.token + "\", near: \"" + row.near + "\"";
    ExpectRefusals({{row.text, message}});
  }
}

// Function names are case-sensitive, and each function is allowed only in its place (EXP-04, EXP-05).
TEST(ConditionSyntax, ChecksFunctions) {
  ExpectRefusals({
      {"foo(a)", "Invalid function name; function: foo"},
      {"Contains(a, :v)", "Invalid function name; function: Contains"},
      {"SIZE(a) = :v", "Invalid function name; function: SIZE"},
      {"if_not_exists(a, :v)",
       "The function is not allowed in a condition expression; function: if_not_exists"},
      {"a = list_append(b, :l)",
       "The function is not allowed in a condition expression; function: list_append"},
      {"size(a)", "The function is not allowed to be used this way in an expression; function: size"},
      {"NOT size(a)", "The function is not allowed to be used this way in an expression; function: size"},
      {"size(size(a)) = :v",
       "The function is not allowed to be used this way in an expression; function: size"},
      {"contains(a, size(b))",
       "The function is not allowed to be used this way in an expression; function: size"},
      {"a = contains(b, :v)",
       "The function is not allowed to be used this way in an expression; function: contains"},
      {"attribute_exists(a, b)",
       "Incorrect number of operands for operator or function; operator or function: attribute_exists, "
       "number of "
       "operands: 2"},
      {"contains(a)",
       "Incorrect number of operands for operator or function; operator or function: contains, number of "
       "operands: 1"},
      {"size(a, b) = :v",
       "Incorrect number of operands for operator or function; operator or function: size, number of "
       "operands: 2"},
      {"attribute_exists(:v)",
       "Operator or function requires a document path; operator or function: attribute_exists"},
      {"attribute_not_exists(:v)",
       "Operator or function requires a document path; operator or function: attribute_not_exists"},
      {"attribute_type(size(a), :t)",
       "The function is not allowed to be used this way in an expression; function: size"},
  });
}

// The types of literal operands are checked before any item is read (EXP-13, EXP-15 to EXP-19).
TEST(ConditionSyntax, ChecksTypesOfLiterals) {
  auto type = [](std::string operation, std::string name) {
    return "Incorrect operand type for operator or function; operator or function: " + operation +
           ", operand type: " + name;
  };
  ExpectRefusals({
      {"a < :bool", type("<", "BOOL")},
      {":l >= a", type(">=", "L")},
      {"a > :ss", type(">", "SS")},
      {"a BETWEEN :bool AND :v", type("BETWEEN", "BOOL")},
      {":m BETWEEN a AND b", type("BETWEEN", "M")},
      {"begins_with(a, :v)", type("begins_with", "N")},
      {"begins_with(:l, a)", type("begins_with", "L")},
      {"attribute_type(a, :v)", type("attribute_type", "N")},
      {"attribute_type(a, :bad)",
       "Invalid attribute type name found; type: FOO, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
      {"attribute_type(a, b)", type("attribute_type", "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}")},
      {"attribute_exists(a) = :v",
       "The function is not allowed to be used this way in an expression; function: attribute_exists"},
      {"(contains(a, b)) IN (:v)",
       "The function is not allowed to be used this way in an expression; function: contains"},
      {"size(:v) = a", type("size", "N")},
      {"size(:bool) = a", type("size", "BOOL")},
      {"size(:null) = a", type("size", "NULL")},
      {"a BETWEEN :v AND :s",
       "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: "
       "AttributeValue: "
       "{N:1}, upper bound operand: AttributeValue: {S:x}"},
      {"a BETWEEN :w AND :v",
       "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound "
       "operand: "
       "AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}"},
  });
}

// A path must not be compared with itself, also if one side is a placeholder for it (EXP-17).
TEST(ConditionSyntax, RefusesAPathComparedWithItself) {
  auto same = [](std::string operation, std::string path) {
    return "The first operand must be distinct from the remaining operands for this operator or function; "
           "operator: " +
           operation + ", first operand: " + path;
  };
  ExpectRefusals({
      {"a = a", same("=", "[a]")},
      {"a.b[1] <> a.b[1]", same("<>", "[a, b, [1]]")},
      {"zero < #0", same("<", "[zero]")},
      {"a BETWEEN :v AND a", same("BETWEEN", "[a]")},
      {"a IN (:v, a)", same("IN", "[a]")},
      {"contains(a, a)", same("contains", "[a]")},
      {"begins_with(a, a)", same("begins_with", "[a]")},
  });
}

// An undefined placeholder is an error even in branches that are never evaluated (SEM-024).
TEST(ConditionSyntax, RefusesUndefinedPlaceholders) {
  ExpectRefusals({
      {"a = :x", "An expression attribute value used in expression is not defined; attribute value: :x"},
      {"#x = :v",
       "An expression attribute name used in the document path is not defined; attribute name: #x"},
      {"a = :v OR a = :v OR b.#nope = :v",
       "An expression attribute name used in the document path is not defined; attribute name: #nope"},
      // A placeholder is a whole token: :vv is not :v.
      {"a = :vv", "An expression attribute value used in expression is not defined; attribute value: :vv"},
  });
}

// Parentheses directly inside parentheses are refused (SEM-025).
TEST(ConditionSyntax, RefusesRedundantParentheses) {
  for (std::string_view text :
       {"((a = :v))", "(((a = :v)))", "NOT ((a = :v))", "((a = :v)) AND b = :w", "((a)) = :v", "a = ((:v))",
        "a IN (((:v)))", "((a = :v AND b = :w))", "((contains(a, :v)))"}) {
    ExpectRefusals({{text, "The expression has redundant parentheses;"}});
  }
}

// The limit counts the bytes of the whole text, including spaces (SEM-019).
TEST(ConditionSyntax, LimitsTheTextTo4096Bytes) {
  std::string text = "a = :v";
  text.resize(kMaxExpressionBytes, ' ');
  EXPECT_TRUE(Compile(text).ok());
  text += ' ';
  EXPECT_EQ(
      MessageOf(Compile(text)),
      "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; expression size: "
      "4097, maximum: 4096");
  ExpectRefusals({{"", "The expression can not be empty;"}, {" \t\n", "The expression can not be empty;"}});
}

std::string Repeat(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

// Comparisons, BETWEEN, IN, AND, OR and NOT count; BETWEEN's AND, functions and parentheses do not (SEM-020).
TEST(ConditionSyntax, LimitsOperatorsTo300) {
  auto refused = [](int count) {
    return "Invalid ConditionExpression: The expression contains too many operators; operator count: " +
           std::to_string(count);
  };
  // 1 + 149 * 2 = 299 operators.
  std::string text = "a=:v" + Repeat(" OR a=:v", 149);
  EXPECT_TRUE(Compile(text).ok());
  EXPECT_TRUE(Compile("NOT " + text).ok());
  EXPECT_EQ(MessageOf(Compile("NOT NOT " + text)), refused(301));
  EXPECT_EQ(MessageOf(Compile(text + " OR a=:v")), refused(301));
  EXPECT_EQ(MessageOf(Compile(text + " AND a=:v")), refused(301));
  EXPECT_TRUE(Compile(text + " OR attribute_exists(a)").ok());
  EXPECT_EQ(MessageOf(Compile(text + " OR a BETWEEN :v AND :w")), refused(301));
  EXPECT_EQ(MessageOf(Compile(text + " OR a IN (:v)")), refused(301));
  EXPECT_TRUE(Compile("NOT a BETWEEN :v AND :w" + Repeat(" OR a=:v", 149)).ok());
  EXPECT_TRUE(Compile("contains(a,:v)" + Repeat(" OR contains(a,:v)", 200)).ok());
  EXPECT_EQ(MessageOf(Compile(Repeat("NOT ", 900) + "a=:v")), refused(901));
}

// IN takes at most 100 operands (SEM-021).
TEST(ConditionSyntax, LimitsInTo100Operands) {
  EXPECT_TRUE(Compile("a IN (:v" + Repeat(",:v", 99) + ")").ok());
  EXPECT_EQ(MessageOf(Compile("a IN (:v" + Repeat(",:v", 100) + ")")),
            "Invalid ConditionExpression: The IN operator is provided with too many operands; number of "
            "operands: 101");
}

// A path has at most 32 elements (SEM-017).
TEST(ConditionSyntax, LimitsPathsTo32Elements) {
  EXPECT_TRUE(Compile(Concat({"a", Repeat(".b", 31), " = :v"})).ok());
  EXPECT_EQ(MessageOf(Compile(Concat({"a", Repeat("[1]", 32), " = :v"}))),
            "Invalid ConditionExpression: The document path has too many nesting elements; nesting levels: "
            "33, maximum: "
            "32");
  ExpectRefusals({{"a[2147483648] = :v", "List index is not within the allowable range; index: [2147483648]"},
                  {"a[99999999999999999999] = :v",
                   "List index is not within the allowable range; index: [99999999999999999999]"}});
}

// Nesting is possible up to the limit of operators; deeper texts are refused before the stack gets deep.
TEST(ConditionSyntax, NestsAsDeepAsOperatorsReach) {
  // 300 operators: 299 NOTs, one comparison.
  EXPECT_TRUE(Compile(Repeat("NOT (", 299) + "a=:v" + Repeat(")", 299)).ok());
  EXPECT_TRUE(Compile(Repeat("(a=:v OR ", 149) + "a=:v" + Repeat(")", 149)).ok());
  std::string deep =
      "Invalid ConditionExpression: The expression nests parentheses or functions too deeply; the "
      "maximum is 302 levels";
  EXPECT_EQ(MessageOf(Compile(Repeat("(", 4000))), deep);
  EXPECT_EQ(MessageOf(Compile(Repeat("NOT (", 800))), deep);
}

TEST(ConditionSyntax, ErrorsNameTheExpression) {
  Placeholders placeholders;
  absl::Status status = Condition::Compile("FilterExpression", "a", placeholders).status();
  EXPECT_EQ(MessageOf(status), R"(Invalid FilterExpression: Syntax error; token: "<EOF>", near: "a")");
}

}  // namespace
}  // namespace itemdb::storage
