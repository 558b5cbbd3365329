#include "daemon/http/api/json_api.h"

#include <utility>

#include "daemon/http/api/operations.h"
#include "daemon/http/api/request_check.h"

namespace itemdb::http {

JsonApi::JsonApi(storage::Database& database, daemon::CallMemory& memory, std::string address)
    : database_(database),
      parser_memory_(std::make_unique<ParserMemory>(memory)),
      address_(std::move(address)) {}

JsonApi::~JsonApi() = default;

void JsonApi::Answer(const JsonOperation& operation, std::string body, daemon::Caller caller,
                     storage::CancellationPtr cancellation, absl::AnyInvocable<void(JsonReply) &&> done) {
  JsonAnswer answer(std::move(done));
  absl::StatusOr<std::unique_ptr<JsonDocument>> document =
      JsonDocument::Parse(std::move(body), *parser_memory_);
  if (!document.ok()) return std::move(answer).Fail(document.status());
  absl::Status checked = CheckRequest(*operation.input, (*document)->root());
  if (!checked.ok()) return std::move(answer).Fail(checked);
  operation.answer({.operation = operation,
                    .database = database_,
                    .address = address_,
                    .document = *std::move(document),
                    .caller = std::move(caller),
                    .cancellation = std::move(cancellation),
                    .answer = std::move(answer)});
}

}  // namespace itemdb::http
