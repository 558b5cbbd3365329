// A call with one request and one reply of protobuf: how the operations on tables, and those that only block,
// are sent.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <google/protobuf/arena.h>

#include "client/core.h"
#include "client/errors_internal.h"
#include "client/wait.h"

namespace itemdb {

// Sends `request`; the callback gets the reply, converted.
template <typename Reply, typename Result, typename Request, typename Convert>
void StartCall(const std::shared_ptr<ClientCore>& core, const char* method, CallKind kind,
               const Request& request, const CallOptions& options, Convert convert,
               Callback<Result> callback) {
  std::string table_name;
  if constexpr (requires { request.table_name(); }) table_name = request.table_name();
  core->Start(
      absl::StatusOr<CallSpec>(CallSpec{.method = method,
                                        .kind = kind,
                                        .has_token = false,
                                        .request = request.SerializeAsString(),
                                        .table_name = table_name}),
      options,
      [convert](std::string_view bytes, const std::string& endpoint) -> absl::StatusOr<Result> {
        google::protobuf::Arena arena;
        auto* reply = google::protobuf::Arena::CreateMessage<Reply>(&arena);
        if (!reply->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
          return MakeError(absl::StatusCode::kDataLoss, "DATA_LOSS",
                           "the reply from " + endpoint + " does not decode");
        }
        return convert(*reply);
      },
      std::move(callback));
}

// The same, and waits for the reply.
template <typename Reply, typename Result, typename Request, typename Convert>
absl::StatusOr<Result> Call(const std::shared_ptr<ClientCore>& core, const char* method, CallKind kind,
                            const Request& request, const CallOptions& options, Convert convert) {
  return Wait<Result>([&](Callback<Result> callback) {
    StartCall<Reply, Result>(core, method, kind, request, options, convert, std::move(callback));
  });
}

}  // namespace itemdb
