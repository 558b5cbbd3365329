// An exchange of one request and one reply whose messages differ from the JSON in spelling only; the base of
// others.
#pragma once

#include <climits>
#include <string>
#include <string_view>
#include <utility>

#include "client/errors_internal.h"
#include "client/http/json_exchange.h"
#include "client/http/json_message.h"
#include "common/status_macros.h"

namespace itemdb {

template <typename Request, typename Reply>
class TypedExchange : public JsonExchange {
 public:
  TypedExchange(std::string_view operation, CallKind kind) : operation_(operation), kind_(kind) {}

  absl::StatusOr<JsonRequest> Begin(std::string_view bytes) override {
    if (bytes.size() > INT_MAX || !request_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      return MakeError(absl::StatusCode::kInternal, "INTERNAL", "a request of this client does not decode");
    ITEMDB_RETURN_IF_ERROR(Prepare(&request_));
    return Sent(request_);
  }

  absl::StatusOr<JsonStep> Take(const simdjson::dom::object& object) override {
    absl::Status read = ReadJsonMessage(object, &reply_);
    if (read.ok()) read = Complete(object, &reply_);
    if (read.ok()) return JsonStep(reply_.SerializeAsString());
    if (kind_ == CallKind::kRead) return read;
    // The write was applied, or a part of it.
    return MakeError(absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown,
                     "the reply to a write cannot be read: " + std::string(read.message()));
  }

 protected:
  // Checks the request, and takes out of it what is not sent.
  virtual absl::Status Prepare(Request* request) { return absl::OkStatus(); }
  // Adds to the reply what the translation does not.
  virtual absl::Status Complete(const simdjson::dom::object& object, Reply* reply) {
    return absl::OkStatus();
  }

  absl::StatusOr<JsonRequest> Sent(const Request& request) const {
    JsonRequest sent{.operation = operation_, .body = {}, .kind = kind_};
    ITEMDB_RETURN_IF_ERROR(AppendJsonMessage(request, &sent.body));
    return sent;
  }

  const std::string_view operation_;
  const CallKind kind_;
  Request request_;
  Reply reply_;
};

}  // namespace itemdb
