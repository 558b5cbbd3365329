// How a client reaches its daemon, and how one call is made.
//
// Plain data, for designated initializers:
//
//   ClientOptions{.endpoint = "db.example.com:7420", .tls = TlsOptions{.ca_file = "/etc/itemdb/ca.pem"}}
#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "itemdb/cancel_token.h"
#include "itemdb/export.h"

namespace itemdb {
inline namespace client {

// "unix:/run/itemdb/itemd.sock" where that exists, else "127.0.0.1:7420".
ITEMDB_EXPORT std::string DefaultEndpoint();

// TLS to the daemon. Files are PEM and are read once, by Client::Open.
struct TlsOptions {
  // Certificates of the authorities that may have signed the daemon's. Default: those the system trusts.
  std::string ca_file = "";
  // This client's certificate (with its chain) and private key, for a daemon that asks for one
  // (`--tls-client-ca`). Both or neither.
  std::string cert_file = "";
  std::string key_file = "";
  // The name the daemon's certificate must bear. Default: the host of the endpoint.
  std::string server_name = "";
};

// When a call is sent again after it failed, always within its deadline and only where it cannot be applied
// twice: reads; writes that provably were not applied (not sent, or refused with QUEUE_FULL, UNAVAILABLE or
// another refusal of the daemon that says when to try again); and, when their outcome is unknown, writes that
// carry a request token (CallOptions). Nothing else is ever sent twice.
struct RetryOptions {
  // Attempts in all, at least 1; 1 switches retries off. More outlives longer restarts of the daemon.
  int max_attempts = 5;
  // Pause before the second attempt; it doubles from one to the next up to the greatest. Each is shortened by
  // a random part of up to a half, so that many clients do not return at once, and lengthened to what the
  // daemon asks for. Both longer than 0.
  absl::Duration initial_backoff = absl::Milliseconds(50);
  absl::Duration max_backoff = absl::Seconds(2);
};

struct ClientOptions {
  // "HOST:PORT" or "unix:/PATH". Default: DefaultEndpoint().
  std::string endpoint = "";
  // Deadline of calls whose CallOptions name none, all attempts together.
  absl::Duration timeout = absl::Seconds(30);
  RetryOptions retry = {};
  // Default: no TLS, for loopback and unix sockets.
  std::optional<TlsOptions> tls = std::nullopt;
  // Sent with every call as gRPC metadata, for example {"x-tenant", "blue"}. Keys: lower-case letters,
  // digits, '-', '_' and '.', not beginning with "grpc-" and not ending with "-bin". Values: printable ASCII.
  std::multimap<std::string, std::string> metadata = {};
  // Id and secret of the access key that every call carries, for a daemon that asks for one
  // (`--access-keys`). Both or neither; off loopback only with TLS, as whoever reads the secret has it. In no
  // message of this library is the secret.
  std::string access_key_id = "";
  std::string secret_access_key = "";
};

// How one call is made.
struct CallOptions {
  // The call ends with DEADLINE_EXCEEDED after this time, all attempts together, or with UNAVAILABLE when it
  // never got a connection to be sent on; for a range, each page has it anew. Default: the client's.
  absl::Duration timeout = absl::ZeroDuration();
  // Default: the client's.
  std::optional<RetryOptions> retry = std::nullopt;
  // Ends the call early. Default: nothing does.
  std::optional<CancelToken> cancel = std::nullopt;
  // Gives a PutItem, UpdateItem, DeleteItem or BatchWriteItem a random request token: the daemon applies it
  // once however often it arrives, so it is sent again when its outcome is unknown. Costs the daemon one more
  // small record per write. TransactWriteItems has a token always; no effect on anything else.
  bool idempotent = false;
  // A request token of the caller's own, 1 to 36 characters, with the same effect; to repeat a write later,
  // even from another process, send the same request with the same token within ten minutes. Default: none.
  std::string client_request_token = "";
};

}  // namespace client
}  // namespace itemdb
