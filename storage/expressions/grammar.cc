#include "storage/expressions/grammar.h"

#include <algorithm>
#include <charconv>

#include "common/reserved_words.h"
#include "storage/expressions/parser.h"

namespace itemdb::storage {
namespace {

// `upper_case` consists of capital letters.
bool EqualsIgnoringCase(std::string_view text, std::string_view upper_case) {
  return std::equal(text.begin(), text.end(), upper_case.begin(), upper_case.end(),
                    [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) == b; });
}

// Largest list index. No item holds so many elements.
constexpr uint32_t kMaxListIndex = 0x7fffffff;

}  // namespace

std::string Concat(std::initializer_list<std::string_view> parts) {
  std::string result;
  for (std::string_view part : parts) result.append(part);
  return result;
}

Grammar::Grammar(std::string_view expression_name, std::span<const std::string_view> keywords, Tree* tree)
    : tree_(tree), expression_name_(expression_name), keywords_(keywords), tokens_(Tokenize(tree->text)) {}

bool Grammar::Accept(TokenKind kind) {
  if (Peek().kind != kind) return false;
  Take();
  return true;
}

bool Grammar::Expect(TokenKind kind) {
  if (Accept(kind)) return true;
  SyntaxError();
  return false;
}

bool Grammar::AtKeyword(std::string_view upper_case) const {
  return Peek().kind == TokenKind::kName && EqualsIgnoringCase(Peek().text, upper_case);
}

bool Grammar::AcceptKeyword(std::string_view upper_case) {
  if (!AtKeyword(upper_case)) return false;
  Take();
  return true;
}

bool Grammar::AtFunction() const {
  if (Peek().kind != TokenKind::kName || Peek(1).kind != TokenKind::kLeftParenthesis) return false;
  return std::none_of(keywords_.begin(), keywords_.end(),
                      [this](std::string_view word) { return AtKeyword(word); });
}

std::nullopt_t Grammar::Fail(std::string_view rule, std::initializer_list<std::string_view> message,
                             std::string_view addition) {
  if (status_.ok()) status_ = ExpressionError(rule, expression_name_, Concat(message), addition);
  return std::nullopt;
}

std::nullopt_t Grammar::SyntaxError() {
  const Token& token = Peek();
  const char* begin = (next_ > 0 ? tokens_[next_ - 1] : token).text.data();
  std::string_view last = Peek(1).text;
  std::string_view near(begin, static_cast<size_t>(last.data() + last.size() - begin));
  return Fail("EXP-01", {"Syntax error; token: \"", token.kind == TokenKind::kEnd ? "<EOF>" : token.text,
                         "\", near: \"", near, "\""});
}

std::optional<uint32_t> Grammar::ParsePath() {
  PathSyntax path{.first = static_cast<uint32_t>(tree_->segments.size()), .count = 0};
  if (!ParseSegmentName()) return std::nullopt;
  for (;;) {
    if (Accept(TokenKind::kDot)) {
      if (!ParseSegmentName()) return std::nullopt;
    } else if (Accept(TokenKind::kLeftBracket)) {
      if (!ParseIndex()) return std::nullopt;
    } else {
      break;
    }
  }
  path.count = static_cast<uint32_t>(tree_->segments.size()) - path.first;
  if (path.count > kMaxDepth) {
    return Fail(
        "SEM-017",
        {"The document path has too many nesting elements; nesting levels: ", std::to_string(path.count)},
        Concat({", maximum: ", std::to_string(kMaxDepth)}));
  }
  tree_->paths.push_back(path);
  return static_cast<uint32_t>(tree_->paths.size() - 1);
}

bool Grammar::ParseSegmentName() {
  SegmentSyntax segment;
  if (Peek().kind == TokenKind::kAlias) {
    segment.kind = SegmentSyntax::Kind::kAlias;
    segment.number = Slot(Take().text, &tree_->aliases);
  } else if (Peek().kind == TokenKind::kName) {
    if (!CheckBareName(Peek().text)) return false;
    segment.name = Take().text;
  } else {
    SyntaxError();
    return false;
  }
  tree_->segments.push_back(segment);
  return true;
}

bool Grammar::CheckBareName(std::string_view name) {
  for (std::string_view keyword : keywords_) {
    if (EqualsIgnoringCase(name, keyword)) {
      SyntaxError();
      return false;
    }
  }
  if (!common::IsReservedWord(name)) return true;
  Fail("SEM-023", {"Attribute name is a reserved keyword; reserved keyword: ", name},
       "; name it by an #alias");
  return false;
}

bool Grammar::ParseIndex() {
  if (Peek().kind != TokenKind::kInteger) {
    SyntaxError();
    return false;
  }
  std::string_view digits = Take().text;
  SegmentSyntax segment;
  segment.kind = SegmentSyntax::Kind::kIndex;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), segment.number);
  if (error != std::errc() || segment.number > kMaxListIndex) {
    Fail("EXP-02", {"List index is not within the allowable range; index: [", digits, "]"});
    return false;
  }
  tree_->segments.push_back(segment);
  return Expect(TokenKind::kRightBracket);
}

std::optional<uint32_t> Grammar::ParsePathOperand() {
  std::optional<uint32_t> path = ParsePath();
  if (!path) return std::nullopt;
  return AddOperand(OperandKind::kPath, *path);
}

uint32_t Grammar::TakeValueOperand() {
  return AddOperand(OperandKind::kValue, Slot(Take().text, &tree_->values));
}

uint32_t Grammar::AddOperand(OperandKind kind, uint32_t first, uint32_t second) {
  tree_->operands.push_back({kind, first, second});
  return static_cast<uint32_t>(tree_->operands.size() - 1);
}

// A linear search is faster than a map for few placeholders. The length of the text bounds their number.
uint32_t Grammar::Slot(std::string_view token, std::vector<std::string_view>* slots) {
  auto found = std::find(slots->begin(), slots->end(), token);
  if (found == slots->end()) found = slots->insert(found, token);
  return static_cast<uint32_t>(found - slots->begin());
}

bool Grammar::CheckArgumentCount(std::string_view function, size_t got, size_t wanted) {
  if (got == wanted) return true;
  Fail("EXP-04", {"Incorrect number of operands for operator or function; operator or function: ", function,
                  ", number of operands: ", std::to_string(got)});
  return false;
}

bool Grammar::CheckIsPath(std::string_view function, uint32_t operand) {
  if (tree_->operands[operand].kind == OperandKind::kPath) return true;
  Fail("EXP-04", {"Operator or function requires a document path; operator or function: ", function});
  return false;
}

bool Grammar::Finish() {
  if (!status_.ok()) return false;
  if (Peek().kind != TokenKind::kEnd) {
    SyntaxError();
    return false;
  }
  if (operators_ > kMaxExpressionOperators) {
    Fail("SEM-020",
         {"The expression contains too many operators; operator count: ", std::to_string(operators_)});
    return false;
  }
  return true;
}

bool Grammar::Enter() {
  if (++nesting_ <= kMaxNesting) return true;
  Fail("EXP-06", {"The expression nests parentheses or functions too deeply; the maximum is ",
                  std::to_string(kMaxNesting), " levels"});
  return false;
}

}  // namespace itemdb::storage
