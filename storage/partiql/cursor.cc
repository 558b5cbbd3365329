#include "storage/partiql/cursor.h"

#include <array>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "storage/base/limits.h"
#include "storage/values/canonical.h"
#include "storage/values/value_view.h"

namespace itemdb::partiql {
namespace {

constexpr std::array<std::string_view, 33> kReserved = {
    "ALL",    "AND",     "AS",     "BETWEEN", "BY",     "DELETE", "DISTINCT", "EXISTS", "FALSE",
    "FROM",   "GROUP",   "HAVING", "IN",      "INSERT", "INTO",   "IS",       "JOIN",   "LIKE",
    "LIMIT",  "MISSING", "NOT",    "NULL",    "OFFSET", "OR",     "ORDER",    "REMOVE", "RETURNING",
    "SELECT", "SET",     "TRUE",   "UNION",   "UPDATE", "WHERE"};

// Bytes of a token that a message shows at most.
constexpr size_t kMaxShownBytes = 40;

std::string Shown(const Token& token) {
  if (token.kind == TokenKind::kEnd) return "the end of the statement";
  if (token.kind == TokenKind::kUnterminated) {
    std::string_view what = token.text.starts_with("/*") ? "a comment" : "a quoted text";
    return absl::StrCat(std::string(what), " without its end");
  }
  size_t length = std::min(token.text.size(), kMaxShownBytes);
  while (length < token.text.size() && (static_cast<unsigned char>(token.text[length]) & 0xc0) == 0x80)
    --length;
  return absl::StrCat("'", std::string(token.text.substr(0, length)),
                      length < token.text.size() ? "...'" : "'");
}

}  // namespace

Cursor::Cursor(std::string_view text, std::span<const std::string> parameters, Statement* statement)
    : statement_(statement), text_(text), parameters_(parameters), tokens_(Tokenize(text)) {}

bool Cursor::IsReserved(const Token& word) {
  return std::any_of(kReserved.begin(), kReserved.end(),
                     [&word](std::string_view reserved) { return IsWord(word, reserved); });
}

bool Cursor::Accept(TokenKind kind) {
  if (!At(kind)) return false;
  Take();
  return true;
}

bool Cursor::Expect(TokenKind kind, std::string_view what) {
  if (Accept(kind)) return true;
  Expected(what);
  return false;
}

bool Cursor::AcceptWord(std::string_view upper_case) {
  if (!AtWord(upper_case)) return false;
  Take();
  return true;
}

bool Cursor::ExpectWord(std::string_view upper_case) {
  if (AcceptWord(upper_case)) return true;
  Expected(upper_case);
  return false;
}

std::string Cursor::Place(const Token& token) const {
  size_t character = 1;
  for (char c : text_.substr(0, static_cast<size_t>(token.text.data() - text_.data()))) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++character;
  }
  return absl::StrCat("character ", character);
}

std::nullopt_t Cursor::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
  return std::nullopt;
}

std::nullopt_t Cursor::Expected(std::string_view what) {
  return Fail(ValidationError(
      "PQL-18", absl::StrCat("Statement wasn't well formed, can't be processed: expected ", std::string(what),
                             " at ", Place(Peek()), ", found ", Shown(Peek()))));
}

std::nullopt_t Cursor::Refuse(std::string_view rule, std::string_view message, const Token& token) {
  return Fail(ValidationError(
      rule, absl::StrCat(std::string(message), " (", Shown(token), " at ", Place(token), ")")));
}

bool Cursor::Enter() {
  if (++nesting_ <= kMaxStatementNesting) return true;
  Refuse("PQL-18",
         absl::StrCat(
             "Statement wasn't well formed, can't be processed: parentheses, functions and literals nest "
             "more than ",
             kMaxStatementNesting, " levels deep"),
         Peek());
  return false;
}

bool Cursor::CountOperator() {
  if (++operators_ <= kMaxExpressionOperators) return true;
  Refuse("SEM-020",
         absl::StrCat("The statement contains too many operators; at most ", kMaxExpressionOperators,
                      " are allowed"),
         Peek());
  return false;
}

bool Cursor::Finish() {
  if (!At(TokenKind::kEnd)) {
    Expected("the end of the statement");
    return false;
  }
  if (next_parameter_ == parameters_.size()) return true;
  Fail(
      ValidationError("PQL-10", absl::StrCat("Number of parameters in request and statement don't match: the "
                                             "statement has ",
                                             next_parameter_, ", the request ", parameters_.size())));
  return false;
}

// ---- names and paths -----------------------------------------------------------------------------

std::optional<std::string> Cursor::ParseName(std::string_view what) {
  if (At(TokenKind::kQuotedName)) return Unquote(Take());
  if (!At(TokenKind::kWord)) return Expected(what);
  if (IsReserved(Peek()))
    return Expected(absl::StrCat(std::string(what), " (a keyword needs double quotes)"));
  return std::string(Take().text);
}

bool Cursor::AtPath() const {
  return At(TokenKind::kQuotedName) || (At(TokenKind::kWord) && !IsReserved(Peek()));
}

bool Cursor::AddStepName(const std::string& name, const Token& token) {
  if (name.empty()) {
    Refuse("SEM-009", "Empty attribute name", token);
    return false;
  }
  statement_->steps.emplace_back().name = name;
  return true;
}

std::optional<uint32_t> Cursor::ParsePath() {
  PathSyntax path{.first = static_cast<uint32_t>(statement_->steps.size())};
  const Token first = Peek();
  std::optional<std::string> name = ParseName("an attribute name");
  if (!name || !AddStepName(*name, first)) return std::nullopt;
  for (;;) {
    if (Accept(TokenKind::kDot)) {
      const Token token = Peek();
      name = ParseName("an attribute name");
      if (!name || !AddStepName(*name, token)) return std::nullopt;
    } else if (At(TokenKind::kLeftBracket)) {
      if (!ParseIndex()) return std::nullopt;
    } else {
      break;
    }
  }
  path.count = static_cast<uint32_t>(statement_->steps.size()) - path.first;
  if (path.count > kMaxDepth) {
    return Refuse(
        "SEM-017",
        absl::StrCat("The document path has too many nesting elements; at most ", kMaxDepth, " are allowed"),
        first);
  }
  statement_->paths.push_back(path);
  return static_cast<uint32_t>(statement_->paths.size() - 1);
}

bool Cursor::ParseIndex() {
  Take();
  Step step;
  step.is_index = true;
  constexpr std::string_view kWhat = "a list index (a whole number up to 2147483647)";
  std::string_view digits = Peek().text;
  int32_t index = 0;
  if (!At(TokenKind::kNumber) || !absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()), &index)) {
    Expected(kWhat);
    return false;
  }
  Take();
  step.index = static_cast<uint32_t>(index);
  statement_->steps.push_back(step);
  return Expect(TokenKind::kRightBracket, "]");
}

// ---- literals ------------------------------------------------------------------------------------

bool Cursor::AtValue() const {
  switch (Peek().kind) {
    case TokenKind::kString:
    case TokenKind::kNumber:
    case TokenKind::kMinus:
    case TokenKind::kParameter:
    case TokenKind::kLeftBracket:
    case TokenKind::kLeftBrace:
    case TokenKind::kOpenSet:
      return true;
    default:
      return AtWord("TRUE") || AtWord("FALSE") || AtWord("NULL");
  }
}

std::optional<uint32_t> Cursor::ParseValue() {
  const Token first = Peek();
  std::optional<std::string> encoded = ParseEncoded();
  if (!encoded) return std::nullopt;
  absl::StatusOr<std::string> canonical = CanonicalizeValue(*encoded);
  if (!canonical.ok()) return Refuse(RuleOf(canonical.status()), MessageOf(canonical.status()), first);
  statement_->values.push_back(*std::move(canonical));
  return static_cast<uint32_t>(statement_->values.size() - 1);
}

std::optional<std::string> Cursor::ParseEncoded() {
  Nesting nesting(*this);
  if (!nesting.ok()) return std::nullopt;
  switch (Peek().kind) {
    case TokenKind::kString:
      return EncodeValue(ValueType::kS, Unquote(Take()));
    case TokenKind::kNumber:
    case TokenKind::kMinus:
      return ParseNumber();
    case TokenKind::kLeftBracket:
      return ParseList();
    case TokenKind::kLeftBrace: {
      std::optional<std::string> contents = ParseMapContents();
      if (!contents) return std::nullopt;
      return EncodeValue(ValueType::kM, *contents);
    }
    case TokenKind::kOpenSet:
      return ParseSet();
    case TokenKind::kParameter:
      if (const std::string* parameter = TakeParameter()) return *parameter;
      return std::nullopt;
    default:
      break;
  }
  if (AcceptWord("TRUE")) return EncodeBool(true);
  if (AcceptWord("FALSE")) return EncodeBool(false);
  if (AcceptWord("NULL")) return EncodeNull();
  return Expected("a literal or a parameter");
}

std::optional<std::string> Cursor::ParseNumber() {
  std::string text = Accept(TokenKind::kMinus) ? "-" : "";
  if (!At(TokenKind::kNumber)) return Expected("a number");
  text += Take().text;
  return EncodeValue(ValueType::kN, text);
}

std::optional<std::string> Cursor::ParseList() {
  Take();
  std::string contents;
  if (!At(TokenKind::kRightBracket)) {
    do {
      std::optional<std::string> element = ParseEncoded();
      if (!element) return std::nullopt;
      AppendListElement(*element, &contents);
    } while (Accept(TokenKind::kComma));
  }
  if (!Expect(TokenKind::kRightBracket, ", or ]")) return std::nullopt;
  return EncodeValue(ValueType::kL, contents);
}

std::optional<std::string> Cursor::ParseMapContents() {
  if (!Expect(TokenKind::kLeftBrace, "{")) return std::nullopt;
  std::string contents;
  if (!At(TokenKind::kRightBrace)) {
    do {
      if (!At(TokenKind::kString) && !At(TokenKind::kQuotedName))
        return Expected("an attribute name in single quotes");
      const std::string name = Unquote(Take());
      if (!Expect(TokenKind::kColon, ":")) return std::nullopt;
      std::optional<std::string> value = ParseEncoded();
      if (!value) return std::nullopt;
      AppendAttribute(name, *value, &contents);
    } while (Accept(TokenKind::kComma));
  }
  if (!Expect(TokenKind::kRightBrace, ", or }")) return std::nullopt;
  return contents;
}

std::optional<std::string> Cursor::ParseSet() {
  const Token open = Take();
  std::string contents;
  std::optional<ValueType> type;
  if (At(TokenKind::kCloseSet)) return Refuse("SEM-016", "A set must not be empty", open);
  do {
    const Token first = Peek();
    std::optional<std::string> element = ParseEncoded();
    if (!element) return std::nullopt;
    ValueView view(*element);
    if (view.type() != ValueType::kS && view.type() != ValueType::kN && view.type() != ValueType::kB)
      return Refuse("SEM-015", "The elements of a set must be strings, numbers or binary values", first);
    if (type.value_or(view.type()) != view.type())
      return Refuse("SEM-015", "The elements of a set must be of one type", first);
    type = view.type();
    AppendSetElement(view.payload(), &contents);
  } while (Accept(TokenKind::kComma));
  if (!Expect(TokenKind::kCloseSet, ", or >>")) return std::nullopt;
  return EncodeValue(*type == ValueType::kS   ? ValueType::kSS
                     : *type == ValueType::kN ? ValueType::kNS
                                              : ValueType::kBS,
                     contents);
}

const std::string* Cursor::TakeParameter() {
  const Token token = Take();
  if (next_parameter_ < parameters_.size()) return &parameters_[next_parameter_++];
  Refuse("PQL-10",
         absl::StrCat("Number of parameters in request and statement don't match: the request has ",
                      parameters_.size(), ", this is one more"),
         token);
  return nullptr;
}

}  // namespace itemdb::partiql
