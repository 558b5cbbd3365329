// What a call of the client is in DynamoDB's protocol: one request or several, one after the other, and a
// reply.
#pragma once

#include <simdjson.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/transport.h"

namespace itemdb {

struct JsonRequest {
  // "GetItem"; with a prefix, which has a dot, for other services than DynamoDB itself:
  // "DynamoDBStreams_20120810.GetRecords".
  std::string_view operation;
  std::string body;
  // What the loss of this request means.
  CallKind kind = CallKind::kRead;
  // How long to wait before it is sent.
  absl::Duration delay = absl::ZeroDuration();
};

// An exception of the service.
struct JsonError {
  // Without prefix: "ValidationException".
  std::string name;
  std::string message;
  unsigned http_status = 0;
  // The whole body; borrowed.
  simdjson::dom::object body;
};

// The next request, or the encoded reply message of the method.
using JsonStep = std::variant<JsonRequest, std::string>;

// One call. For one thread at a time.
class JsonExchange {
 public:
  virtual ~JsonExchange() = default;

  // `request` is the encoded request message of the method. UNIMPLEMENTED: it asks for something that the
  // protocol does not have. INVALID_ARGUMENT: the protocol cannot carry it.
  virtual absl::StatusOr<JsonRequest> Begin(std::string_view request) = 0;
  virtual absl::StatusOr<JsonStep> Take(const simdjson::dom::object& reply) = 0;
  // The last request has failed with `status`. `error` is the exception behind it, or null.
  virtual absl::StatusOr<JsonStep> Fail(absl::Status status, const JsonError* error) { return status; }

  // Where the service is, for messages.
  void set_endpoint(std::string endpoint) { endpoint_ = std::move(endpoint); }

 protected:
  // UNIMPLEMENTED: the service does not offer `what`, as it says in `words`.
  absl::Status NotOfferedThere(std::string_view what, std::string_view words) const;

 private:
  std::string endpoint_;
};

// The exchange for a method, such as "/itemdb.v1.Data/GetItem", of a call of this kind; null if the protocol
// has nothing like it.
std::unique_ptr<JsonExchange> MakeJsonExchange(std::string_view method, CallKind kind);

// UNIMPLEMENTED: `what`, for example "explain", is not part of the protocol.
absl::Status NotInProtocol(std::string_view what);
// UNIMPLEMENTED: this client has no exchange for the method.
absl::Status NotOverHttp(std::string_view method);

// An exception as status of a call of this kind, with reason.
absl::Status StatusOfJsonError(const JsonError& error, CallKind kind);

// The exchanges of json_table_exchanges.cc; null for other methods.
std::unique_ptr<JsonExchange> MakeTableExchange(std::string_view method, CallKind kind);

}  // namespace itemdb
