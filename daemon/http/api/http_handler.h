// The interface that connections call: find an operation by name, and answer its request body with a reply
// body. With it, connections can be tested without a database.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "daemon/access/audit_log.h"
#include "daemon/http/api/json_api.h"
#include "storage/base/cancellation.h"

namespace itemdb::http {

struct HttpOperation {
  // "PutItem"; lives as long as the program.
  std::string_view name;
  daemon::Role role = daemon::Role::kAdmin;
  daemon::Scope scope = daemon::Scope::kDatabase;
  // Whether replies may have megabytes, as pages of items have.
  bool large_replies = false;
  // The operation of JsonApi, for handlers that have one; connections do not look at it.
  const JsonOperation* json = nullptr;
};

struct HttpHead;

// The answer to a request: its reply and the headers that depend on the request.
struct HttpAnswer {
  JsonReply reply;
  std::string_view content_type = "application/x-amz-json-1.0";
  // "Name: value\r\n" of each header that only this answer has.
  std::string headers;
};

// What a handler makes of a request for one of its pages.
struct HttpPage {
  // Without `operation`: the answer. With it: content type and headers of the operation's reply.
  HttpAnswer answer = {};
  // Runs for `caller`, whom the handler has authenticated and authorised: the request needs no signature.
  std::optional<HttpOperation> operation = {};
  daemon::Caller caller = {};
  // Web pages of other origins may read the answer, as Route() in message/http_request.h says.
  bool for_other_origins = false;
  // A record for the audit log; the connection adds the peer. Its outcome is "OK" or why it was refused.
  std::optional<daemon::AuditedCall> audited = {};
};

// Thread-safe.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // The operation that X-Amz-Target names; nullopt for an unknown name (OP-64: UnknownOperationException).
  virtual std::optional<HttpOperation> Find(std::string_view target) const = 0;

  // A request of any method for a page; nullopt: there is none, and the endpoint is that of the protocol.
  // Without access keys web pages from elsewhere were refused before. Must not block.
  virtual std::optional<HttpPage> Page(const HttpHead&) const { return std::nullopt; }

  // As JsonApi::Answer(). Must not block.
  virtual void Answer(const HttpOperation& operation, std::string body, daemon::Caller caller,
                      storage::CancellationPtr cancellation, absl::AnyInvocable<void(JsonReply) &&> done) = 0;
};

}  // namespace itemdb::http
