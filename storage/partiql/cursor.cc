#include "storage/partiql/cursor.h"

#include <array>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "itemdb/v1/item.pb.h"
#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/values/canonical.h"
#include "storage/values/value_view.h"

namespace itemdb::storage::partiql {
namespace {

constexpr std::string_view kParametersDiffer = "Number of parameters in request and statement don't match.";

constexpr std::array<std::string_view, 33> kReserved = {
    "ALL",    "AND",     "AS",     "BETWEEN", "BY",     "DELETE", "DISTINCT", "EXISTS", "FALSE",
    "FROM",   "GROUP",   "HAVING", "IN",      "INSERT", "INTO",   "IS",       "JOIN",   "LIKE",
    "LIMIT",  "MISSING", "NOT",    "NULL",    "OFFSET", "OR",     "ORDER",    "REMOVE", "RETURNING",
    "SELECT", "SET",     "TRUE",   "UNION",   "UPDATE", "WHERE"};

// A message shows at most this many bytes of a token.
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

std::nullopt_t Cursor::Expected(std::string_view what, std::string_view service_text) {
  if (service_text.empty()) {
    const bool keyword = At(TokenKind::kWord) && IsReserved(Peek());
    service_text = keyword ? "Unexpected keyword" : "Unexpected term";
  }
  constexpr char kBegin[] = "Statement wasn't well formed, can't be processed: ";
  return Fail(
      WithServiceText(absl::StrCat(kBegin, std::string(service_text)),
                      ValidationError("PQL-18", absl::StrCat(kBegin, "expected ", std::string(what), " at ",
                                                             Place(Peek()), ", found ", Shown(Peek())))));
}

std::nullopt_t Cursor::Refuse(std::string_view rule, std::string_view message, const Token& token) {
  return Refuse(ValidationError(rule, message), token);
}

std::nullopt_t Cursor::Refuse(const absl::Status& status, const Token& token) {
  return Fail(Reworded(status, {.addition = absl::StrCat(" (", Shown(token), " at ", Place(token), ")")}));
}

bool Cursor::Enter() {
  if (++nesting_ <= kMaxStatementNesting) return true;
  Refuse("PQL-18",
         absl::StrCat(
             "Statement wasn't well formed, can't be processed: parentheses and functions nest more than ",
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
  Fail(WithServiceText(
      kParametersDiffer,
      ValidationError("PQL-10", absl::StrCat("Number of parameters in request and statement don't match: the "
                                             "statement has ",
                                             next_parameter_, ", the request ", parameters_.size()))));
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
  ValueWriter writer;
  if (!ParseLiteral(/*depth=*/1, &writer)) return std::nullopt;
  absl::StatusOr<std::string> canonical = CanonicalizeValue(writer.Finish());
  if (!canonical.ok()) return Refuse(canonical.status(), first);
  statement_->values.push_back(*std::move(canonical));
  return static_cast<uint32_t>(statement_->values.size() - 1);
}

std::optional<std::string> Cursor::ParseItem() {
  const Token open = Peek();
  ValueWriter writer;
  if (!ParseAttributes(/*depth=*/1, &writer)) return std::nullopt;
  absl::StatusOr<std::string> item = CanonicalizeItem(writer.Finish());
  if (!item.ok()) return Refuse(item.status(), open);
  return *std::move(item);
}

bool Cursor::ParseLiteral(int depth, ValueWriter* writer) {
  if (depth > kMaxDepth) {
    Refuse("SEM-017", kTooDeepMessage, Peek());
    return false;
  }
  switch (Peek().kind) {
    case TokenKind::kString:
      writer->bytes()->append(EncodeValue(ValueType::kS, Unquote(Take())));
      return true;
    case TokenKind::kNumber:
    case TokenKind::kMinus:
      return ParseNumber(writer);
    case TokenKind::kLeftBracket:
      return ParseList(depth, writer);
    case TokenKind::kLeftBrace: {
      const size_t map = writer->Open(static_cast<uint32_t>(ValueType::kM));
      if (!ParseAttributes(depth + 1, writer)) return false;
      writer->Close(map);
      return true;
    }
    case TokenKind::kOpenSet:
      return ParseSet(depth, writer);
    case TokenKind::kParameter: {
      const std::string* parameter = TakeParameter();
      if (parameter != nullptr) writer->bytes()->append(*parameter);
      return parameter != nullptr;
    }
    default:
      break;
  }
  if (AcceptWord("TRUE")) {
    writer->bytes()->append(EncodeBool(true));
  } else if (AcceptWord("FALSE")) {
    writer->bytes()->append(EncodeBool(false));
  } else if (AcceptWord("NULL")) {
    writer->bytes()->append(EncodeNull());
  } else {
    Expected("a literal or a parameter");
    return false;
  }
  return true;
}

bool Cursor::ParseNumber(ValueWriter* writer) {
  std::string text = Accept(TokenKind::kMinus) ? "-" : "";
  if (!At(TokenKind::kNumber)) {
    Expected("a number");
    return false;
  }
  text += Take().text;
  writer->bytes()->append(EncodeValue(ValueType::kN, text));
  return true;
}

bool Cursor::ParseList(int depth, ValueWriter* writer) {
  Take();
  const size_t list = writer->Open(static_cast<uint32_t>(ValueType::kL));
  if (!At(TokenKind::kRightBracket)) {
    do {
      const size_t element = writer->Open(v1::List::kValuesFieldNumber);
      if (!ParseLiteral(depth + 1, writer)) return false;
      writer->Close(element);
    } while (Accept(TokenKind::kComma));
  }
  writer->Close(list);
  return Expect(TokenKind::kRightBracket, ", or ]");
}

bool Cursor::ParseAttributes(int depth, ValueWriter* writer) {
  if (!Expect(TokenKind::kLeftBrace, "{")) return false;
  if (!At(TokenKind::kRightBrace)) {
    do {
      if (!At(TokenKind::kString) && !At(TokenKind::kQuotedName)) {
        Expected("an attribute name in single quotes");
        return false;
      }
      const size_t attribute = writer->Open(v1::Map::kAttributesFieldNumber);
      wire::AppendBytesField(v1::Attribute::kNameFieldNumber, Unquote(Take()), writer->bytes());
      if (!Expect(TokenKind::kColon, ":")) return false;
      const size_t value = writer->Open(v1::Attribute::kValueFieldNumber);
      if (!ParseLiteral(depth, writer)) return false;
      writer->Close(value);
      writer->Close(attribute);
    } while (Accept(TokenKind::kComma));
  }
  return Expect(TokenKind::kRightBrace, ", or }");
}

bool Cursor::ParseSet(int depth, ValueWriter* writer) {
  constexpr std::string_view kSetElementText =
      "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags";
  const Token open = Take();
  if (At(TokenKind::kCloseSet)) {
    Refuse("SEM-016", "A set must not be empty", open);
    return false;
  }
  std::string contents;
  std::optional<ValueType> type;
  do {
    const Token first = Peek();
    ValueWriter element;
    if (!ParseLiteral(depth + 1, &element)) return false;
    const std::string encoded = element.Finish();
    ValueView view(encoded);
    if (view.type() != ValueType::kS && view.type() != ValueType::kN && view.type() != ValueType::kB) {
      Refuse(
          WithServiceText(
              kSetElementText,
              ValidationError("SEM-015", "The elements of a set must be strings, numbers or binary values")),
          first);
      return false;
    }
    if (type.value_or(view.type()) != view.type()) {
      Refuse(WithServiceText(kSetElementText,
                             ValidationError("SEM-015", "The elements of a set must be of one type")),
             first);
      return false;
    }
    type = view.type();
    AppendSetElement(view.payload(), &contents);
  } while (Accept(TokenKind::kComma));
  writer->bytes()->append(EncodeValue(*type == ValueType::kS   ? ValueType::kSS
                                      : *type == ValueType::kN ? ValueType::kNS
                                                               : ValueType::kBS,
                                      contents));
  return Expect(TokenKind::kCloseSet, ", or >>");
}

const std::string* Cursor::TakeParameter() {
  const Token token = Take();
  if (next_parameter_ < parameters_.size()) return &parameters_[next_parameter_++];
  Refuse(WithServiceText(
             kParametersDiffer,
             ValidationError("PQL-10", absl::StrCat("Number of parameters in request and statement don't "
                                                    "match: the request has ",
                                                    parameters_.size(), ", this is one more"))),
         token);
  return nullptr;
}

}  // namespace itemdb::storage::partiql
