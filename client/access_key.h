// The metadata in which an access key is sent.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "itemdb/options.h"

namespace itemdb {
inline namespace client {

inline constexpr char kAuthorization[] = "authorization";

// The value of `authorization`, as RFC 7617 writes it; empty when `options` name no key. INVALID_ARGUMENT: id
// or secret is missing or has what cannot be sent, or it would cross a network without TLS.
absl::StatusOr<std::string> AuthorizationOf(const ClientOptions& options);

}  // namespace client
}  // namespace itemdb
