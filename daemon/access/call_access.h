// Who may call what over gRPC: the key a call carries, and the role each method takes (ERR-17).
//
// A key is sent with every call, as RFC 7617 writes it, in the metadata `authorization`:
//
//   authorization: Basic base64(ID:SECRET)
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "daemon/access/access_keys.h"
#include "storage/base/mutex.h"

namespace itemdb {

struct MethodRole {
  // "itemdb.v1.Data/PutItem".
  std::string_view method;
  Role role;
};

// Every method of ours, and the one of gRPC's own services that takes a key. Health checks take none.
const std::vector<MethodRole>& MethodRoles();

// What `method` takes; of one that is not in the table, all there is.
Role RoleOfMethod(std::string_view method);

// Thread-safe.
class CallAccess {
 public:
  // From now on; null, as at first: everybody may call everything.
  void SetKeys(std::shared_ptr<const AccessKeys> keys);

  // False: Check() lets everybody in, whatever they send.
  bool asks_for_keys() const { return has_keys_.load(std::memory_order_acquire); }

  // Whose call this is. UNAUTHENTICATED: `authorization`, the metadata of that name (nothing: there is none),
  // does not carry a key and its secret. PERMISSION_DENIED: the key's role is less than `method` takes.
  absl::StatusOr<Caller> Check(std::string_view method, std::optional<std::string_view> authorization) const;

 private:
  std::atomic<bool> has_keys_ = false;
  mutable Mutex mutex_;
  std::shared_ptr<const AccessKeys> keys_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb
