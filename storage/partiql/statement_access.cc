#include "storage/partiql/statement_access.h"

#include "storage/partiql/lexer.h"

namespace itemdb::storage {

bool IsReadStatement(std::string_view statement) {
  return partiql::IsWord(partiql::FirstToken(statement), "SELECT");
}

std::string_view StatementAction(std::string_view statement) {
  struct Action {
    std::string_view word;
    std::string_view name;
  };
  constexpr Action kActions[] = {{"SELECT", "PartiQLSelect"},
                                 {"INSERT", "PartiQLInsert"},
                                 {"UPDATE", "PartiQLUpdate"},
                                 {"DELETE", "PartiQLDelete"}};
  const partiql::Token first = partiql::FirstToken(statement);
  for (const Action& action : kActions) {
    if (partiql::IsWord(first, action.word)) return action.name;
  }
  return "";
}

}  // namespace itemdb::storage
