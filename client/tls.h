// TLS: credentials from files, and what gRPC's words for a failed handshake mean.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <grpcpp/security/credentials.h>

#include "absl/status/statusor.h"
#include "itemdb/options.h"

namespace itemdb {
inline namespace client {

// Reads the files. INVALID_ARGUMENT: one cannot be read, or holds no certificate or no private key; a
// certificate without a key or a key without a certificate.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeTlsCredentials(const TlsOptions& options);

// A sentence on why no connection came about, from the message of the status that gRPC ends a call with. It
// contains gRPC's own words, whatever they are.
std::string WhyNotConnected(const std::string& grpc_message, const std::optional<TlsOptions>& tls);

}  // namespace client
}  // namespace itemdb
