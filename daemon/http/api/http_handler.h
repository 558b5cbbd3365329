// The interface that connections call: find an operation by name, and answer its request body with a reply
// body. With it, connections can be tested without a database.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
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
  // The operation of JsonApi; set and read by JsonHandler only.
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

// Thread-safe.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // The operation that X-Amz-Target names; nullopt for an unknown name (OP-64: UnknownOperationException).
  virtual std::optional<HttpOperation> Find(std::string_view target) const = 0;

  // The answer to a GET or HEAD of a page; nullopt: there is none, and the endpoint is that of the protocol.
  // Web pages from elsewhere were refused before.
  virtual std::optional<HttpAnswer> Page(const HttpHead&) const { return std::nullopt; }

  // As JsonApi::Answer(). Must not block.
  virtual void Answer(const HttpOperation& operation, std::string body, daemon::Caller caller,
                      storage::CancellationPtr cancellation, absl::AnyInvocable<void(JsonReply) &&> done) = 0;
};

}  // namespace itemdb::http
