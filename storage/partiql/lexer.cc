#include "storage/partiql/lexer.h"

#include <array>
#include <utility>

namespace itemdb::storage::partiql {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool BeginsWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool ContinuesWord(char c) { return BeginsWord(c) || IsDigit(c); }
char ToUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// Longer signs come first, because the first match is taken.
constexpr std::array<std::pair<std::string_view, TokenKind>, 22> kSigns = {{
    {"<<", TokenKind::kOpenSet},
    {">>", TokenKind::kCloseSet},
    {"<>", TokenKind::kNotEqual},
    {"!=", TokenKind::kNotEqual},
    {"<=", TokenKind::kLessEqual},
    {">=", TokenKind::kGreaterEqual},
    {"<", TokenKind::kLess},
    {">", TokenKind::kGreater},
    {"=", TokenKind::kEqual},
    {"?", TokenKind::kParameter},
    {"(", TokenKind::kLeftParenthesis},
    {")", TokenKind::kRightParenthesis},
    {"[", TokenKind::kLeftBracket},
    {"]", TokenKind::kRightBracket},
    {"{", TokenKind::kLeftBrace},
    {"}", TokenKind::kRightBrace},
    {",", TokenKind::kComma},
    {".", TokenKind::kDot},
    {":", TokenKind::kColon},
    {"*", TokenKind::kStar},
    {"+", TokenKind::kPlus},
    {"-", TokenKind::kMinus},
}};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // The next token; kEnd at the end of the text and in all later calls.
  Token Next() {
    if (SkipToToken()) return Scan();
    if (std::exchange(unterminated_comment_, false)) return Take(TokenKind::kUnterminated, text_.size());
    return Take(TokenKind::kEnd, text_.size());
  }

 private:
  // Skips spaces and comments; false at the end of the text.
  bool SkipToToken() {
    for (;;) {
      size_t next = text_.find_first_not_of(" \t\r\n\f\v", at_);
      at_ = next == std::string_view::npos ? text_.size() : next;
      std::string_view rest = text_.substr(at_);
      if (rest.empty()) return false;
      size_t end;
      if (rest.starts_with("--")) {
        end = text_.find('\n', at_);
      } else if (rest.starts_with("/*")) {
        end = text_.find("*/", at_ + 2);
        unterminated_comment_ = end == std::string_view::npos;
        if (unterminated_comment_) return false;
        ++end;
      } else {
        return true;
      }
      at_ = end == std::string_view::npos ? text_.size() : end + 1;
    }
  }

  Token Scan() {
    char first = text_[at_];
    if (BeginsWord(first)) return Take(TokenKind::kWord, WordEnd());
    // A number may begin with its point (".73"), but not behind a name: there the point begins a path step.
    if (IsDigit(first) || (first == '.' && IsDigitAt(at_ + 1) && !behind_name_))
      return Take(TokenKind::kNumber, NumberEnd());
    if (first == '"') return TakeQuoted(TokenKind::kQuotedName, first);
    if (first == '\'') return TakeQuoted(TokenKind::kString, first);
    for (const auto& [sign, kind] : kSigns) {
      if (text_.substr(at_).starts_with(sign)) return Take(kind, at_ + sign.size());
    }
    size_t end = at_ + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0) == 0x80) ++end;
    return Take(TokenKind::kInvalid, end);
  }

  Token Take(TokenKind kind, size_t end) {
    Token token{kind, text_.substr(at_, end - at_)};
    at_ = end;
    behind_name_ =
        kind == TokenKind::kWord || kind == TokenKind::kQuotedName || kind == TokenKind::kRightBracket;
    return token;
  }

  Token TakeQuoted(TokenKind kind, char quote) {
    size_t end = at_;
    do {
      end = text_.find(quote, end + 1);
      if (end == std::string_view::npos) return Take(TokenKind::kUnterminated, text_.size());
      ++end;
    } while (end < text_.size() && text_[end] == quote);
    return Take(kind, end);
  }

  size_t WordEnd() const {
    size_t end = at_;
    while (end < text_.size() && ContinuesWord(text_[end])) ++end;
    return end;
  }

  size_t DigitsEnd(size_t end) const {
    while (end < text_.size() && IsDigit(text_[end])) ++end;
    return end;
  }

  bool IsDigitAt(size_t place) const { return place < text_.size() && IsDigit(text_[place]); }

  size_t NumberEnd() const {
    size_t end = DigitsEnd(at_);
    if (end < text_.size() && text_[end] == '.' && IsDigitAt(end + 1)) end = DigitsEnd(end + 1);
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      size_t exponent = end + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      if (IsDigitAt(exponent)) end = DigitsEnd(exponent);
    }
    return end;
  }

  const std::string_view text_;
  size_t at_ = 0;
  bool unterminated_comment_ = false;
  // Whether the last token was the end of a path or could be.
  bool behind_name_ = false;
};

}  // namespace

std::vector<Token> Tokenize(std::string_view statement) {
  Lexer lexer(statement);
  std::vector<Token> tokens;
  do {
    tokens.push_back(lexer.Next());
  } while (tokens.back().kind != TokenKind::kEnd);
  return tokens;
}

Token FirstToken(std::string_view statement) { return Lexer(statement).Next(); }

bool IsWord(const Token& token, std::string_view upper_case) {
  if (token.kind != TokenKind::kWord || token.text.size() != upper_case.size()) return false;
  for (size_t i = 0; i < upper_case.size(); ++i) {
    if (ToUpper(token.text[i]) != upper_case[i]) return false;
  }
  return true;
}

std::string Unquote(const Token& token) {
  const char quote = token.text.front();
  std::string_view inner = token.text.substr(1, token.text.size() - 2);
  std::string text;
  text.reserve(inner.size());
  for (size_t i = 0; i < inner.size(); ++i) {
    text.push_back(inner[i]);
    if (inner[i] == quote) ++i;  // Skip the second of two doubled quotes.
  }
  return text;
}

}  // namespace itemdb::storage::partiql
