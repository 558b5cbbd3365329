// Text of an expression to syntax tree (EXP-01..11).
//
// Everything that can be told from the text alone is checked here: syntax, length, number of operators and of
// IN operands, redundant parentheses, path depth, function names and their number of arguments (SEM-017,
// SEM-019..021, SEM-025). What needs the request's placeholders is checked by whoever binds the tree.
#pragma once

#include <memory>
#include <string_view>

#include "storage/base/status.h"
#include "storage/expressions/syntax.h"

namespace itemdb {

// What a text is parsed as. Filter expressions and key conditions are conditions: their grammar is the same,
// and what a key condition does not allow is refused with a message of its own (key_condition.h).
enum class ExpressionKind : uint8_t { kCondition, kUpdate, kProjection };

// The tree of `text`, which callers share and must not change. `expression_name` begins the message of an
// error.
//
// Recent trees are kept (parse_cache.h), so that a repeated expression is not parsed again. Recursion is
// bounded by kMaxNesting. Thread-safe. INVALID_ARGUMENT as above.
absl::StatusOr<std::shared_ptr<const Tree>> ParseExpression(ExpressionKind kind,
                                                            std::string_view expression_name,
                                                            std::string_view text);

// The error for an expression that breaks `rule`: "Invalid <expression_name>: <message>".
absl::Status ExpressionError(std::string_view rule, std::string_view expression_name,
                             std::string_view message);

}  // namespace itemdb
