// The grammars of update expressions (EXP-09, EXP-10) and projection expressions (EXP-11):
//
// clang-format off
//   update     = 1*( SET set *( "," set ) / REMOVE path *( "," path )
//                  / ADD add *( "," add ) / DELETE add *( "," add ) )
//   set        = path "=" sum
//   sum        = term [ ( "+" / "-" ) term ]
//   term       = path / ":value" / if_not_exists "(" path "," term ")"
//              / list_append "(" term "," term ")" / "(" sum ")"
//   add        = path ":value"
//   projection = path *( "," path )
// clang-format on
//
// Each keyword comes at most once. A value has at most one operator, so a sum in parentheses cannot be a term
// of another sum or of a function.
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "storage/expressions/grammar.h"

namespace itemdb::storage {
namespace {

constexpr std::array<std::string_view, 4> kSections = {"SET", "REMOVE", "ADD", "DELETE"};
constexpr std::array<UpdateActionKind, 4> kKinds = {UpdateActionKind::kSet, UpdateActionKind::kRemove,
                                                    UpdateActionKind::kAdd, UpdateActionKind::kDelete};
constexpr std::array<std::string_view, 6> kConditionFunctions = {
    "attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size"};

class UpdateParser : public Grammar {
 public:
  UpdateParser(std::string_view expression_name, Tree* tree) : Grammar(expression_name, kSections, tree) {}

  void Parse() {
    std::array<bool, kSections.size()> seen{};
    do {
      size_t section = 0;
      while (section < kSections.size() && !AcceptKeyword(kSections[section])) ++section;
      if (section == kSections.size()) {
        SyntaxError();
        return;
      }
      if (std::exchange(seen[section], true)) {
        Fail("EXP-09",
             {"The \"", kSections[section], "\" section can only be used once in an update expression;"});
        return;
      }
      do {
        if (!ParseAction(kKinds[section])) return;
      } while (Accept(TokenKind::kComma));
    } while (Peek().kind != TokenKind::kEnd);
    Finish();
  }

 private:
  bool ParseAction(UpdateActionKind kind) {
    ActionSyntax action{.kind = kind};
    std::optional<uint32_t> path = ParsePath();
    if (!path) return false;
    action.path = *path;
    if (kind == UpdateActionKind::kSet) {
      if (!Expect(TokenKind::kEqual)) return false;
      std::optional<Term> value = ParseSum();
      if (!value) return false;
      action.operand = value->operand;
    } else if (kind == UpdateActionKind::kAdd || kind == UpdateActionKind::kDelete) {
      if (Peek().kind != TokenKind::kValue) {
        SyntaxError();
        return false;
      }
      action.operand = TakeValueOperand();
    }
    tree_->actions.push_back(action);
    return true;
  }

  // A value, and whether all of it was in one pair of parentheses.
  struct Term {
    uint32_t operand = 0;
    bool in_parentheses = false;
  };

  std::optional<Term> ParseSum() {
    std::optional<Term> left = ParseTerm();
    if (!left) return std::nullopt;
    bool plus = Peek().kind == TokenKind::kPlus;
    if (!plus && Peek().kind != TokenKind::kMinus) return left;
    if (IsSum(left->operand)) return SyntaxError();
    Take();
    CountOperator();
    std::optional<uint32_t> right = ParseSingleTerm();
    if (!right) return std::nullopt;
    return Term{AddOperand(plus ? OperandKind::kPlus : OperandKind::kMinus, left->operand, *right)};
  }

  // Parses a term that is not a sum in parentheses.
  std::optional<uint32_t> ParseSingleTerm() {
    std::optional<Term> term = ParseTerm();
    if (!term) return std::nullopt;
    if (IsSum(term->operand)) return SyntaxError();
    return term->operand;
  }

  std::optional<Term> ParseTerm() {
    if (Peek().kind == TokenKind::kLeftParenthesis) return ParseParentheses();
    std::optional<uint32_t> operand;
    if (Peek().kind == TokenKind::kValue) {
      operand = TakeValueOperand();
    } else {
      operand = AtFunction() ? ParseFunction() : ParsePathOperand();
    }
    if (!operand) return std::nullopt;
    return Term{*operand};
  }

  std::optional<Term> ParseParentheses() {
    Nesting nesting(*this);
    if (!nesting.ok() || !Expect(TokenKind::kLeftParenthesis)) return std::nullopt;
    std::optional<Term> sum = ParseSum();
    if (!sum || !Expect(TokenKind::kRightParenthesis)) return std::nullopt;
    if (sum->in_parentheses) return Fail("SEM-025", {"The expression has redundant parentheses;"});
    return Term{.operand = sum->operand, .in_parentheses = true};
  }

  std::optional<uint32_t> ParseFunction() {
    Nesting nesting(*this);
    if (!nesting.ok()) return std::nullopt;
    std::string_view name = Take().text;
    bool if_not_exists = name == "if_not_exists";
    if (!if_not_exists && name != "list_append") {
      for (std::string_view other : kConditionFunctions) {
        if (name == other)
          return Fail("EXP-10", {"The function is not allowed in an update expression; function: ", name});
      }
      return Fail("EXP-04", {"Invalid function name; function: ", name});
    }
    std::vector<uint32_t> arguments;
    if (!Expect(TokenKind::kLeftParenthesis)) return std::nullopt;
    do {
      std::optional<uint32_t> argument = ParseSingleTerm();
      if (!argument) return std::nullopt;
      arguments.push_back(*argument);
    } while (Accept(TokenKind::kComma));
    if (!Expect(TokenKind::kRightParenthesis)) return std::nullopt;
    if (!CheckArgumentCount(name, arguments.size(), 2)) return std::nullopt;
    if (if_not_exists && !CheckIsPath(name, arguments[0])) return std::nullopt;
    for (uint32_t argument : arguments) {
      if (if_not_exists || tree_->operands[argument].kind != OperandKind::kListAppend) continue;
      return Fail("EXP-31",
                  {"The function is not allowed to be used this way in an expression; function: ", name});
    }
    return AddOperand(if_not_exists ? OperandKind::kIfNotExists : OperandKind::kListAppend, arguments[0],
                      arguments[1]);
  }

  bool IsSum(uint32_t operand) const {
    OperandKind kind = tree_->operands[operand].kind;
    return kind == OperandKind::kPlus || kind == OperandKind::kMinus;
  }
};

class ProjectionParser : public Grammar {
 public:
  ProjectionParser(std::string_view expression_name, Tree* tree) : Grammar(expression_name, {}, tree) {}

  void Parse() {
    do {
      if (!ParsePath()) return;
    } while (Accept(TokenKind::kComma));
    Finish();
  }
};

}  // namespace

absl::Status ParseUpdateInto(std::string_view expression_name, Tree* tree) {
  UpdateParser parser(expression_name, tree);
  parser.Parse();
  return parser.status();
}

absl::Status ParseProjectionInto(std::string_view expression_name, Tree* tree) {
  ProjectionParser parser(expression_name, tree);
  parser.Parse();
  return parser.status();
}

}  // namespace itemdb::storage
