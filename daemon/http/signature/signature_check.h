// Whether requests over HTTP are signed with a key that is known and allows them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/access/access_keys.h"
#include "daemon/http/signature/signature.h"
#include "storage/base/mutex.h"

namespace itemdb {

// Thread-safe.
class SignatureCheck {
 public:
  explicit SignatureCheck(std::shared_ptr<const AccessKeys> keys);

  // What can be said before the body is there: whether the key is one of these, the time within five minutes
  // of `now`, and what must be signed is.
  std::optional<Refusal> CheckClaim(const HttpHead& head, const Signature& signature, absl::Time now) const;

  // Whether the signature is that of the request, and its key may use `operation`; fills `caller` if so.
  // After CheckClaim.
  std::optional<Refusal> Check(const HttpHead& head, const Signature& signature, std::string_view body,
                               const HttpOperation& operation, Caller* caller) const;

 private:
  // The signing key of the last good signature and its scope: a client's next request has the same.
  struct Kept {
    std::string scope;
    Sha256 signing_key = {};
  };

  const std::shared_ptr<const AccessKeys> keys_;
  mutable Mutex mutex_;
  // Of each key that was used, by id.
  mutable std::map<std::string, Kept, std::less<>> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb
