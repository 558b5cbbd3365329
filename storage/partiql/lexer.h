// Splits the text of a PartiQL statement into tokens (PQL-10).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace itemdb::storage::partiql {

enum class TokenKind : uint8_t {
  kEnd,
  kWord,  // a letter or underscore, then letters, digits and underscores: keywords, bare names, functions
  kQuotedName,  // "name", a quote inside it doubled
  kString,      // 'text', a quote inside it doubled
  kNumber,      // digits, optional fraction and exponent; a sign is a token of its own
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

// `text` is a view into the statement, which must outlive the token. For kEnd it is the end, and empty.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
};

// The tokens of `statement`, kEnd last, without comments (`-- to the end of the line`, `/* ... */`). Cannot
// fail: a character that begins no token becomes a kInvalid token, which never splits a UTF-8 sequence. At
// most `statement.size() + 1` tokens.
std::vector<Token> Tokenize(std::string_view statement);

// The first token of `statement`. The text behind it is not read.
Token FirstToken(std::string_view statement);

// Whether `token` is the unquoted word `upper_case`, compared without regard to case.
bool IsWord(const Token& token, std::string_view upper_case);

// The content of a kQuotedName or kString, without quotes.
std::string Unquote(const Token& token);

}  // namespace itemdb::storage::partiql
