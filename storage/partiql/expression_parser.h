// The expressions of the PartiQL grammar: conditions (after WHERE) and changes (after SET).
//
//   condition  = conjunction *( OR conjunction )
//   conjunction = negation *( AND negation )
//   negation   = *NOT ( "(" condition ")" / function / predicate )
//   predicate  = operand ( comparator operand / [NOT] BETWEEN operand AND operand / [NOT] IN list
//              / IS [NOT] ( MISSING / NULL / type ) )
//   list       = "(" operand *( "," operand ) ")" / "[" operand *( "," operand ) "]"
//   function   = BEGINS_WITH "(" operand "," operand ")" / CONTAINS "(" operand "," operand ")"
//              / ATTRIBUTE_TYPE "(" path "," operand ")" / ATTRIBUTE_EXISTS "(" path ")"
//              / ATTRIBUTE_NOT_EXISTS "(" path ")" / MISSING "(" path ")"
//   operand    = path / constant / SIZE "(" operand ")" / "(" operand ")"
//   constant   = value *( ( "+" / "-" ) value )
//
//   change     = path "=" ( SET_ADD "(" path "," value ")" / SET_DELETE "(" path "," value ")" / sum )
//   sum        = term *( ( "+" / "-" ) term )
//   term       = path / value / LIST_APPEND "(" sum "," sum ")" / "(" sum ")"
//
// Keywords and function names are case-insensitive (PQL-07, PQL-09).
#pragma once

#include <optional>
#include <vector>

#include "storage/partiql/cursor.h"

namespace itemdb::storage::partiql {

class ExpressionParser : public Cursor {
 public:
  using Cursor::Cursor;

 protected:
  // Returns the position in Statement::conditions.
  std::optional<uint32_t> ParseCondition();
  // Parse one `path = value` of SET, or one path of REMOVE, and add it to Statement::actions.
  bool ParseChange();
  bool ParseRemoval();

  // Aggregate functions such as COUNT, which are not supported (PQL-11).
  bool AtAggregate() const;
  std::nullopt_t RefuseAggregate();

 private:
  std::optional<uint32_t> ParseConjunction();
  std::optional<uint32_t> ParseNegation();
  std::optional<uint32_t> ParsePredicate();
  std::optional<uint32_t> ParseComparison(uint32_t left);
  std::optional<uint32_t> ParseBetween(uint32_t left);
  std::optional<uint32_t> ParseIn(uint32_t left);
  std::optional<uint32_t> ParseIs(uint32_t left);
  std::optional<uint32_t> ParseFunction();
  std::optional<uint32_t> ParseTruth(uint32_t condition);
  std::optional<uint32_t> ParseChain(ConditionKind kind, std::string_view keyword,
                                     std::optional<uint32_t> (ExpressionParser::*parse_term)());

  std::optional<uint32_t> ParseOperand();
  std::optional<uint32_t> ParseConstant();
  std::optional<uint32_t> ParsePathOperand();
  bool CheckIsPath(uint32_t operand, std::string_view function, const Token& token);

  bool ParseSetFunction(uint32_t target, UpdateActionKind kind);
  std::optional<uint32_t> ParseSum();
  std::optional<uint32_t> ParseTerm();
  bool SamePath(uint32_t a, uint32_t b) const;

  uint32_t AddOperand(OperandKind kind, uint32_t first, uint32_t second = 0);
  uint32_t AddValueOperand(std::string canonical);
  uint32_t AddCondition(ConditionKind kind, const std::vector<uint32_t>& links);
  // `condition`, or NOT `condition` if `negated`.
  uint32_t Negated(bool negated, uint32_t condition);
};

}  // namespace itemdb::storage::partiql
