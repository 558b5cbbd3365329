#include "storage/partiql/statement_access.h"

#include <utility>

#include "storage/partiql/lexer.h"
#include "storage/partiql/parser.h"

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

std::string TableNameInStatement(std::string_view statement) {
  const auto next = [&statement] {
    const partiql::Token token = partiql::FirstToken(statement);
    statement.remove_prefix(static_cast<size_t>(token.text.data() + token.text.size() - statement.data()));
    return token;
  };
  partiql::Token token = next();
  if (!partiql::IsWord(token, "UPDATE")) {
    const std::string_view before_name = partiql::IsWord(token, "INSERT") ? "INTO" : "FROM";
    while (!partiql::IsWord(token, before_name)) {
      if (token.kind == partiql::TokenKind::kEnd) return "";
      token = next();
    }
  }
  const partiql::Token name = next();
  if (name.kind == partiql::TokenKind::kQuotedName) return partiql::Unquote(name);
  return name.kind == partiql::TokenKind::kWord ? std::string(name.text) : "";
}

absl::StatusOr<StatementTarget> TargetOfStatement(
    std::string_view statement, const google::protobuf::RepeatedPtrField<std::string>& parameters) {
  ITEMDB_ASSIGN_OR_RETURN(partiql::Statement parsed, partiql::ParseStatement(statement, parameters));
  const bool writes =
      parsed.kind != partiql::StatementKind::kSelect && parsed.kind != partiql::StatementKind::kExists;
  return StatementTarget{.table_name = std::move(parsed.table_name), .writes = writes};
}

}  // namespace itemdb::storage
