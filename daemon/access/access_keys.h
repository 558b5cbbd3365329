// The keys of a key file, what each allows, and who called. Both protocols ask for them: HTTP has requests
// signed with them (daemon/http/signature), gRPC has them sent (call_access.h). In a TOML file:
//
//   [[key]]
//   id = "AKORDERS"                # what clients call access key id
//   secret = "at least 16 bytes"   # ... secret access key
//   role = "read"                  # or "write": also data, or "admin": also tables
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace itemdb {

// ERR-17. PERMISSION_DENIED: the caller's role is less than what was called takes.
inline constexpr std::string_view kReasonAccessDenied = "ACCESS_DENIED";
// ERR-17. UNAUTHENTICATED: no key was sent, or not a good one.
inline constexpr std::string_view kReasonUnauthenticated = "UNAUTHENTICATED";

// What a caller must be allowed to do to use an operation; each may do what those before it may.
enum class Role { kRead, kWrite, kAdmin };

// "read".
std::string_view NameOf(Role role);

struct AccessKey {
  std::string id;
  std::string secret;
  Role role = Role::kRead;

  bool operator==(const AccessKey&) const = default;
};

// Whoever made a request. As it is without keys: anybody may do anything.
struct Caller {
  std::string key_id;
  Role role = Role::kAdmin;
};

// PERMISSION_DENIED: `caller` may not do `what`, e.g. "dynamodb:PutItem", which takes `needed`.
absl::Status AccessDeniedError(const Caller& caller, std::string_view what, Role needed);

// Immutable.
class AccessKeys {
 public:
  // INVALID_ARGUMENT: an id is there twice.
  static absl::StatusOr<std::shared_ptr<const AccessKeys>> Make(std::vector<AccessKey> keys);

  // Reads a key file. UNAVAILABLE: it cannot be read. INVALID_ARGUMENT: it is no key file, or everybody on
  // this machine may read it. The message names the file, the line and what is allowed; never a secret.
  static absl::StatusOr<std::shared_ptr<const AccessKeys>> Read(const std::string& path);

  size_t size() const { return keys_.size(); }
  // Null when there is none of that id.
  const AccessKey* Find(std::string_view id) const;

  bool operator==(const AccessKeys&) const = default;

 private:
  AccessKeys() = default;

  // By id.
  std::map<std::string, AccessKey, std::less<>> keys_;
};

}  // namespace itemdb
