// The base class of the PartiQL parsers: the token cursor, errors, names, paths and literals.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/partiql/lexer.h"
#include "storage/partiql/statement.h"
#include "storage/partiql/value_writer.h"

namespace itemdb::storage::partiql {

// A recursive-descent parser over one statement. A method that fails records the first error and returns
// nothing or false; its caller then returns as well.
class Cursor {
 public:
  // `parameters` are canonical values, one for each `?`. All arguments are borrowed and must outlive this.
  Cursor(std::string_view text, std::span<const std::string> parameters, Statement* statement);

  // The first error; OK as long as nothing has failed.
  const absl::Status& status() const { return status_; }

 protected:
  // ---- tokens
  const Token& Peek(size_t ahead = 0) const { return tokens_[std::min(next_ + ahead, tokens_.size() - 1)]; }
  Token Take() { return tokens_[next_ < tokens_.size() - 1 ? next_++ : next_]; }
  bool At(TokenKind kind) const { return Peek().kind == kind; }
  bool Accept(TokenKind kind);
  bool Expect(TokenKind kind, std::string_view what);
  bool AtWord(std::string_view upper_case) const { return IsWord(Peek(), upper_case); }
  bool AcceptWord(std::string_view upper_case);
  bool ExpectWord(std::string_view upper_case);
  // A bare word before a parenthesis.
  bool AtFunction() const {
    return At(TokenKind::kWord) && Peek(1).kind == TokenKind::kLeftParenthesis && !IsReserved(Peek());
  }
  // Whether a word is a keyword. As a name such a word must be in double quotes.
  static bool IsReserved(const Token& word);

  // ---- errors; all return nullopt, so that a caller can write `return Expected("FROM");`
  // A syntax error: `what` was expected at the next token (PQL-18). `service_text`: the end of the service's
  // text; empty: "Unexpected keyword" or "Unexpected term".
  std::nullopt_t Expected(std::string_view what, std::string_view service_text = {});
  // Any other error: `message`, the service's text, followed by the text and position of `token`.
  std::nullopt_t Refuse(std::string_view rule, std::string_view message, const Token& token);
  std::nullopt_t Refuse(const absl::Status& status, const Token& token);
  std::nullopt_t Fail(absl::Status status);

  // ---- pieces
  // A name, bare or quoted.
  std::optional<std::string> ParseName(std::string_view what);
  // `name ( . name / [int] )*`; returns its position in Statement::paths.
  std::optional<uint32_t> ParsePath();
  bool AtPath() const;
  // A literal or parameter; returns its position in Statement::values.
  std::optional<uint32_t> ParseValue();
  bool AtValue() const;
  // A map literal as a canonical item.
  std::optional<std::string> ParseItem();
  // Whether the whole text and all parameters were consumed.
  bool Finish();

  // Counts one operator; false above the limit, which is that of an expression (PQL-12, SEM-020).
  bool CountOperator();

  // Counts one level of nesting while it is in scope. Check ok() before parsing the nested part.
  class Nesting {
   public:
    explicit Nesting(Cursor& cursor) : cursor_(cursor), ok_(cursor.Enter()) {}
    ~Nesting() { --cursor_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    bool ok() const { return ok_; }

   private:
    Cursor& cursor_;
    bool ok_;
  };

  Statement* const statement_;

 private:
  bool Enter();
  // The position of `token` for messages: "character 7".
  std::string Place(const Token& token) const;
  bool ParseIndex();
  bool AddStepName(const std::string& name, const Token& token);
  // Literals and parameters, encoded but not yet canonical. `depth` is the nesting level of the value (in
  // ParseAttributes: of the attribute values), counted as in CanonicalizeValue. It bounds the recursion.
  bool ParseLiteral(int depth, ValueWriter* writer);
  bool ParseNumber(ValueWriter* writer);
  bool ParseList(int depth, ValueWriter* writer);
  bool ParseAttributes(int depth, ValueWriter* writer);
  bool ParseSet(int depth, ValueWriter* writer);
  const std::string* TakeParameter();

  const std::string_view text_;
  const std::span<const std::string> parameters_;
  const std::vector<Token> tokens_;
  size_t next_ = 0;
  size_t next_parameter_ = 0;
  int operators_ = 0;
  int nesting_ = 0;
  absl::Status status_;
};

}  // namespace itemdb::storage::partiql
