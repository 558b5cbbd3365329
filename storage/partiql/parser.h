// Text of a PartiQL statement to Statement (PQL-01..12, PQL-18).
//
// Everything that can be told without a table is checked here: form, length, nesting, number of operators and
// of IN operands, parameters, literals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "google/protobuf/repeated_field.h"
#include "storage/base/status.h"
#include "storage/partiql/statement.h"

namespace itemdb::partiql {

using Parameters = google::protobuf::RepeatedPtrField<std::string>;

// The statement that `text` says, with encoded values from the client, one for each `?`. Recursion is bounded
// by kMaxStatementNesting. Thread-safe. INVALID_ARGUMENT as above; the message says what was wrong and at
// which character.
absl::StatusOr<Statement> ParseStatement(std::string_view text, const Parameters& parameters);

}  // namespace itemdb::partiql
