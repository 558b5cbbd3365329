// Roles, and what an operation needs of its caller.
#pragma once

#include <string_view>

namespace itemdb::daemon {

// The role of a key for all tables or for some, and the lowest role that an operation needs. Each role
// includes the roles before it. kMetrics may only read the metrics page.
enum class Role { kNone, kMetrics, kRead, kWrite, kAdmin };

// "read".
std::string_view NameOf(Role role);

// What an operation is about. It decides what a key may do that has roles for some tables only.
enum class Scope {
  // The whole database: needs the role for all tables.
  kDatabase,
  // The tables that the request names: needs the role for each of them.
  kTables,
  // Change records of the tables that the request names: needs `streams` for each of them, or the role for
  // all tables.
  kStreams,
  // The list of tables: every key with a grant may have it, and gets the names of the tables that it has a
  // grant for.
  kTableNames,
  // Nothing that is stored: every key with a grant may have it.
  kNothing
};

struct OperationAccess {
  Role role = Role::kAdmin;
  Scope scope = Scope::kDatabase;
  // The audit log has the call whatever its role is.
  bool always_audited = false;
};

}  // namespace itemdb::daemon
