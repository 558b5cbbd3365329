// What the parts of the PartiQL grammar have in common: the token cursor, errors, names, paths, literals.
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

namespace itemdb::partiql {

// A recursive-descent parser over one statement. Methods that fail record the first error and return nothing
// or false; callers just return then.
class Cursor {
 public:
  // `parameters` are canonical values, one for each `?`. All arguments are borrowed for the parser's
  // lifetime.
  Cursor(std::string_view text, std::span<const std::string> parameters, Statement* statement);

  // OK as long as nothing failed.
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
  // Whether a word separates the parts of statements; as a name it must stand in double quotes.
  static bool IsReserved(const Token& word);

  // ---- errors; both return nullopt so that `return Expected("FROM");` reads well
  // PQL-18: `what` was expected where the next token stands.
  std::nullopt_t Expected(std::string_view what);
  // What is no mistake of form: `message`, and where, which is `token`.
  std::nullopt_t Refuse(std::string_view rule, std::string_view message, const Token& token);
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
  // A map literal as an item; canonical.
  std::optional<std::string> ParseItem();
  // Whether the whole text was consumed, with all parameters.
  bool Finish();

  // PQL-12's bound on operators, as that of an expression.
  bool CountOperator();

  // One level of nesting, for a scope. Check ok() before going deeper.
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
  // Where `token` stands, as messages say it: "character 7".
  std::string Place(const Token& token) const;
  bool ParseIndex();
  bool AddStepName(const std::string& name, const Token& token);
  // Literals and parameters, encoded, not canonical yet. `depth` is their level as CanonicalizeValue counts,
  // which bounds the recursion; ParseAttributes: that of the values.
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

}  // namespace itemdb::partiql
