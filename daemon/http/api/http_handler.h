// What the connections ask: operations by name, answered from body to body. An interface, so that connections
// are tested without a database.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "daemon/http/api/json_api.h"
#include "storage/base/cancellation.h"

namespace itemdb {

struct HttpOperation {
  // "PutItem"; lives as long as the program.
  std::string_view name;
  Role role = Role::kAdmin;
  // What a JsonHandler knows it by.
  const JsonOperation* json = nullptr;
};

// Thread-safe.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // The operation that X-Amz-Target names; nothing when none is offered under that name (OP-64).
  virtual std::optional<HttpOperation> Find(std::string_view target) const = 0;

  // As JsonApi::Answer. Must not block.
  virtual void Answer(const HttpOperation& operation, std::string body, Caller caller,
                      CancellationPtr cancellation, absl::AnyInvocable<void(JsonReply) &&> done) = 0;
};

}  // namespace itemdb
