// Parses the text of an expression into a syntax tree (EXP-01 to EXP-11).
//
// Checks everything that needs only the text: syntax, length, number of operators and of IN operands,
// redundant parentheses, path depth, function names and their number of arguments (SEM-017, SEM-019 to
// SEM-021, SEM-025). Code that binds the tree makes the checks that need the request's placeholders.
#pragma once

#include <memory>
#include <string_view>

#include "storage/base/status.h"
#include "storage/expressions/syntax.h"

namespace itemdb::storage {

// The grammar of a text. Filter expressions and key conditions have the grammar of conditions;
// key_condition.h refuses what a key condition does not allow, with a message of its own.
enum class ExpressionKind : uint8_t { kCondition, kUpdate, kProjection };

// Returns the tree of `text`, which callers share and must not change. `expression_name` begins error
// messages.
//
// Recent trees are cached (parse_cache.h), so a repeated expression is not parsed again. Recursion is bounded
// by kMaxNesting. Thread-safe. INVALID_ARGUMENT as above.
absl::StatusOr<std::shared_ptr<const Tree>> ParseExpression(ExpressionKind kind,
                                                            std::string_view expression_name,
                                                            std::string_view text);

// Returns the error for an expression that breaks `rule`: "Invalid <expression_name>: <message>". `addition`
// follows in the message and is not part of the service text.
absl::Status ExpressionError(std::string_view rule, std::string_view expression_name,
                             std::string_view message, std::string_view addition = {});

}  // namespace itemdb::storage
