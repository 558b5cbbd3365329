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

// Thread-safe.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // The operation that X-Amz-Target names; nullopt for an unknown name (OP-64: UnknownOperationException).
  virtual std::optional<HttpOperation> Find(std::string_view target) const = 0;

  // As JsonApi::Answer(). Must not block.
  virtual void Answer(const HttpOperation& operation, std::string body, daemon::Caller caller,
                      storage::CancellationPtr cancellation, absl::AnyInvocable<void(JsonReply) &&> done) = 0;
};

}  // namespace itemdb::http
