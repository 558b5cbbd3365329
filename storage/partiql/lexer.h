// Splits the text of a PartiQL statement into tokens (PQL-10).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace itemdb::partiql {

enum class TokenKind : uint8_t {
  kEnd,
  kWord,  // a letter or underscore, then letters, digits and underscores: keywords, bare names, functions
  kQuotedName,  // "name", a quote inside it doubled
  kString,      // 'text', a quote inside it doubled
  kNumber,      // digits, with fraction and exponent if there are any; the sign is a token of its own
  kParameter,   // ?
  kLeftParenthesis,
  kRightParenthesis,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kOpenSet,   // <<
  kCloseSet,  // >>
  kComma,
  kDot,
  kColon,
  kStar,
  kEqual,
  kNotEqual,  // <> and !=
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kPlus,
  kMinus,
  kUnterminated,  // a string, quoted name or comment without its end, to the end of the text
  kInvalid,       // anything else; no grammar accepts it
};

// `text` is the token's place in the statement: it borrows from it. That of kEnd is empty and stands at the
// end.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
};

// The tokens of `statement`, kEnd last, without comments (`-- to the end of the line`, `/* ... */`). Cannot
// fail: bytes that begin no token become kInvalid tokens, which never split a UTF-8 sequence. At most
// `statement.size() + 1` tokens.
std::vector<Token> Tokenize(std::string_view statement);

// The first of them, whatever the length of the text.
Token FirstToken(std::string_view statement);

// Whether `token` is the bare word `upper_case`, in any case.
bool IsWord(const Token& token, std::string_view upper_case);

// What a kQuotedName or kString says.
std::string Unquote(const Token& token);

}  // namespace itemdb::partiql
