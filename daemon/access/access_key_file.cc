// Reads key files (TOML) into AccessKeys.
#include <toml++/toml.h>

#include "absl/strings/str_format.h"
#include "daemon/access/access_keys.h"
#include "daemon/process/file_bytes.h"
#include "storage/base/limits.h"

namespace itemdb::daemon {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;
constexpr size_t kMinSecretBytes = 16;

absl::Status Wrong(const std::string& path, const toml::node& node, std::string_view message) {
  return storage::ValidationError(absl::StrFormat("%s:%d: %s", path, node.source().begin.line, message));
}

std::optional<Role> ReadRole(std::string_view text) {
  if (text == "metrics") return Role::kMetrics;
  if (text == "read") return Role::kRead;
  if (text == "write") return Role::kWrite;
  if (text == "admin") return Role::kAdmin;
  return std::nullopt;
}

// Reads the table names and patterns of a grant.
absl::StatusOr<std::vector<std::string>> ReadNames(const std::string& path, const toml::node& grant,
                                                   const toml::node* node) {
  const toml::array* array = node == nullptr ? nullptr : node->as_array();
  if (array == nullptr || array->empty()) {
    return Wrong(
        path, node == nullptr ? grant : *node,
        "[[key.tables]] needs names: a list of table names, or of beginnings of names followed by *, "
        "such as names = [\"Order\", \"Invoice*\"]");
  }
  std::vector<std::string> names;
  for (const toml::node& one : *array) {
    std::string name = one.value_or(std::string());
    if (!one.is_string() || !IsTablePattern(name)) {
      return Wrong(path, one,
                   absl::StrFormat("a name in names is a table name (%d to %d letters, digits, '_', '-' and "
                                   "'.'), or the beginning of one followed by *",
                                   storage::kMinTableNameBytes, storage::kMaxTableNameBytes));
    }
    names.push_back(std::move(name));
  }
  return names;
}

absl::StatusOr<TableGrant> ReadGrant(const std::string& path, const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return Wrong(path, node, "tables of a key are written as tables: [[key.tables]]");
  for (const auto& [name, value] : *table) {
    if (name != "names" && name != "role" && name != "streams") {
      return Wrong(path, value, "this member is unknown: [[key.tables]] has names, a role and streams");
    }
  }
  TableGrant grant;
  ITEMDB_ASSIGN_OR_RETURN(grant.names, ReadNames(path, node, table->get("names")));
  if (const toml::node* streams = table->get("streams")) {
    if (!streams->is_boolean()) return Wrong(path, *streams, "streams is true or false");
    grant.streams = streams->value_or(false);
  }
  if (const toml::node* given = table->get("role")) {
    const std::optional<Role> role = ReadRole(given->value_or(std::string()));
    if (!role.has_value() || *role == Role::kMetrics)
      return Wrong(path, *given, "the role of [[key.tables]] is read, write or admin");
    grant.role = *role;
  } else if (!grant.streams) {
    return Wrong(path, node, "[[key.tables]] needs a role (read, write or admin), streams = true, or both");
  }
  return grant;
}

// Reads [[key.tables]], which may be missing.
absl::StatusOr<TableGrants> ReadGrants(const std::string& path, const toml::node* node) {
  if (node == nullptr) return TableGrants();
  const toml::array* array = node->as_array();
  if (array == nullptr || array->empty())
    return Wrong(path, *node, "tables of a key are written as tables: [[key.tables]]");
  std::vector<TableGrant> grants;
  for (const toml::node& one : *array) {
    ITEMDB_ASSIGN_OR_RETURN(TableGrant grant, ReadGrant(path, one));
    grants.push_back(std::move(grant));
  }
  return TableGrants(std::move(grants));
}

absl::StatusOr<AccessKey> ReadKey(const std::string& path, const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return Wrong(path, node, "key is written as a table: [[key]]");
  for (const auto& [name, value] : *table) {
    if (name != "id" && name != "secret" && name != "role" && name != "tables") {
      return Wrong(path, value,
                   "this member is unknown: a key has an id, a secret, a role and [[key.tables]]");
    }
  }
  const std::string id = (*table)["id"].value_or(std::string());
  if (!IsKeyId(id)) {
    return Wrong(path, node,
                 absl::StrFormat("a key needs an id of %d to %d letters, digits, '_', '-' and '.'",
                                 kMinKeyIdBytes, kMaxKeyIdBytes));
  }
  const std::string secret = (*table)["secret"].value_or(std::string());
  if (secret.size() < kMinSecretBytes) {
    return Wrong(path, node,
                 absl::StrFormat("the key \"%s\" needs a secret of at least %d bytes", id, kMinSecretBytes));
  }
  ITEMDB_ASSIGN_OR_RETURN(TableGrants grants, ReadGrants(path, table->get("tables")));
  std::optional<Role> role = Role::kNone;
  // Without a role, a key with grants may use only the tables of its grants.
  if (table->contains("role") || grants.empty()) role = ReadRole((*table)["role"].value_or(std::string()));
  if (!role.has_value()) {
    return Wrong(
        path, node,
        absl::StrFormat("the key \"%s\" needs a role: metrics, read, write or admin, for all tables; or "
                        "[[key.tables]], for some",
                        id));
  }
  return AccessKey{.id = id, .secret = secret, .role = *role, .grants = std::move(grants)};
}

}  // namespace

absl::StatusOr<std::shared_ptr<const AccessKeys>> AccessKeys::Read(const std::string& path) {
  absl::StatusOr<std::string> text = ReadSecretFile(path, kMaxFileBytes);
  if (!text.ok())
    return absl::Status(text.status().code(), "the key file " + storage::MessageOf(text.status()));
  toml::table document;
  try {
    document = toml::parse(*text, path);
  } catch (const toml::parse_error& error) {
    // The parser's description is left out: it quotes the file, and the quoted text may be a secret.
    return storage::ValidationError(absl::StrFormat(
        "%s:%d: this is not TOML; text stands in quotes: secret = \"...\"", path, error.source().begin.line));
  }
  for (const auto& [name, value] : document) {
    if (name != "key") {
      return Wrong(path, value, "this name is unknown: a key file has tables [[key]]");
    }
  }
  const toml::array* array = document["key"].as_array();
  if (array == nullptr || array->empty()) {
    return storage::ValidationError(
        absl::StrFormat("%s has no key: write [[key]] with an id, a secret and a role", path));
  }
  std::vector<AccessKey> keys;
  for (const toml::node& node : *array) {
    ITEMDB_ASSIGN_OR_RETURN(AccessKey key, ReadKey(path, node));
    keys.push_back(std::move(key));
  }
  auto made = Make(std::move(keys));
  if (!made.ok())
    return storage::ValidationError(absl::StrFormat("%s: %s", path, storage::MessageOf(made.status())));
  return made;
}

}  // namespace itemdb::daemon
