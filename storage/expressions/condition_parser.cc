// The grammar of conditions, filters and key conditions (EXP-03..07):
//
// clang-format off
//   condition   = conjunction *( OR conjunction )
//   conjunction = factor *( AND factor )
//   factor      = *NOT ( "(" condition ")" / function / comparison )
//   comparison  = operand ( comparator operand
//                         / BETWEEN operand AND operand
//                         / IN "(" operand *( "," operand ) ")" )
//   operand     = path / ":value" / size "(" operand ")" / "(" operand ")"
// clang-format on
//
// Only the matching ")" shows whether the parentheses hold an operand or a condition. So the functions that
// parse conditions may return an operand when their caller has just opened a parenthesis.
#include <array>
#include <optional>
#include <vector>

#include "storage/expressions/comparator.h"
#include "storage/expressions/grammar.h"

namespace itemdb::storage {
namespace {

constexpr std::array<std::string_view, 5> kConditionKeywords = {"AND", "OR", "NOT", "BETWEEN", "IN"};

struct Function {
  std::string_view name;
  ConditionKind kind;
  size_t arguments;
  // Whether the first argument must be a document path.
  bool path_first;
};
constexpr std::array<Function, 5> kFunctions = {{
    {"attribute_exists", ConditionKind::kAttributeExists, 1, true},
    {"attribute_not_exists", ConditionKind::kAttributeNotExists, 1, true},
    {"attribute_type", ConditionKind::kAttributeType, 2, false},
    {"begins_with", ConditionKind::kBeginsWith, 2, false},
    {"contains", ConditionKind::kContains, 2, false},
}};

const Function* FindFunction(std::string_view name) {
  for (const Function& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

// A condition or an operand.
struct Parsed {
  bool is_operand = false;
  // Whether all of it was in one pair of parentheses.
  bool in_parentheses = false;
  // Position in Tree::operands or Tree::conditions.
  uint32_t position = 0;
};

class ConditionParser : public Grammar {
 public:
  ConditionParser(std::string_view expression_name, Tree* tree)
      : Grammar(expression_name, kConditionKeywords, tree) {}

  void Parse() {
    std::optional<Parsed> condition = ParseCondition(/*operand_allowed=*/false);
    if (!condition || !Finish()) return;
    tree_->root = condition->position;
  }

 private:
  std::optional<Parsed> ParseCondition(bool operand_allowed) {
    return ParseChain(ConditionKind::kOr, "OR", operand_allowed, &ConditionParser::ParseConjunction);
  }

  std::optional<Parsed> ParseConjunction(bool operand_allowed) {
    return ParseChain(ConditionKind::kAnd, "AND", operand_allowed, &ConditionParser::ParseFactor);
  }

  // Parses terms separated by `keyword` into one flat condition.
  std::optional<Parsed> ParseChain(ConditionKind kind, std::string_view keyword, bool operand_allowed,
                                   std::optional<Parsed> (ConditionParser::*parse_term)(bool)) {
    std::optional<Parsed> first = (this->*parse_term)(operand_allowed);
    if (!first || first->is_operand || !AtKeyword(keyword)) return first;
    std::vector<uint32_t> terms = {first->position};
    while (AcceptKeyword(keyword)) {
      CountOperator();
      std::optional<Parsed> term = (this->*parse_term)(false);
      if (!term) return std::nullopt;
      terms.push_back(term->position);
    }
    return Add(kind, terms);
  }

  // NOTs are counted in a loop: they need no parentheses, so nothing would bound a recursion.
  std::optional<Parsed> ParseFactor(bool operand_allowed) {
    bool negated = false;
    bool any_not = false;
    while (AcceptKeyword("NOT")) {
      CountOperator();
      negated = !negated;
      any_not = true;
    }
    std::optional<Parsed> factor = ParsePositiveFactor(operand_allowed && !any_not);
    if (!factor || !any_not) return factor;
    if (negated) return Add(ConditionKind::kNot, {factor->position});
    factor->in_parentheses = false;
    return factor;
  }

  std::optional<Parsed> ParsePositiveFactor(bool operand_allowed) {
    if (AtFunction() && FindFunction(Peek().text) != nullptr) return RefuseComparison(ParseFunction());
    std::optional<Parsed> left;
    if (Peek().kind == TokenKind::kLeftParenthesis) {
      left = ParseParentheses();
      if (!left || !left->is_operand) return RefuseComparison(left);
    } else {
      std::optional<uint32_t> operand = ParseOperand();
      if (!operand) return std::nullopt;
      left = Parsed{.is_operand = true, .position = *operand};
    }
    if (operand_allowed && Peek().kind == TokenKind::kRightParenthesis) return left;
    return ParseComparison(left->position);
  }

  // `condition`, unless it is a function, such as attribute_exists, that is compared.
  std::optional<Parsed> RefuseComparison(std::optional<Parsed> condition) {
    if (!condition || !(ComparatorOf(Peek().kind) || AtKeyword("BETWEEN") || AtKeyword("IN")))
      return condition;
    const std::string_view name = ConditionName(tree_->conditions[condition->position].kind);
    return FindFunction(name) != nullptr ? Misplaced(name) : condition;
  }

  std::optional<Parsed> ParseParentheses() {
    Nesting nesting(*this);
    if (!nesting.ok() || !Expect(TokenKind::kLeftParenthesis)) return std::nullopt;
    std::optional<Parsed> inner = ParseCondition(/*operand_allowed=*/true);
    if (!inner || !Expect(TokenKind::kRightParenthesis)) return std::nullopt;
    if (inner->in_parentheses) return Fail("SEM-025", {"The expression has redundant parentheses;"});
    inner->in_parentheses = true;
    return inner;
  }

  // Parses the rest of a comparison after its first operand.
  std::optional<Parsed> ParseComparison(uint32_t left) {
    if (std::optional<ConditionKind> comparator = ComparatorOf(Peek().kind)) {
      Take();
      CountOperator();
      std::optional<uint32_t> right = ParseOperand();
      if (!right) return std::nullopt;
      return Add(*comparator, {left, *right});
    }
    if (AcceptKeyword("BETWEEN")) {
      CountOperator();
      std::optional<uint32_t> lower = ParseOperand();
      if (!lower) return std::nullopt;
      if (!AcceptKeyword("AND")) return SyntaxError();
      std::optional<uint32_t> upper = ParseOperand();
      if (!upper) return std::nullopt;
      return Add(ConditionKind::kBetween, {left, *lower, *upper});
    }
    if (AcceptKeyword("IN")) {
      CountOperator();
      return ParseIn(left);
    }
    if (tree_->operands[left].kind == OperandKind::kSize) return Misplaced("size");
    return SyntaxError();
  }

  std::optional<Parsed> ParseIn(uint32_t left) {
    std::vector<uint32_t> operands = {left};
    if (!ParseArguments(&operands)) return std::nullopt;
    if (operands.size() - 1 > kMaxInOperands) {
      return Fail("SEM-021", {"The IN operator is provided with too many operands; number of operands: ",
                              std::to_string(operands.size() - 1)});
    }
    return Add(ConditionKind::kIn, operands);
  }

  std::optional<Parsed> ParseFunction() {
    const Function& function = *FindFunction(Take().text);
    std::vector<uint32_t> arguments;
    if (!ParseArguments(&arguments)) return std::nullopt;
    if (!CheckArgumentCount(function.name, arguments.size(), function.arguments)) return std::nullopt;
    if (function.path_first && !CheckIsPath(function.name, arguments[0])) return std::nullopt;
    for (uint32_t argument : arguments) {
      if (tree_->operands[argument].kind == OperandKind::kSize) return Misplaced("size");
    }
    return Add(function.kind, arguments);
  }

  // "(" operand *( "," operand ) ")"
  bool ParseArguments(std::vector<uint32_t>* arguments) {
    if (!Expect(TokenKind::kLeftParenthesis)) return false;
    do {
      std::optional<uint32_t> argument = ParseOperand();
      if (!argument) return false;
      arguments->push_back(*argument);
    } while (Accept(TokenKind::kComma));
    return Expect(TokenKind::kRightParenthesis);
  }

  std::optional<uint32_t> ParseOperand() {
    if (Peek().kind == TokenKind::kValue) return TakeValueOperand();
    if (AtFunction()) return ParseSize();
    if (Peek().kind != TokenKind::kLeftParenthesis) return ParsePathOperand();
    Nesting nesting(*this);
    if (!nesting.ok()) return std::nullopt;
    Take();
    if (Peek().kind == TokenKind::kLeftParenthesis)
      return Fail("SEM-025", {"The expression has redundant parentheses;"});
    std::optional<uint32_t> operand = ParseOperand();
    if (!operand || !Expect(TokenKind::kRightParenthesis)) return std::nullopt;
    return operand;
  }

  std::optional<uint32_t> ParseSize() {
    std::string_view name = Peek().text;
    if (name == "if_not_exists" || name == "list_append") {
      return Fail("EXP-04", {"The function is not allowed in a condition expression; function: ", name});
    }
    if (FindFunction(name) != nullptr) return Misplaced(name);
    if (name != "size") return Fail("EXP-04", {"Invalid function name; function: ", name});
    Nesting nesting(*this);
    if (!nesting.ok()) return std::nullopt;
    Take();
    std::vector<uint32_t> arguments;
    if (!ParseArguments(&arguments)) return std::nullopt;
    if (!CheckArgumentCount(name, arguments.size(), 1)) return std::nullopt;
    if (tree_->operands[arguments[0]].kind == OperandKind::kSize) return Misplaced(name);
    return AddOperand(OperandKind::kSize, arguments[0]);
  }

  std::nullopt_t Misplaced(std::string_view function) {
    return Fail("EXP-05",
                {"The function is not allowed to be used this way in an expression; function: ", function});
  }

  Parsed Add(ConditionKind kind, const std::vector<uint32_t>& links) {
    ConditionSyntax condition{.kind = kind,
                              .first = static_cast<uint32_t>(tree_->links.size()),
                              .count = static_cast<uint32_t>(links.size())};
    tree_->links.insert(tree_->links.end(), links.begin(), links.end());
    tree_->conditions.push_back(condition);
    return Parsed{.position = static_cast<uint32_t>(tree_->conditions.size() - 1)};
  }
};

}  // namespace

std::string_view ConditionName(ConditionKind kind) {
  switch (kind) {
    case ConditionKind::kEqual:
      return "=";
    case ConditionKind::kNotEqual:
      return "<>";
    case ConditionKind::kLess:
      return "<";
    case ConditionKind::kLessEqual:
      return "<=";
    case ConditionKind::kGreater:
      return ">";
    case ConditionKind::kGreaterEqual:
      return ">=";
    case ConditionKind::kBetween:
      return "BETWEEN";
    case ConditionKind::kIn:
      return "IN";
    case ConditionKind::kAnd:
      return "AND";
    case ConditionKind::kOr:
      return "OR";
    case ConditionKind::kNot:
      return "NOT";
    default:
      break;
  }
  for (const Function& function : kFunctions) {
    if (function.kind == kind) return function.name;
  }
  return "";
}

absl::Status ParseConditionInto(std::string_view expression_name, Tree* tree) {
  ConditionParser parser(expression_name, tree);
  parser.Parse();
  return parser.status();
}

}  // namespace itemdb::storage
