// Decides who may call which gRPC method: checks the key that a call carries, and whether the key's role is
// at least the role that the method needs (ERR-17). For a key with roles for some tables, request_access.h
// decides when the request is known.
//
// Clients send the key with every call in the metadata `authorization`, in the form of RFC 7617:
//
//   authorization: Basic base64(ID:SECRET)
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/access/access_keys.h"
#include "storage/base/mutex.h"

namespace itemdb::daemon {

struct MethodRole {
  // "itemdb.v1.Data/PutItem".
  std::string_view method;
  Role role;
  Scope scope;
  // The audit log has its calls although they need no role admin.
  bool always_audited = false;
};

// All methods of our services, reflection's included. Health checks are missing: they need no key.
const std::vector<MethodRole>& MethodRoles();

// What `method` needs; the role admin for all tables, for a method that is not in the table.
OperationAccess AccessOfMethod(std::string_view method);
inline Role RoleOfMethod(std::string_view method) { return AccessOfMethod(method).role; }
// For the audit log: the role admin for a method whose calls it always has.
inline Role AuditedRoleOfMethod(std::string_view method) {
  const OperationAccess access = AccessOfMethod(method);
  return access.always_audited ? Role::kAdmin : access.role;
}

// The key id in metadata `authorization`, for the log of refused calls; empty if it is not of the form of an
// id. Nothing says that the caller has this key.
std::string ClaimedKeyId(std::optional<std::string_view> authorization);

// Thread-safe.
class Authorizer {
 public:
  // Later calls are checked against `keys`. Null, the initial value: everybody may call everything.
  void SetKeys(std::shared_ptr<const AccessKeys> keys);

  // False: there are no keys, and Check() accepts every call whatever its metadata.
  bool asks_for_keys() const { return has_keys_.load(std::memory_order_acquire); }

  // The caller of a call whose metadata `authorization` has this value (nullopt: the call has none).
  // UNAUTHENTICATED: the value is missing or malformed, or names no known key with its secret.
  // PERMISSION_DENIED: no request of `method` is allowed (CheckOperation()).
  absl::StatusOr<Caller> Check(std::string_view method, std::optional<std::string_view> authorization) const {
    return Check(method, AccessOfMethod(method), authorization);
  }
  // The same for something that is no method and needs `needed`.
  absl::StatusOr<Caller> Check(std::string_view what, OperationAccess needed,
                               std::optional<std::string_view> authorization) const;
  // The key itself, as it was when it was checked. There must be keys. Errors as Check().
  absl::StatusOr<AccessKey> CheckKey(std::string_view what, OperationAccess needed,
                                     std::optional<std::string_view> authorization) const;

 private:
  // The keys that have it, and the key, which is one of them.
  struct Found {
    std::shared_ptr<const AccessKeys> keys;
    const AccessKey* key = nullptr;
  };
  absl::StatusOr<Found> Find(std::optional<std::string_view> authorization) const;

  std::atomic<bool> has_keys_ = false;
  mutable storage::Mutex mutex_;
  std::shared_ptr<const AccessKeys> keys_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::daemon
