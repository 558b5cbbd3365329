// How a client reaches its daemon, and how one call is made.
//
// Plain data, for designated initializers:
//
//   ClientOptions{.endpoint = "db.example.com:7420", .tls = TlsOptions{.ca_file = "/etc/itemdb/ca.pem"}}
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "itemdb/cancel_token.h"
#include "itemdb/export.h"

namespace itemdb {

// "unix:/run/itemdb/itemd.sock" if that socket exists, otherwise "127.0.0.1:7420".
ITEMDB_EXPORT std::string DefaultEndpoint();

// TLS to the daemon. Files are PEM and are read once, by Client::Open.
struct TlsOptions {
  // Certificates of the authorities that may sign the daemon's. Default: those that the system trusts.
  std::string ca_file = "";
  // This client's certificate (with its chain) and private key, for a daemon that asks for one
  // (`--tls-client-ca`). Both or neither.
  std::string cert_file = "";
  std::string key_file = "";
  // The name that the daemon's certificate must contain. Default: the host of the endpoint.
  std::string server_name = "";
};

// When a failed call is sent again. This always happens within the call's deadline, and only where the call
// cannot be applied twice: a read; a write that was certainly not applied (not sent, or refused with
// QUEUE_FULL, UNAVAILABLE or another error with which the daemon says when to try again); and a write of
// unknown outcome that carries a request token (CallOptions). No other call is sent again.
struct RetryOptions {
  // Attempts in all, at least 1; 1 switches retries off. More survive a longer restart of the daemon.
  int max_attempts = 5;
  // Pause before the second attempt, and the longest pause. The pause doubles with each attempt. A random
  // part of up to a half is taken off each pause, so that many clients do not return at once. A pause is
  // never shorter than the daemon asks for. Both longer than 0.
  absl::Duration initial_backoff = absl::Milliseconds(50);
  absl::Duration max_backoff = absl::Seconds(2);
};

// How the client notices that a connection is dead although nobody closed it, because a cable, a NAT or a
// machine is gone. While calls or streams are open, the client pings the daemon. Without an answer it drops
// the connection: calls end as when a connection is lost, and all of them go on over a new connection as far
// as RetryOptions allow. With the defaults this takes 20 seconds at most, also for the first call after an
// idle time. An idle client sends no pings.
struct KeepaliveOptions {
  // From the answer to one ping to the next, at least 2 s: the daemon disconnects clients that ping much more
  // often. absl::InfiniteDuration() sends no pings; then only the system's TCP gives up, after about 15
  // minutes.
  absl::Duration interval = absl::Seconds(10);
  // How long an answer may take, longer than 0. The time must suffice for the bytes that were sent before the
  // ping, so a slow link needs more: 4 MB of requests at 400 KB/s take 10 s.
  absl::Duration timeout = absl::Seconds(10);
};

// For endpoints that are URLs: what signs the requests, besides the access key of ClientOptions.
struct HttpOptions {
  // Of temporary credentials; goes with the access key of ClientOptions.
  std::string session_token = "";
  // Without an access key in ClientOptions, the credentials are those of the profile that is named here, or
  // of the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN), or of the profile that
  // AWS_PROFILE names, or of "default". Profiles are in AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials. On
  // loopback, where itemd without keys and DynamoDB Local take any, none need to exist.
  std::string profile = "";
  // Default: AWS_REGION, AWS_DEFAULT_REGION, the one in a host name of AWS, or "us-east-1".
  std::string region = "";
  // The most connections at a time, at least 1. Calls beyond that wait for one, within their deadline.
  int max_connections = 64;
};

// A call that has ended, with all its attempts; or a stream, which is one call however long it lasts. Views
// are valid until the hook returns.
struct CallRecord {
  // "PutItem", "QueryStream".
  std::string_view operation;
  // The table that the request names first; empty: none.
  std::string_view table_name;
  // A false condition is a status too; ReasonOf(status) is a good label of a metric.
  const absl::Status& status;
  absl::Time begin;
  absl::Duration duration;
  // How often it was sent; of a stream, how often it was opened.
  int attempts;
  // What was sent as `traceparent`; empty: nothing.
  std::string_view traceparent;
};

struct ClientOptions {
  // "HOST:PORT" or "unix:/PATH" of itemd's gRPC. Default: DefaultEndpoint(). Or the URL of a service of
  // DynamoDB's HTTP protocol: itemd's --http-listen ("http://127.0.0.1:8000"), DynamoDB itself
  // ("https://dynamodb.eu-central-1.amazonaws.com"), another engine. That needs libitemdb_client_http.so.
  //
  // Several, with commas between them: a primary and its standbys, in any order. Calls go to one of them, the
  // first to begin with, until that cannot be reached, its connection is lost, or it refuses a write because
  // it is no primary (STANDBY, FENCED); then to the next. So writes reach the primary, and the new one after
  // a promotion, within RetryOptions. Reads are answered by whichever it is, and reads alone do not leave one
  // that answers: a standby may lack the last writes, and an old primary those of the new one. Streams and
  // watches are opened again at the next too.
  std::string endpoint = "";
  // Deadline of calls whose CallOptions name none, for all attempts together.
  absl::Duration timeout = absl::Seconds(30);
  RetryOptions retry = {};
  KeepaliveOptions keepalive = {};
  // Default: no TLS, which is meant for loopback and unix sockets.
  std::optional<TlsOptions> tls = std::nullopt;
  // Sent with every call as gRPC metadata, for example {"x-tenant", "blue"}. Keys: lower-case letters,
  // digits, '-', '_' and '.', not beginning with "grpc-" and not ending with "-bin". Values: printable ASCII.
  std::multimap<std::string, std::string> metadata = {};
  // Id and secret of the access key that every call carries, for a daemon that requires one
  // (`--access-keys`). Both or neither. To another host than loopback they are sent with TLS only, because
  // anybody who can read the connection can read the secret. No message of this library contains the secret.
  // For a URL they sign the requests, and the secret is not sent; see `http` for their defaults.
  std::string access_key_id = "";
  std::string secret_access_key = "";
  HttpOptions http = {};
  // For metrics and traces: called once for each call that was sent, before its result is handed over. On a
  // thread of this library or of the program, on several at once; must not block and must not call the
  // client. Default: none.
  std::function<void(const CallRecord&)> on_call = nullptr;
  // Returns the `traceparent` (W3C Trace Context) of the span that the program is in, which the call becomes
  // a part of. Called on the thread that makes the call. Empty, or no traceparent: none is sent. Default:
  // none.
  std::function<std::string()> traceparent = nullptr;
};

// `options` with what the environment says about fields that are empty, under the names that itemctl takes
// too: ITEMDB_ENDPOINT; ITEMDB_TLS_CA, ITEMDB_TLS_CERT, ITEMDB_TLS_KEY, ITEMDB_TLS_SERVER_NAME, of which one
// turns TLS on; ITEMDB_ACCESS_KEY_ID with ITEMDB_SECRET_ACCESS_KEY, or with ITEMDB_SECRET_ACCESS_KEY_FILE, a
// file that holds the secret. INVALID_ARGUMENT: that file cannot be read, or is empty.
ITEMDB_EXPORT absl::StatusOr<ClientOptions> OptionsFromEnvironment(ClientOptions options = {});

// How one call is made.
struct CallOptions {
  // The longest time for all attempts together; for a range, for each page. After it the call ends with
  // DEADLINE_EXCEEDED, or with UNAVAILABLE if no connection was established. Default: the client's.
  absl::Duration timeout = absl::ZeroDuration();
  // Default: the client's.
  std::optional<RetryOptions> retry = std::nullopt;
  // Cancels the call. Default: none.
  std::optional<CancelToken> cancel = std::nullopt;
  // Gives a PutItem, UpdateItem, DeleteItem or BatchWriteItem a random request token. The daemon applies a
  // request with a token once even if it arrives several times, so the client sends it again when its outcome
  // is unknown. Costs the daemon one small record per write. TransactWriteItems always has a token; other
  // operations ignore this option.
  bool idempotent = false;
  // A request token of the caller's own, 1 to 36 characters, with the same effect. To repeat a write later,
  // even from another process, send the same request with the same token within ten minutes. Default: none.
  std::string client_request_token = "";
  // The `traceparent` of this call. Default: what ClientOptions::traceparent returns.
  std::string traceparent = "";
};

}  // namespace itemdb
