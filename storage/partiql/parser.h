// Parses the text of a PartiQL statement (PQL-01..12, PQL-18).
//
// All checks that need no table are made here: syntax, length, nesting, number of operators and of IN
// operands, parameters, literals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "google/protobuf/repeated_field.h"
#include "storage/base/status.h"
#include "storage/partiql/statement.h"

namespace itemdb::storage::partiql {

using Parameters = google::protobuf::RepeatedPtrField<std::string>;

// Parses `text`. `parameters` are encoded values from the client, one for each `?`. Recursion is bounded by
// kMaxStatementNesting. Thread-safe. INVALID_ARGUMENT: a check failed; the message names the character.
absl::StatusOr<Statement> ParseStatement(std::string_view text, const Parameters& parameters);

}  // namespace itemdb::storage::partiql
