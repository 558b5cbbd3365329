// A call with one request and one reply that blocks: how client.cc and client_backups.cc send theirs.
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

// Sends `request`, waits for the reply and converts it.
template <typename Reply, typename Result, typename Request, typename Convert>
absl::StatusOr<Result> Call(const std::shared_ptr<ClientCore>& core, const char* method, CallKind kind,
                            const Request& request, const CallOptions& options, Convert convert) {
  std::string table_name;
  if constexpr (requires { request.table_name(); }) table_name = request.table_name();
  return Wait<Result>([&](Callback<Result> callback) {
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
  });
}

}  // namespace itemdb
