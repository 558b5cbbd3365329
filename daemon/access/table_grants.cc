#include "daemon/access/table_grants.h"

#include <algorithm>

#include "storage/base/limits.h"

namespace itemdb::daemon {
namespace {

bool HasTableNameCharacters(std::string_view text) {
  return text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") ==
         std::string_view::npos;
}

bool MatchesTable(const TableGrant& grant, std::string_view table) {
  return std::any_of(grant.names.begin(), grant.names.end(), [table](std::string_view name) {
    return name.ends_with('*') ? table.starts_with(name.substr(0, name.size() - 1)) : table == name;
  });
}

}  // namespace

bool IsTablePattern(std::string_view text) {
  if (text.ends_with('*')) {
    text.remove_suffix(1);
    return text.size() <= storage::kMaxTableNameBytes && HasTableNameCharacters(text);
  }
  return text.size() >= storage::kMinTableNameBytes && text.size() <= storage::kMaxTableNameBytes &&
         HasTableNameCharacters(text);
}

TableGrants TableGrants::AtMost(Role highest) const {
  std::vector<TableGrant> grants = grants_;
  for (TableGrant& grant : grants) grant.role = std::min(grant.role, highest);
  return TableGrants(std::move(grants));
}

Role TableGrants::RoleOf(std::string_view table) const {
  Role highest = Role::kNone;
  for (const TableGrant& grant : grants_) {
    if (grant.role > highest && MatchesTable(grant, table)) highest = grant.role;
  }
  return highest;
}

bool TableGrants::MayReadStreams(std::string_view table) const {
  return std::any_of(grants_.begin(), grants_.end(), [table](const TableGrant& grant) {
    return grant.streams && MatchesTable(grant, table);
  });
}

}  // namespace itemdb::daemon
