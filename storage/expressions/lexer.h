// Splits the text of an expression into tokens (EXP-01). The lexer of all kinds of expressions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace itemdb::storage {

enum class TokenKind : uint8_t {
  kEnd,
  kName,     // a letter, then letters, digits and underscores; keywords and function names too
  kAlias,    // "#n"
  kValue,    // ":v"
  kInteger,  // decimal digits
  kLeftParenthesis,
  kRightParenthesis,
  kLeftBracket,
  kRightBracket,
  kComma,
  kDot,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kPlus,
  kMinus,
  kInvalid,  // anything else; no grammar accepts it
};

// `text` borrows from the expression's text. For kEnd it is empty and points to the end.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
};

// Returns the tokens of `text`, kEnd last. Cannot fail: bytes that begin no token become kInvalid tokens,
// which never split a UTF-8 sequence. At most `text.size() + 1` tokens.
std::vector<Token> Tokenize(std::string_view text);

// Whether all of `token` is one "#n" or ":v" placeholder (EXP-01). `sigil` is '#' or ':'.
bool IsPlaceholderToken(std::string_view token, char sigil);

}  // namespace itemdb::storage
