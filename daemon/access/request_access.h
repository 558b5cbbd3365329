// Whether a caller with roles for some tables may make a request: the second half of access control, after
// CheckOperation(), when the request is decoded. Both protocols call CheckTables() before the database.
//
// Only the key file decides, never the database: an error does not tell whether a table exists.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/access/access_keys.h"
#include "daemon/access/request_tables.h"

namespace itemdb::daemon {

struct TableDenial {
  absl::Status status;
  // The name of the table that the caller may not use, for log lines. Empty: all tables, or not a table name.
  std::string table_name;
};

// Checks the tables of a request. nullopt: `caller` may use all of them. `what` is the operation, such as
// "dynamodb:PutItem". PERMISSION_DENIED: the caller may not use a table so; nothing must be executed.
std::optional<TableDenial> CheckTableUses(const Caller& caller, std::string_view what, OperationAccess needed,
                                          const std::vector<TableUse>& uses);

// As above for the tables of `request`. `caller` has passed CheckOperation(). INVALID_ARGUMENT: it cannot be
// told which tables the request names (AddTables()).
//
// Callers without grants need not be checked: `caller.grants` is null, and a call costs nothing more.
template <typename Request>
std::optional<TableDenial> CheckTables(const Caller& caller, std::string_view what, OperationAccess needed,
                                       const Request& request) {
  if (caller.grants == nullptr) return std::nullopt;
  std::vector<TableUse> uses;
  if (absl::Status named = AddTables(request, needed.role, &uses); !named.ok())
    return TableDenial{.status = std::move(named), .table_name = ""};
  return CheckTableUses(caller, what, needed, uses);
}

// Whether ListTables shows the table `name` to `caller`: it may do something with the table.
bool MaySeeTable(const Caller& caller, std::string_view name);

}  // namespace itemdb::daemon
