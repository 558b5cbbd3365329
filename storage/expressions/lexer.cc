#include "storage/expressions/lexer.h"

namespace itemdb::storage {
namespace {

// The character functions of the C library depend on the locale; the grammar is ASCII.
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWord(char c) { return IsLetter(c) || IsDigit(c) || c == '_'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// Length of the longest prefix of `text` whose characters all satisfy `accept`.
template <typename Accept>
size_t RunLength(std::string_view text, Accept accept) {
  size_t length = 0;
  while (length < text.size() && accept(text[length])) ++length;
  return length;
}

Token Make(TokenKind kind, std::string_view text, size_t length) { return {kind, text.substr(0, length)}; }

Token Word(std::string_view text) {
  size_t length = RunLength(text, IsWord);
  if (IsLetter(text[0])) return Make(TokenKind::kName, text, length);
  bool digits = RunLength(text, IsDigit) == length;
  return Make(digits ? TokenKind::kInteger : TokenKind::kInvalid, text, length);
}

Token Placeholder(TokenKind kind, std::string_view text) {
  size_t length = 1 + RunLength(text.substr(1), IsWord);
  return Make(length > 1 ? kind : TokenKind::kInvalid, text, length);
}

// The first token of `text`, which is not empty and does not begin with white space.
Token Next(std::string_view text) {
  char c = text[0];
  char following = text.size() > 1 ? text[1] : '\0';
  if (IsWord(c)) return Word(text);
  switch (c) {
    case '#':
      return Placeholder(TokenKind::kAlias, text);
    case ':':
      return Placeholder(TokenKind::kValue, text);
    case '(':
      return Make(TokenKind::kLeftParenthesis, text, 1);
    case ')':
      return Make(TokenKind::kRightParenthesis, text, 1);
    case '[':
      return Make(TokenKind::kLeftBracket, text, 1);
    case ']':
      return Make(TokenKind::kRightBracket, text, 1);
    case ',':
      return Make(TokenKind::kComma, text, 1);
    case '.':
      return Make(TokenKind::kDot, text, 1);
    case '=':
      return Make(TokenKind::kEqual, text, 1);
    case '+':
      return Make(TokenKind::kPlus, text, 1);
    case '-':
      return Make(TokenKind::kMinus, text, 1);
    case '<':
      if (following == '>') return Make(TokenKind::kNotEqual, text, 2);
      if (following == '=') return Make(TokenKind::kLessEqual, text, 2);
      return Make(TokenKind::kLess, text, 1);
    case '>':
      if (following == '=') return Make(TokenKind::kGreaterEqual, text, 2);
      return Make(TokenKind::kGreater, text, 1);
    default:
      break;
  }
  if (IsAscii(c)) return Make(TokenKind::kInvalid, text, 1);
  return Make(TokenKind::kInvalid, text, RunLength(text, [](char byte) { return !IsAscii(byte); }));
}

}  // namespace

std::vector<Token> Tokenize(std::string_view text) {
  std::vector<Token> tokens;
  tokens.reserve(text.size() / 3 + 2);
  for (;;) {
    std::string_view rest = text.substr(RunLength(text, IsSpace));
    if (rest.empty()) break;
    tokens.push_back(Next(rest));
    text = rest.substr(tokens.back().text.size());
  }
  tokens.push_back({TokenKind::kEnd, text.substr(0, 0)});
  return tokens;
}

bool IsPlaceholderToken(std::string_view token, char sigil) {
  return token.size() > 1 && token[0] == sigil && RunLength(token.substr(1), IsWord) == token.size() - 1;
}

}  // namespace itemdb::storage
