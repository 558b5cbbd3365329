// Roles for some tables: what an access key may do to tables that its key file lists in [[key.tables]].
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/access/role.h"

namespace itemdb::daemon {

// One [[key.tables]].
struct TableGrant {
  // Table names, and beginnings of table names followed by '*' (IsTablePattern()).
  std::vector<std::string> names = {};
  Role role = Role::kNone;
  // Whether the key may read the change records of these tables: their streams, and Changes.
  bool streams = false;

  bool operator==(const TableGrant&) const = default;
};

// Whether `text` is a valid table name, or a beginning of one (which may be empty) followed by '*'.
bool IsTablePattern(std::string_view text);

// What a key may do to each table. A table has what any grant gives it: the highest role of the grants that
// match its name. Immutable.
class TableGrants {
 public:
  TableGrants() = default;
  explicit TableGrants(std::vector<TableGrant> grants) : grants_(std::move(grants)) {}

  bool empty() const { return grants_.empty(); }
  const std::vector<TableGrant>& grants() const { return grants_; }
  // The same grants with no role above `highest`.
  TableGrants AtMost(Role highest) const;
  // `table` is a table name, not an ARN. The empty name stands for all tables together: only the pattern "*"
  // matches it.
  Role RoleOf(std::string_view table) const;
  bool MayReadStreams(std::string_view table) const;

  bool operator==(const TableGrants&) const = default;

 private:
  std::vector<TableGrant> grants_;
};

}  // namespace itemdb::daemon
