// TLS: credentials from files, and explanations of gRPC's messages for a failed handshake.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <grpcpp/security/credentials.h>

#include "absl/status/statusor.h"
#include "itemdb/options.h"

namespace itemdb {

// Reads the files. INVALID_ARGUMENT: a file cannot be read, holds no certificate or no private key, or only
// one of certificate and key is given.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeTlsCredentials(const TlsOptions& options);

// A sentence that explains why no connection was made, found by the message of gRPC's status. The sentence
// always contains that message.
std::string WhyNotConnected(const std::string& grpc_message, const std::optional<TlsOptions>& tls);

}  // namespace itemdb
