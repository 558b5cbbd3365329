#include "itemdb/json_call.h"

#include <algorithm>
#include <utility>

#include "client/access.h"
#include "client/core.h"
#include "client/json_method.h"
#include "client/wait.h"

namespace itemdb {
namespace {

bool IsOfTarget(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.';
}

}  // namespace

absl::StatusOr<std::string> CallJson(const Client& client, const JsonCall& call, CallOptions options) {
  if (client.endpoint().find("://") == std::string::npos)
    return MakeError(absl::StatusCode::kUnimplemented, "UNIMPLEMENTED",
                     call.target + " is an operation of DynamoDB's HTTP protocol; the endpoint " +
                         client.endpoint() + " is no URL");
  if (call.target.empty() || !std::all_of(call.target.begin(), call.target.end(), IsOfTarget))
    return InvalidRequest(
        "the target of a call is the name of an operation, such as "
        "DynamoDBStreams_20120810.GetRecords");
  return Wait<std::string>([&](Callback<std::string> callback) {
    ClientAccess::CoreOf(client)->Start<std::string>(
        absl::StatusOr<CallSpec>(CallSpec{.method = kJsonMethod,
                                          .kind = CallKind::kRead,
                                          .has_token = false,
                                          .request = call.target + "\n" + call.body}),
        options,
        [](std::string_view reply, const std::string&) -> absl::StatusOr<std::string> {
          return std::string(reply);
        },
        std::move(callback));
  });
}

}  // namespace itemdb
