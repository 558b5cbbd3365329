// Checks that an HTTP request is signed with a known access key that allows the operation.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/access/access_keys.h"
#include "daemon/http/signature/signature.h"
#include "storage/base/mutex.h"

namespace itemdb::http {

// Thread-safe.
class SignatureCheck {
 public:
  explicit SignatureCheck(std::shared_ptr<const daemon::AccessKeys> keys);

  // The checks that need only the head: the key is known, the time is within five minutes of `now`, and the
  // headers that must be signed are signed. nullopt: no error.
  std::optional<AuthError> CheckHead(const HttpHead& head, const Signature& signature, absl::Time now) const;

  // Checks that the signature is right, fills `caller`, and checks that its key allows `operation`
  // (daemon::CheckOperation()).
  // CheckHead() must have succeeded. nullopt: no error.
  std::optional<AuthError> Check(const HttpHead& head, const Signature& signature, std::string_view body,
                                 const HttpOperation& operation, daemon::Caller* caller) const;

 private:
  // Of one access key: the signing key and scope of the last correct signature. The next request of the same
  // client mostly has the same scope, and then the signing key need not be derived again.
  struct CachedSigningKey {
    std::string scope;
    Sha256 signing_key = {};
  };

  const std::shared_ptr<const daemon::AccessKeys> keys_;
  mutable storage::Mutex mutex_;
  // By key id, for each key that was used.
  mutable std::map<std::string, CachedSigningKey, std::less<>> signing_keys_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::http
