// Implements the interface of connections, HttpHandler, with JsonApi.
#pragma once

#include <chrono>

#include "daemon/http/api/http_handler.h"
#include "daemon/http/api/json_api.h"

namespace itemdb::http {

class JsonHandler final : public HttpHandler {
 public:
  // Arguments as of JsonApi.
  JsonHandler(storage::Database& database, daemon::CallMemory& memory, std::string address,
              std::chrono::milliseconds status_delay)
      : api_(database, memory, std::move(address), status_delay) {}

  std::optional<HttpOperation> Find(std::string_view target) const override;
  void Answer(const HttpOperation& operation, std::string body, daemon::Caller caller,
              storage::CancellationPtr cancellation, absl::AnyInvocable<void(JsonReply) &&> done) override;

 private:
  JsonApi api_;
};

}  // namespace itemdb::http
