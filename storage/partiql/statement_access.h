// The access that a PartiQL statement needs (Database's functions of the same names). Only the first word of
// the text is read: nothing is executed, no table is looked up.
#pragma once

#include <string_view>

namespace itemdb::storage {

// Whether `statement` only reads: true if its first word, after comments, is SELECT. False for all other
// statements, and for a text that is not a statement. Cannot fail. Thread-safe.
//
// The parser decides by the same word, so a statement for which this returns true never writes.
bool IsReadStatement(std::string_view statement);

// The action of `statement` in DynamoDB's permissions: "PartiQLSelect", "PartiQLInsert", "PartiQLUpdate" or
// "PartiQLDelete", according to its first word; empty for other texts. Thread-safe.
std::string_view StatementAction(std::string_view statement);

}  // namespace itemdb::storage
