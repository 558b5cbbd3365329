// Attribute names that are reserved words, which an expression can only use through an alias: itemctl makes
// the alias itself.
#pragma once

#include <string>

#include "itemdb/expression.h"
#include "itemdb/requests.h"

namespace itemdb::tools {

// Replaces each attribute name in `expression` that is a reserved word, such as status, by an alias, #status,
// and adds the alias to `names`. Names in `names`, functions, operators and the clauses of an update
// expression stay as they are.
void AliasReservedWords(std::string& expression, ExpressionAttributeNames& names);

// The same for all expressions of a request.
template <typename Request>
void AliasReservedWords(Request& request) {
  ExpressionAttributeNames& names = request.expression_attribute_names;
  if constexpr (requires { request.filter_expression; }) AliasReservedWords(request.filter_expression, names);
  if constexpr (requires { request.projection_expression; })
    AliasReservedWords(request.projection_expression, names);
  if constexpr (requires { request.key_condition_expression; })
    AliasReservedWords(request.key_condition_expression, names);
  if constexpr (requires { request.condition_expression; })
    AliasReservedWords(request.condition_expression, names);
  if constexpr (requires { request.update_expression; }) AliasReservedWords(request.update_expression, names);
}

}  // namespace itemdb::tools
