#include "daemon/access/request_access.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace itemdb::daemon {
namespace {

Role RoleForTable(const Caller& caller, std::string_view table) {
  return std::max(caller.role, caller.grants == nullptr ? Role::kNone : caller.grants->RoleOf(table));
}

bool MayReadStreams(const Caller& caller, std::string_view table) {
  return caller.role >= Role::kRead || (caller.grants != nullptr && caller.grants->MayReadStreams(table));
}

// PERMISSION_DENIED. Quotes `table` only if it is a valid name: other texts could be long, or break log
// lines.
TableDenial DeniedForTable(const Caller& caller, std::string_view what, Scope scope, std::string_view table,
                           const TableUse& use) {
  std::string where = "a table whose name is not valid";
  std::string named;
  if (table.empty()) {
    where = "all tables";
  } else if (!table.ends_with('*') && IsTablePattern(table)) {
    named = table;
    where = "table " + named;
  }
  std::string operation(what);
  if (!use.action.empty()) operation = absl::StrFormat("dynamodb:%s", use.action);
  const std::string why = scope == Scope::kStreams
                              ? "this takes streams = true in a grant"
                              : absl::StrFormat("its role there is %s and this takes %s",
                                                NameOf(RoleForTable(caller, table)), NameOf(use.role));
  return {.status = storage::WithRule(
              "ERR-17",
              storage::MakeError(absl::StatusCode::kPermissionDenied, kReasonAccessDenied,
                                 absl::StrFormat("User: %s is not authorized to perform: %s on %s because %s",
                                                 caller.key_id, operation, where, why))),
          .table_name = std::move(named)};
}

}  // namespace

std::optional<TableDenial> CheckTableUses(const Caller& caller, std::string_view what, OperationAccess needed,
                                          const std::vector<TableUse>& uses) {
  // CheckOperation() has decided about the other operations.
  if (needed.scope != Scope::kTables && needed.scope != Scope::kStreams) return std::nullopt;
  const auto check = [&](const TableUse& use) -> std::optional<TableDenial> {
    const std::string_view table = storage::Database::TableNameOf(use.table);
    const bool may = needed.scope == Scope::kStreams ? MayReadStreams(caller, table)
                                                     : RoleForTable(caller, table) >= use.role;
    if (may) return std::nullopt;
    return DeniedForTable(caller, what, needed.scope, table, use);
  };
  if (uses.empty()) return check({.table = "", .role = needed.role});
  for (const TableUse& use : uses) {
    if (auto denied = check(use)) return denied;
  }
  return std::nullopt;
}

bool MaySeeTable(const Caller& caller, std::string_view name) {
  return RoleForTable(caller, name) >= Role::kRead || MayReadStreams(caller, name);
}

}  // namespace itemdb::daemon
