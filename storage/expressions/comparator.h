// Comparators, which expressions and PartiQL statements write alike.
#pragma once

#include <optional>

#include "storage/expressions/syntax.h"

namespace itemdb {

// What a token of that kind compares by; nothing when it is no comparator. `TokenKind` is that of one of the
// two lexers.
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

}  // namespace itemdb
