// The keys that requests over HTTP are signed with, and what each allows. In a TOML file:
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

#include "daemon/http/signature.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace itemdb {

struct AccessKey {
  std::string id;
  std::string secret;
  Role role = Role::kRead;
};

// Thread-safe.
class AccessKeys {
 public:
  // INVALID_ARGUMENT: an id is there twice.
  static absl::StatusOr<std::shared_ptr<const AccessKeys>> Make(std::vector<AccessKey> keys);

  // Reads a key file. UNAVAILABLE: it cannot be read. INVALID_ARGUMENT: it is no key file, or everybody on
  // this machine may read it. The message names the file, the line and what is allowed; never a secret.
  static absl::StatusOr<std::shared_ptr<const AccessKeys>> Read(const std::string& path);

  size_t size() const { return entries_.size(); }

  // What can be said before the body is there: whether the key is one of these, the time within five minutes
  // of `now`, and what must be signed is.
  std::optional<Refusal> CheckClaim(const HttpHead& head, const Signature& signature, absl::Time now) const;

  // Whether the signature is that of the request, and its key may use `operation`. After CheckClaim.
  std::optional<Refusal> Check(const HttpHead& head, const Signature& signature, std::string_view body,
                               const HttpOperation& operation) const;

 private:
  struct Entry {
    std::string secret;
    Role role;
    // The signing key of the last good signature and its scope: a client's next request has the same.
    mutable Mutex mutex;
    mutable std::string scope ABSL_GUARDED_BY(mutex);
    mutable Sha256 signing_key ABSL_GUARDED_BY(mutex) = {};
  };

  AccessKeys() = default;
  static std::optional<Sha256> CachedKey(const Entry& entry, std::string_view scope);

  // By id.
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace itemdb
