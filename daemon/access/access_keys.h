// Access keys, the role of each key, and the caller of a request. Clients of HTTP sign their requests with a
// key (daemon/http/signature); clients of gRPC send the key itself (authorizer.h). A key file is TOML:
//
//   [[key]]
//   id = "AKORDERS"                # clients call this the access key id
//   secret = "at least 16 bytes"   # clients call this the secret access key
//   role = "read"                  # "write" may also write items, "admin" may also change tables
//
// The role holds for all tables. A key may also have roles for some tables, and then needs no other role:
//
//   [[key.tables]]
//   names = ["Order", "Invoice*"]  # table names, or beginnings of names followed by '*'
//   role = "write"                 # of these tables
//   streams = true                 # the key may read their change records; default false
//
// What a key may do to a table is what its role or any of its grants allows. Operations that are not about
// tables which the request names need the role for all tables (Scope in role.h).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/access/role.h"
#include "daemon/access/table_grants.h"
#include "storage/base/status.h"

namespace itemdb::daemon {

// Reason of PERMISSION_DENIED: the operation needs a higher role than the caller's (ERR-17).
inline constexpr std::string_view kReasonAccessDenied = storage::kReasonAccessDenied;
// Reason of UNAUTHENTICATED: no key was sent, its id is unknown or its secret is wrong (ERR-17).
inline constexpr std::string_view kReasonUnauthenticated = "UNAUTHENTICATED";

// Whether `text` has the form of a key id: 3 to 128 letters, digits, '_', '-' and '.'.
inline constexpr size_t kMinKeyIdBytes = 3;
inline constexpr size_t kMaxKeyIdBytes = 128;
bool IsKeyId(std::string_view text);

struct AccessKey {
  std::string id;
  std::string secret;
  // For all tables.
  Role role = Role::kRead;
  // For some tables.
  TableGrants grants = {};

  bool operator==(const AccessKey&) const = default;
};

// Who made a request. The default is the caller of a daemon without access keys: it may do everything.
struct Caller {
  std::string key_id;
  // Over HTTP: the region of the credential scope, which is signed if there are access keys; else empty.
  std::string region = {};
  // For all tables.
  Role role = Role::kAdmin;
  // Null: the key has no grants, so nothing that depends on the tables of a request needs to be checked.
  std::shared_ptr<const TableGrants> grants = nullptr;
};

// PERMISSION_DENIED: `caller` may not do `what`, e.g. "dynamodb:PutItem", which needs the role `needed` for
// all tables.
absl::Status AccessDeniedError(const Caller& caller, std::string_view what, Role needed);

// Whether `caller` may call an operation `what`, as far as that does not depend on the request: its role is
// high enough, or it has grants and the operation is about the tables that the request names (then
// CheckTables() in request_access.h must follow). PERMISSION_DENIED: otherwise.
absl::Status CheckOperation(const Caller& caller, std::string_view what, OperationAccess needed);

// Immutable.
class AccessKeys {
 public:
  // INVALID_ARGUMENT: two keys have the same id.
  static absl::StatusOr<std::shared_ptr<const AccessKeys>> Make(std::vector<AccessKey> keys);

  // Reads a key file. UNAVAILABLE: the file cannot be read. INVALID_ARGUMENT: it is not a valid key file, or
  // other users of this machine may use it (ReadSecretFile()). The message names the file, the line and
  // what is allowed; it never contains a secret.
  static absl::StatusOr<std::shared_ptr<const AccessKeys>> Read(const std::string& path);

  size_t size() const { return keys_.size(); }
  // The key of a file with one; null if there are more.
  const AccessKey* Only() const { return keys_.size() == 1 ? &keys_.begin()->second : nullptr; }
  // Null when no key has this id. The key lives as long as this object.
  const AccessKey* Find(std::string_view id) const;
  // The caller that has shown `key`, which is a key of `keys`.
  static Caller CallerWith(const std::shared_ptr<const AccessKeys>& keys, const AccessKey& key);

  bool operator==(const AccessKeys&) const = default;

 private:
  AccessKeys() = default;

  // By id.
  std::map<std::string, AccessKey, std::less<>> keys_;
};

}  // namespace itemdb::daemon
