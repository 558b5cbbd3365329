// Reads key files (TOML) into AccessKeys.
#include <toml++/toml.h>

#include "absl/strings/str_format.h"
#include "daemon/access/access_keys.h"
#include "daemon/process/file_bytes.h"

namespace itemdb::daemon {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;
constexpr size_t kMinSecretBytes = 16;

absl::Status Wrong(const std::string& path, const toml::node& node, std::string_view message) {
  return storage::ValidationError(absl::StrFormat("%s:%d: %s", path, node.source().begin.line, message));
}

std::optional<Role> ReadRole(std::string_view text) {
  if (text == "read") return Role::kRead;
  if (text == "write") return Role::kWrite;
  if (text == "admin") return Role::kAdmin;
  return std::nullopt;
}

absl::StatusOr<AccessKey> ReadKey(const std::string& path, const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return Wrong(path, node, "key is written as a table: [[key]]");
  for (const auto& [name, value] : *table) {
    if (name != "id" && name != "secret" && name != "role") {
      return Wrong(path, value, "this member is unknown: a key has an id, a secret and a role");
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
  std::optional<Role> role = ReadRole((*table)["role"].value_or(std::string()));
  if (!role.has_value()) {
    return Wrong(path, node, absl::StrFormat("the key \"%s\" needs a role: read, write or admin", id));
  }
  return AccessKey{.id = id, .secret = secret, .role = *role};
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
