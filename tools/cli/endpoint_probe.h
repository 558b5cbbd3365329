// Finds out what listens at an endpoint where no itemd answers: an HTTP server, a TLS port, a server that
// sends nothing, a unix socket that is not for this user.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

enum class Listener {
  // The connection is refused or times out, or the address does not resolve.
  kNone,
  // Speaks HTTP/2 without TLS, as itemd does.
  kHttp2,
  kHttp1,
  kTls,
  // TLS, and selects HTTP/2, as gRPC does.
  kTlsHttp2,
  // Accepts connections, and closes them or speaks another protocol.
  kOther,
  // Accepts connections and sends nothing.
  kSilent,
};

// Connects to `endpoint`, "HOST:PORT" or "unix:/PATH", and examines the bytes that the server sends. Blocks
// for at most about two seconds.
Listener ProbeEndpoint(const std::string& endpoint);

// Probes the context's endpoint and adds the reason found to `status`, the error of an unreachable daemon.
// Returns `status` unchanged if the probe finds no reason.
absl::Status Diagnosed(const absl::Status& status, Context& context);

}  // namespace itemdb::tools
