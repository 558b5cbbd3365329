// The base of the parsers of all kinds of expressions: the token cursor, syntax errors, limits, document
// paths, placeholder slots. Used by the *_parser.cc files only.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/limits.h"
#include "storage/base/status.h"
#include "storage/expressions/lexer.h"
#include "storage/expressions/syntax.h"

namespace itemdb::storage {

// Bound of nested parentheses and function calls, which also bounds the parser's recursion. Redundant
// parentheses are refused, so each level but two has an operator of its own, and a condition within the
// operator limit never needs more levels.
inline constexpr int kMaxNesting = kMaxExpressionOperators + 2;

// Joins strings of different types for a message.
std::string Concat(std::initializer_list<std::string_view> parts);

// A recursive-descent parser over one text. A method that fails records the first error and returns nullopt
// or false; its callers then return.
class Grammar {
 public:
  // `keywords` separate the parts of this kind of expression and are refused as names. All arguments are
  // borrowed for the lifetime of the parser.
  Grammar(std::string_view expression_name, std::span<const std::string_view> keywords, Tree* tree);

  // OK as long as nothing failed.
  const absl::Status& status() const { return status_; }

 protected:
  // ---- tokens
  const Token& Peek(size_t ahead = 0) const { return tokens_[std::min(next_ + ahead, tokens_.size() - 1)]; }
  Token Take() { return tokens_[next_ < tokens_.size() - 1 ? next_++ : next_]; }
  bool Accept(TokenKind kind);
  bool Expect(TokenKind kind);
  bool AtKeyword(std::string_view upper_case) const;
  bool AcceptKeyword(std::string_view upper_case);
  bool AtFunction() const;

  // ---- errors; both functions return nullopt, so that a caller can `return SyntaxError();`
  // `addition` follows in the message and is not part of the service text.
  std::nullopt_t Fail(std::string_view rule, std::initializer_list<std::string_view> message,
                      std::string_view addition = {});
  // The next token is not allowed here.
  std::nullopt_t SyntaxError();

  // ---- pieces
  // `name ( . name / [int] )*`; returns its position in Tree::paths.
  std::optional<uint32_t> ParsePath();
  // A path as an operand; returns its position in Tree::operands.
  std::optional<uint32_t> ParsePathOperand();
  // Takes the next token, a ":v", as an operand.
  uint32_t TakeValueOperand();
  uint32_t AddOperand(OperandKind kind, uint32_t first, uint32_t second = 0);
  // Fails unless `got` equals `wanted`.
  bool CheckArgumentCount(std::string_view function, size_t got, size_t wanted);
  // Fails unless `operand` is a document path.
  bool CheckIsPath(std::string_view function, uint32_t operand);

  void CountOperator() { ++operators_; }
  // Whether the whole text was consumed within the limits.
  bool Finish();

  // One level of nesting, until the end of the scope. Check ok() before going deeper.
  class Nesting {
   public:
    explicit Nesting(Grammar& grammar) : grammar_(grammar), ok_(grammar.Enter()) {}
    ~Nesting() { --grammar_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    bool ok() const { return ok_; }

   private:
    Grammar& grammar_;
    bool ok_;
  };

  Tree* const tree_;

 private:
  bool Enter();
  bool ParseSegmentName();
  bool ParseIndex();
  // Whether `name` may be in a path without `#alias` (EXP-01). The only check of segment names.
  bool CheckBareName(std::string_view name);
  uint32_t Slot(std::string_view token, std::vector<std::string_view>* slots);

  const std::string_view expression_name_;
  const std::span<const std::string_view> keywords_;
  const std::vector<Token> tokens_;
  size_t next_ = 0;
  int operators_ = 0;
  int nesting_ = 0;
  absl::Status status_;
};

// The parsers, one per kind. They fill `*tree` from its text.
absl::Status ParseConditionInto(std::string_view expression_name, Tree* tree);
absl::Status ParseUpdateInto(std::string_view expression_name, Tree* tree);
absl::Status ParseProjectionInto(std::string_view expression_name, Tree* tree);

}  // namespace itemdb::storage
