#include "daemon/http/api/json_api.h"

#include <utility>

#include "daemon/http/api/operations.h"
#include "daemon/http/api/request_check.h"
#include "daemon/http/api/shown_statuses.h"

namespace itemdb::http {

JsonApi::JsonApi(storage::Database& database, daemon::CallMemory& memory, std::string address,
                 std::chrono::milliseconds status_delay)
    : database_(database),
      parser_memory_(std::make_unique<ParserMemory>(memory)),
      address_(std::move(address)),
      statuses_(std::make_unique<ShownStatuses>(status_delay)) {}

JsonApi::~JsonApi() = default;

void JsonApi::Answer(const JsonOperation& operation, std::string body, daemon::Caller caller,
                     storage::CancellationPtr cancellation, absl::AnyInvocable<void(JsonReply) &&> done) {
  JsonAnswer answer(NameOf(operation), *statuses_, std::move(done));
  absl::StatusOr<std::unique_ptr<JsonDocument>> document =
      JsonDocument::Parse(std::move(body), *parser_memory_);
  if (!document.ok()) return std::move(answer).Fail(document.status());
  absl::Status checked = CheckRequest(*operation.input, (*document)->root());
  if (!checked.ok() && operation.error_of_body != nullptr)
    checked = operation.error_of_body((*document)->body(), std::move(checked));
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
