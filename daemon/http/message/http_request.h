// The head of a request, and the operation that it names (SEM-113). Views point into the connection's parser.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "daemon/http/api/http_handler.h"
#include "daemon/http/message/absl_view.h"
#include "daemon/http/message/compression.h"

namespace itemdb::http {

// A longer body is refused, as sent and as inflated (SEM-018).
inline constexpr size_t kMaxBodyBytes = 16 << 20;

struct HttpHeader {
  std::string_view name;
  std::string_view value;

  // Whether its name is `other`, in any case.
  bool HasName(std::string_view other) const {
    return name.size() == other.size() && absl::EqualsIgnoreCase(Absl(name), Absl(other));
  }
};

struct HttpHead {
  std::string_view method;
  std::string_view target;
  // False: HTTP/1.0.
  bool http_1_1 = true;
  // In the order sent; a name may occur more than once.
  std::vector<HttpHeader> headers;

  // The value of the first header with this name in any case; nullopt without one.
  std::optional<std::string_view> Find(std::string_view name) const;
  // How many headers have this name.
  int64_t Count(std::string_view name) const;
  // The target before its question mark, and after it.
  std::string_view path() const { return target.substr(0, target.find('?')); }
  std::string_view query() const;
};

struct HttpRoute {
  // The operation to run; nullopt: none, send `answer`.
  std::optional<HttpOperation> operation;
  HttpAnswer answer;
  // A page of the handler (HttpPage). Its operation runs for `caller` and needs no signature.
  bool is_page = false;
  daemon::Caller caller = {};
  bool for_other_origins = true;
  std::optional<daemon::AuditedCall> audited = {};
  // Of the request's body, and of the reply's if it is long enough.
  Coding request_coding = Coding::kIdentity;
  Coding reply_coding = Coding::kIdentity;
};

// Finds the operation that `head` names, or makes the answer: an error, a page of the handler, the health
// text, or the reply to a CORS preflight.
//
// With `local_hosts` only pages from this machine may send requests: there are no access keys then, so no
// signature protects the database from other pages. Two headers tell which page sent a request. `Origin` must
// be a loopback origin. `Host` must be loopback or one of `local_hosts`, or, without headers of a browser,
// IsHostOfPrograms: a page of evil.example whose name resolves to 127.0.0.1 (DNS rebinding) has the same
// origin as the requests that it sends here, so it need not send `Origin`. Null: there are keys, and every
// page may send requests.
HttpRoute Route(const HttpHead& head, const HttpHandler& handler,
                const std::vector<std::string>* local_hosts_or_null);

// The CORS headers that let the web page that sent `head` read the answer; empty if no page sent it.
std::string OriginHeaders(const HttpHead& head);

// Whether `host`, the value of a header Host such as "localhost:8000", is localhost, 127.0.0.1, [::1] or one
// of `more_hosts`, with or without a port.
bool IsLocalHost(std::string_view host, const std::vector<std::string>& more_hosts);

// Whether `host`, the value of a header Host, is a name that programs use for this machine: one without a
// dot, such as that of a container, or the service's own, through a proxy or a tunnel. It is accepted only
// from what is no web page: somebody in the same network can give such a name to a page.
bool IsHostOfPrograms(std::string_view host);

// Whether pages with this origin, e.g. "http://localhost:8001", come from this machine.
bool IsLoopbackOrigin(std::string_view origin);

}  // namespace itemdb::http
