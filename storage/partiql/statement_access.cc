#include "storage/partiql/statement_access.h"

#include "storage/partiql/lexer.h"

namespace itemdb {

bool IsReadStatement(std::string_view statement) {
  return partiql::IsWord(partiql::FirstToken(statement), "SELECT");
}

}  // namespace itemdb
