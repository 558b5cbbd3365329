#include "storage/partiql/expression_parser.h"

#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/expressions/comparator.h"
#include "storage/values/number.h"
#include "storage/values/value_view.h"

namespace itemdb::storage::partiql {
namespace {

struct Function {
  std::string_view name;
  ConditionKind kind;
  size_t arguments;
  // Whether the first argument must be a document path.
  bool path_first;
};
constexpr std::array<Function, 6> kFunctions = {{
    {"ATTRIBUTE_EXISTS", ConditionKind::kAttributeExists, 1, true},
    {"ATTRIBUTE_NOT_EXISTS", ConditionKind::kAttributeNotExists, 1, true},
    {"ATTRIBUTE_TYPE", ConditionKind::kAttributeType, 2, true},
    {"BEGINS_WITH", ConditionKind::kBeginsWith, 2, false},
    {"CONTAINS", ConditionKind::kContains, 2, false},
    {"MISSING", ConditionKind::kAttributeNotExists, 1, true},
}};

const Function* FindFunction(const Token& name) {
  for (const Function& function : kFunctions) {
    if (IsWord(name, function.name)) return &function;
  }
  return nullptr;
}

constexpr std::array<std::string_view, 5> kAggregates = {"COUNT", "SUM", "AVG", "MIN", "MAX"};

// The type names that may follow IS, each with the name of the type in attribute_type.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kTypes = {
    {{"NULL", "NULL"},     {"STRING", "S"}, {"S", "S"},           {"NUMBER", "N"},      {"N", "N"},
     {"BINARY", "B"},      {"B", "B"},      {"BOOLEAN", "BOOL"},  {"BOOL", "BOOL"},     {"LIST", "L"},
     {"L", "L"},           {"MAP", "M"},    {"M", "M"},           {"STRING_SET", "SS"}, {"SS", "SS"},
     {"NUMBER_SET", "NS"}, {"NS", "NS"},    {"BINARY_SET", "BS"}, {"BS", "BS"},         {"STRUCT", "M"},
     {"TUPLE", "M"}}};

}  // namespace

uint32_t ExpressionParser::AddOperand(OperandKind kind, uint32_t first, uint32_t second) {
  statement_->operands.push_back({kind, first, second});
  return static_cast<uint32_t>(statement_->operands.size() - 1);
}

uint32_t ExpressionParser::AddValueOperand(std::string canonical) {
  statement_->values.push_back(std::move(canonical));
  return AddOperand(OperandKind::kValue, static_cast<uint32_t>(statement_->values.size() - 1));
}

uint32_t ExpressionParser::AddCondition(ConditionKind kind, const std::vector<uint32_t>& links) {
  statement_->conditions.push_back({.kind = kind,
                                    .first = static_cast<uint32_t>(statement_->links.size()),
                                    .count = static_cast<uint32_t>(links.size())});
  statement_->links.insert(statement_->links.end(), links.begin(), links.end());
  return static_cast<uint32_t>(statement_->conditions.size() - 1);
}

uint32_t ExpressionParser::Negated(bool negated, uint32_t condition) {
  return negated ? AddCondition(ConditionKind::kNot, {condition}) : condition;
}

// ---- conditions ----------------------------------------------------------------------------------

std::optional<uint32_t> ExpressionParser::ParseCondition() {
  return ParseChain(ConditionKind::kOr, "OR", &ExpressionParser::ParseConjunction);
}

std::optional<uint32_t> ExpressionParser::ParseConjunction() {
  return ParseChain(ConditionKind::kAnd, "AND", &ExpressionParser::ParseNegation);
}

// Terms separated by `keyword`, as one condition with all terms as operands.
std::optional<uint32_t> ExpressionParser::ParseChain(
    ConditionKind kind, std::string_view keyword, std::optional<uint32_t> (ExpressionParser::*parse_term)()) {
  std::optional<uint32_t> first = (this->*parse_term)();
  if (!first || !AtWord(keyword)) return first;
  std::vector<uint32_t> terms = {*first};
  while (AcceptWord(keyword)) {
    if (!CountOperator()) return std::nullopt;
    std::optional<uint32_t> term = (this->*parse_term)();
    if (!term) return std::nullopt;
    terms.push_back(*term);
  }
  return AddCondition(kind, terms);
}

// A chain of NOTs is parsed by a loop: a recursion would not be bounded, as NOT needs no parentheses.
std::optional<uint32_t> ExpressionParser::ParseNegation() {
  bool negated = false;
  while (AcceptWord("NOT")) {
    if (!CountOperator()) return std::nullopt;
    negated = !negated;
  }
  std::optional<uint32_t> condition;
  if (At(TokenKind::kLeftParenthesis)) {
    Nesting nesting(*this);
    if (!nesting.ok()) return std::nullopt;
    Take();
    condition = ParseCondition();
    if (condition && !Expect(TokenKind::kRightParenthesis, ")")) return std::nullopt;
  } else {
    condition = ParsePredicate();
  }
  if (!condition) return std::nullopt;
  return Negated(negated, *condition);
}

std::optional<uint32_t> ExpressionParser::ParsePredicate() {
  const bool before_parenthesis = Peek(1).kind == TokenKind::kLeftParenthesis;
  if (before_parenthesis && FindFunction(Peek()) != nullptr) return ParseFunction();
  if (before_parenthesis && AtWord("EXISTS")) {
    return Refuse("PQL-06",
                  "EXISTS is a statement of its own, in ExecuteTransaction only; it cannot be part of "
                  "a condition",
                  Peek());
  }
  std::optional<uint32_t> left = ParseOperand();
  if (!left) return std::nullopt;
  return ParseComparison(*left);
}

std::optional<uint32_t> ExpressionParser::ParseComparison(uint32_t left) {
  if (std::optional<ConditionKind> comparator = ComparatorOf(Peek().kind)) {
    Take();
    if (AtWord("MISSING")) return Refuse("PQL-18", "MISSING must be compared using IS operator", Peek());
    if (!CountOperator()) return std::nullopt;
    std::optional<uint32_t> right = ParseOperand();
    if (!right) return std::nullopt;
    return AddCondition(*comparator, {left, *right});
  }
  if (AtWord("LIKE")) return Refuse("PQL-11", "LIKE is not supported; use begins_with or contains", Peek());
  if (AcceptWord("IS")) return ParseIs(left);
  const bool negated = AcceptWord("NOT");
  if (negated && !CountOperator()) return std::nullopt;
  std::optional<uint32_t> condition;
  if (AcceptWord("BETWEEN")) {
    condition = ParseBetween(left);
  } else if (AcceptWord("IN")) {
    condition = ParseIn(left);
  } else {
    return Expected(negated ? "BETWEEN or IN" : "a comparison (=, <>, !=, <, <=, >, >=, BETWEEN, IN or IS)");
  }
  if (!condition) return std::nullopt;
  return Negated(negated, *condition);
}

std::optional<uint32_t> ExpressionParser::ParseBetween(uint32_t left) {
  if (!CountOperator()) return std::nullopt;
  std::optional<uint32_t> lower = ParseOperand();
  if (!lower || !ExpectWord("AND")) return std::nullopt;
  std::optional<uint32_t> upper = ParseOperand();
  if (!upper) return std::nullopt;
  return AddCondition(ConditionKind::kBetween, {left, *lower, *upper});
}

std::optional<uint32_t> ExpressionParser::ParseIn(uint32_t left) {
  if (!CountOperator()) return std::nullopt;
  const Token open = Peek();
  TokenKind close = TokenKind::kRightParenthesis;
  bool has_values = false;
  if (Accept(TokenKind::kLeftBracket)) {
    close = TokenKind::kRightBracket;
    has_values = !At(close);
  } else if (Accept(TokenKind::kLeftParenthesis)) {
    has_values = true;
  }
  if (!has_values) {
    return Refuse("PQL-08",
                  "IN operator must have a left hand argument of type Variable Reference and right hand "
                  "argument of type Seq with at least one member",
                  Peek());
  }
  if (AtWord("SELECT")) return Refuse("PQL-11", "Sub-selects are not supported", Peek());
  std::vector<uint32_t> operands = {left};
  do {
    std::optional<uint32_t> operand = ParseOperand();
    if (!operand) return std::nullopt;
    operands.push_back(*operand);
  } while (Accept(TokenKind::kComma));
  if (!Expect(close, close == TokenKind::kRightBracket ? ", or ]" : ", or )")) return std::nullopt;
  if (operands.size() - 1 > kMaxInOperands) {
    return Refuse("PQL-08",
                  absl::StrCat("The IN operator has too many operands; at most ", kMaxInOperands,
                               " are allowed, and it has ", operands.size() - 1),
                  open);
  }
  return AddCondition(ConditionKind::kIn, operands);
}

std::optional<uint32_t> ExpressionParser::ParseIs(uint32_t left) {
  if (!CountOperator()) return std::nullopt;
  const bool negated = AcceptWord("NOT");
  if (!CheckIsPath(left, "IS", Peek())) return std::nullopt;
  if (AcceptWord("MISSING")) {
    return AddCondition(negated ? ConditionKind::kAttributeExists : ConditionKind::kAttributeNotExists,
                        {left});
  }
  for (const auto& [name, type] : kTypes) {
    if (!AcceptWord(name)) continue;
    uint32_t type_operand = AddValueOperand(EncodeValue(ValueType::kS, type));
    return Negated(negated, AddCondition(ConditionKind::kAttributeType, {left, type_operand}));
  }
  return Expected(
      "MISSING, NULL or a type (STRING, NUMBER, BINARY, BOOLEAN, LIST, MAP, STRING_SET, NUMBER_SET or "
      "BINARY_SET)");
}

std::optional<uint32_t> ExpressionParser::ParseFunction() {
  const Function& function = *FindFunction(Take());
  Take();
  std::vector<uint32_t> arguments;
  for (size_t i = 0; i < function.arguments; ++i) {
    if (i > 0 && !Expect(TokenKind::kComma, ",")) return std::nullopt;
    const Token first = Peek();
    std::optional<uint32_t> argument = ParseOperand();
    if (!argument) return std::nullopt;
    if (i == 0 && function.path_first && !CheckIsPath(*argument, function.name, first)) return std::nullopt;
    if (statement_->operands[*argument].kind == OperandKind::kSize)
      return Refuse("EXP-05", "SIZE is only allowed in a comparison", first);
    arguments.push_back(*argument);
  }
  if (!Expect(TokenKind::kRightParenthesis, ")")) return std::nullopt;
  return ParseTruth(AddCondition(function.kind, arguments));
}

// A function may be compared with a truth value: `attribute_exists(a) = true`.
std::optional<uint32_t> ExpressionParser::ParseTruth(uint32_t condition) {
  const bool equal = At(TokenKind::kEqual);
  if (!equal && !At(TokenKind::kNotEqual)) return condition;
  Take();
  if (!CountOperator()) return std::nullopt;
  const Token token = Peek();
  if (!AtValue()) return Expected("true, false or a parameter");
  std::optional<uint32_t> value = ParseValue();
  if (!value) return std::nullopt;
  const ValueView truth(statement_->values[*value]);
  if (truth.type() != ValueType::kBool)
    return Refuse("PQL-09", "A function is true or false, and is compared with true or false only", token);
  return Negated(equal != truth.boolean(), condition);
}

// ---- operands of conditions ----------------------------------------------------------------------

std::optional<uint32_t> ExpressionParser::ParsePathOperand() {
  std::optional<uint32_t> path = ParsePath();
  if (!path) return std::nullopt;
  return AddOperand(OperandKind::kPath, *path);
}

bool ExpressionParser::CheckIsPath(uint32_t operand, std::string_view function, const Token& token) {
  if (statement_->operands[operand].kind == OperandKind::kPath) return true;
  Refuse("EXP-04", absl::StrCat(std::string(function), " works on an attribute"), token);
  return false;
}

std::optional<uint32_t> ExpressionParser::ParseOperand() {
  Nesting nesting(*this);
  if (!nesting.ok()) return std::nullopt;
  if (Accept(TokenKind::kLeftParenthesis)) {
    if (AtWord("SELECT")) return Refuse("PQL-11", "Sub-selects are not supported", Peek());
    std::optional<uint32_t> operand = ParseOperand();
    if (!operand || !Expect(TokenKind::kRightParenthesis, ")")) return std::nullopt;
    return operand;
  }
  if (AtValue()) return ParseConstant();
  if (AtFunction()) {
    if (AtAggregate()) return RefuseAggregate();
    const Token name = Peek();
    if (!AcceptWord("SIZE"))
      return Refuse("PQL-09", "Unknown function, or one that is not allowed here", name);
    Take();
    const Token first = Peek();
    std::optional<uint32_t> measured = ParseOperand();
    if (!measured || !Expect(TokenKind::kRightParenthesis, ")")) return std::nullopt;
    if (statement_->operands[*measured].kind == OperandKind::kSize)
      return Refuse("EXP-05", "SIZE is only allowed in a comparison", first);
    return AddOperand(OperandKind::kSize, *measured);
  }
  if (!AtPath()) return Expected("an attribute, a literal, a parameter or SIZE");
  std::optional<uint32_t> operand = ParsePathOperand();
  if (operand && (At(TokenKind::kPlus) || At(TokenKind::kMinus)))
    return Refuse("PQL-07", "In a condition + and - take literals and parameters only", Peek());
  return operand;
}

// Sums of literals and parameters are computed while parsing, because conditions have no arithmetic.
std::optional<uint32_t> ExpressionParser::ParseConstant() {
  std::optional<uint32_t> value = ParseValue();
  if (!value) return std::nullopt;
  if (!At(TokenKind::kPlus) && !At(TokenKind::kMinus)) return AddOperand(OperandKind::kValue, *value);
  std::string result = statement_->values[*value];
  while (At(TokenKind::kPlus) || At(TokenKind::kMinus)) {
    const Token sign = Take();
    if (!CountOperator()) return std::nullopt;
    if (!AtValue())
      return Refuse("PQL-07", "In a condition + and - take literals and parameters only", Peek());
    std::optional<uint32_t> other = ParseValue();
    if (!other) return std::nullopt;
    const ValueView left(result), right(statement_->values[*other]);
    if (left.type() != ValueType::kN || right.type() != ValueType::kN)
      return Refuse("EXP-30", "+ and - take numbers", sign);
    absl::StatusOr<Number> a = Number::Parse(left.payload());
    absl::StatusOr<Number> b = Number::Parse(right.payload());
    if (!a.ok() || !b.ok()) return Refuse("EXP-30", "+ and - take numbers", sign);
    absl::StatusOr<Number> sum =
        sign.kind == TokenKind::kPlus ? Number::Add(*a, *b) : Number::Subtract(*a, *b);
    if (!sum.ok()) return Refuse(sum.status(), sign);
    result = EncodeValue(ValueType::kN, sum->ToString());
  }
  return AddValueOperand(std::move(result));
}

bool ExpressionParser::AtAggregate() const {
  if (!AtFunction()) return false;
  for (std::string_view name : kAggregates) {
    if (AtWord(name)) return true;
  }
  return false;
}

std::nullopt_t ExpressionParser::RefuseAggregate() {
  return Refuse("PQL-11", "Aggregate functions are not supported", Peek());
}

// ---- SET and REMOVE ------------------------------------------------------------------------------

bool ExpressionParser::ParseRemoval() {
  std::optional<uint32_t> path = ParsePath();
  if (!path) return false;
  statement_->actions.push_back({.kind = UpdateActionKind::kRemove, .path = *path});
  return true;
}

bool ExpressionParser::ParseChange() {
  std::optional<uint32_t> target = ParsePath();
  if (!target || !Expect(TokenKind::kEqual, "=")) return false;
  if (AtFunction() && AtWord("SET_ADD")) return ParseSetFunction(*target, UpdateActionKind::kAdd);
  if (AtFunction() && AtWord("SET_DELETE")) return ParseSetFunction(*target, UpdateActionKind::kDelete);
  std::optional<uint32_t> value = ParseSum();
  if (!value) return false;
  statement_->actions.push_back({.kind = UpdateActionKind::kSet, .path = *target, .operand = *value});
  return true;
}

// `a = set_add(a, <<...>>)` becomes ADD, and `a = set_delete(a, <<...>>)` becomes DELETE. Both change the
// attribute in place, so the target and the first argument must be the same path.
bool ExpressionParser::ParseSetFunction(uint32_t target, UpdateActionKind kind) {
  const Token name = Take();
  Take();
  const Token first = Peek();
  std::optional<uint32_t> path = ParsePath();
  if (!path) return false;
  if (!SamePath(*path, target)) {
    Refuse(WithServiceText(
               absl::StrCat("The first argument to ", absl::AsciiStrToUpper(std::string(name.text)),
                            " must equal the assignment value"),
               ValidationError("PQL-09", absl::StrCat(std::string(name.text),
                                                      " changes the attribute that it is assigned "
                                                      "to: its first argument must be the same path"))),
           first);
    return false;
  }
  if (!Expect(TokenKind::kComma, ",")) return false;
  const Token second = Peek();
  std::optional<uint32_t> value = ParseValue();
  if (!value) return false;
  switch (ValueView(statement_->values[*value]).type()) {
    case ValueType::kSS:
    case ValueType::kNS:
    case ValueType::kBS:
      break;
    default:
      Refuse("PQL-09", absl::StrCat("The second argument of ", std::string(name.text), " must be a set"),
             second);
      return false;
  }
  if (!Expect(TokenKind::kRightParenthesis, ")")) return false;
  statement_->actions.push_back(
      {.kind = kind, .path = target, .operand = AddOperand(OperandKind::kValue, *value)});
  return true;
}

bool ExpressionParser::SamePath(uint32_t a, uint32_t b) const {
  const PathSyntax& left = statement_->paths[a];
  const PathSyntax& right = statement_->paths[b];
  if (left.count != right.count) return false;
  for (uint32_t i = 0; i < left.count; ++i) {
    const Step& x = statement_->steps[left.first + i];
    const Step& y = statement_->steps[right.first + i];
    if (x.is_index != y.is_index || x.index != y.index || x.name != y.name) return false;
  }
  return true;
}

std::optional<uint32_t> ExpressionParser::ParseSum() {
  std::optional<uint32_t> left = ParseTerm();
  while (left && (At(TokenKind::kPlus) || At(TokenKind::kMinus))) {
    bool plus = Take().kind == TokenKind::kPlus;
    if (!CountOperator()) return std::nullopt;
    std::optional<uint32_t> right = ParseTerm();
    if (!right) return std::nullopt;
    left = AddOperand(plus ? OperandKind::kPlus : OperandKind::kMinus, *left, *right);
  }
  return left;
}

std::optional<uint32_t> ExpressionParser::ParseTerm() {
  Nesting nesting(*this);
  if (!nesting.ok()) return std::nullopt;
  if (Accept(TokenKind::kLeftParenthesis)) {
    std::optional<uint32_t> sum = ParseSum();
    if (!sum || !Expect(TokenKind::kRightParenthesis, ")")) return std::nullopt;
    return sum;
  }
  if (AtValue()) {
    std::optional<uint32_t> value = ParseValue();
    if (!value) return std::nullopt;
    return AddOperand(OperandKind::kValue, *value);
  }
  if (!AtFunction()) {
    if (!AtPath()) return Expected("an attribute, a literal, a parameter or a function");
    return ParsePathOperand();
  }
  const Token name = Peek();
  if (AtAggregate()) return RefuseAggregate();
  if (!AcceptWord("LIST_APPEND")) {
    return Refuse("PQL-09",
                  "Unknown function, or one that is not allowed here; SET knows list_append, set_add and "
                  "set_delete",
                  name);
  }
  Take();
  std::optional<uint32_t> first = ParseSum();
  if (!first || !Expect(TokenKind::kComma, ",")) return std::nullopt;
  std::optional<uint32_t> second = ParseSum();
  if (!second || !Expect(TokenKind::kRightParenthesis, ")")) return std::nullopt;
  return AddOperand(OperandKind::kListAppend, *first, *second);
}

}  // namespace itemdb::storage::partiql
