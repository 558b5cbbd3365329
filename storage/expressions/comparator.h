// Comparators: `=`, `<` and so on. Shared by expressions and PartiQL statements.
#pragma once

#include <optional>

#include "storage/expressions/syntax.h"

namespace itemdb::storage {

// Returns the comparator of a token kind of either lexer; std::nullopt when the token is not a comparator.
template <typename TokenKind>
constexpr std::optional<ConditionKind> ComparatorOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::kEqual:
      return ConditionKind::kEqual;
    case TokenKind::kNotEqual:
      return ConditionKind::kNotEqual;
    case TokenKind::kLess:
      return ConditionKind::kLess;
    case TokenKind::kLessEqual:
      return ConditionKind::kLessEqual;
    case TokenKind::kGreater:
      return ConditionKind::kGreater;
    case TokenKind::kGreaterEqual:
      return ConditionKind::kGreaterEqual;
    default:
      return std::nullopt;
  }
}

}  // namespace itemdb::storage
