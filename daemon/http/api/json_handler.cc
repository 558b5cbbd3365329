#include "daemon/http/api/json_handler.h"

namespace itemdb::http {

std::optional<HttpOperation> JsonHandler::Find(std::string_view target) const {
  const JsonOperation* operation = FindOperation(target);
  if (operation == nullptr) return std::nullopt;
  return HttpOperation{.name = NameOf(*operation),
                       .role = AccessOf(*operation).role,
                       .scope = AccessOf(*operation).scope,
                       .large_replies = HasLargeReplies(*operation),
                       .json = operation};
}

void JsonHandler::Answer(const HttpOperation& operation, std::string body, daemon::Caller caller,
                         storage::CancellationPtr cancellation, absl::AnyInvocable<void(JsonReply) &&> done) {
  api_.Answer(*operation.json, std::move(body), std::move(caller), std::move(cancellation), std::move(done));
}

}  // namespace itemdb::http
