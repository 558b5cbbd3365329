// The operations of JsonApi as connections ask for them.
#pragma once

#include "daemon/http/api/http_handler.h"
#include "daemon/http/api/json_api.h"

namespace itemdb {

class JsonHandler final : public HttpHandler {
 public:
  // As JsonApi.
  JsonHandler(Database& database, CallMemory& memory, std::string address)
      : api_(database, memory, std::move(address)) {}

  std::optional<HttpOperation> Find(std::string_view target) const override;
  void Answer(const HttpOperation& operation, std::string body, Caller caller, CancellationPtr cancellation,
              absl::AnyInvocable<void(JsonReply) &&> done) override;

 private:
  JsonApi api_;
};

}  // namespace itemdb
