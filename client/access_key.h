// The gRPC metadata that carries an access key.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "itemdb/options.h"

namespace itemdb {

inline constexpr char kAuthorization[] = "authorization";

// The value of `authorization` (HTTP Basic, RFC 7617); empty if `options` hold no key. INVALID_ARGUMENT: id
// or secret is missing or has characters that cannot be sent, or the secret would leave this machine without
// TLS.
absl::StatusOr<std::string> AuthorizationOf(const ClientOptions& options);

}  // namespace itemdb
