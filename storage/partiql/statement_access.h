// The access that a PartiQL statement needs (Database's functions of the same names). Nothing is executed, no
// table is looked up.
#pragma once

#include <string>
#include <string_view>

#include "google/protobuf/repeated_field.h"
#include "storage/api/statement_target.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// The next two read only the first word of the text.
//
// Whether `statement` only reads: true if its first word, after comments, is SELECT. False for all other
// statements, and for a text that is not a statement. Cannot fail. Thread-safe.
//
// The parser decides by the same word, so a statement for which this returns true never writes.
bool IsReadStatement(std::string_view statement);

// The action of `statement` in DynamoDB's permissions: "PartiQLSelect", "PartiQLInsert", "PartiQLUpdate" or
// "PartiQLDelete", according to its first word; empty for other texts. Thread-safe.
std::string_view StatementAction(std::string_view statement);

// The table that `statement` names behind FROM, INTO or UPDATE; empty for texts that name none there. For
// counters and logs: reads the text up to this name only, so the rest need not be a statement. Thread-safe.
std::string TableNameInStatement(std::string_view statement);

// The table of `statement`, found by the parser that executes it. `parameters` are those of the request.
// INVALID_ARGUMENT: the statement is not valid, and the operations refuse it with the same error.
absl::StatusOr<StatementTarget> TargetOfStatement(
    std::string_view statement, const google::protobuf::RepeatedPtrField<std::string>& parameters);

}  // namespace itemdb::storage
