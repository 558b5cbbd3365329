// What a PartiQL statement needs to be allowed (Database's functions of the same names), told from its text
// alone: nothing is executed, no table looked up.
#pragma once

#include <string_view>

namespace itemdb {

// Whether `statement` only reads. True of what begins with SELECT, the one statement that reads; false of all
// others, and of a text that is no statement. Comments before the first word do not count. Cannot fail.
// Thread-safe.
//
// What executes statements goes by the same word, so a statement that only reads by this never writes.
bool IsReadStatement(std::string_view statement);

// What `statement` does by the name that the service has for it in permissions: "PartiQLSelect",
// "PartiQLInsert", "PartiQLUpdate" or "PartiQLDelete", by its first word; empty of other texts. Thread-safe.
std::string_view StatementAction(std::string_view statement);

}  // namespace itemdb
