#include "daemon/http/json_api.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/http/json_check.h"
#include "daemon/http/operations.h"

namespace itemdb {
namespace {

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

// A parser keeps as much memory as its longest document took, several times its length: long documents get
// one of their own.
constexpr size_t kMaxKeptDocumentBytes = 256 << 10;

// Parses `body` as an object. SERIALIZATION: it is none.
absl::StatusOr<JsonObject> Parse(simdjson::dom::parser& parser, std::string& body) {
  if (body.capacity() < body.size() + kJsonPadding) body.reserve(body.size() + kJsonPadding);
  simdjson::dom::element document;
  simdjson::error_code error =
      parser.parse(body.data(), body.size(), /*realloc_if_needed=*/false).get(document);
  if (error != simdjson::SUCCESS)
    return SerializationError(absl::StrCat("The request is not JSON: ", simdjson::error_message(error)));
  JsonObject object;
  if (document.get(object) != simdjson::SUCCESS) return WrongJsonType(document, "Structure");
  return object;
}

}  // namespace

JsonApi::JsonApi(Database& database, std::string address)
    : database_(database), address_(std::move(address)) {}

void JsonApi::Answer(const JsonOperation& operation, std::string body, CancellationPtr cancellation,
                     absl::AnyInvocable<void(JsonReply) &&> done) {
  thread_local simdjson::dom::parser kept_parser;
  std::unique_ptr<simdjson::dom::parser> own_parser;
  if (body.size() > kMaxKeptDocumentBytes) own_parser = std::make_unique<simdjson::dom::parser>();

  JsonAnswer answer(std::move(done));
  absl::StatusOr<JsonObject> request = Parse(own_parser != nullptr ? *own_parser : kept_parser, body);
  if (!request.ok()) return std::move(answer).Fail(request.status());
  absl::StatusOr<std::string> violations = CheckRequest(*operation.input, *request);
  if (!violations.ok()) return std::move(answer).Fail(violations.status());
  operation.answer({.operation = operation.name,
                    .database = database_,
                    .address = address_,
                    .request = *request,
                    .violations = *std::move(violations),
                    .cancellation = std::move(cancellation),
                    .answer = std::move(answer)});
}

}  // namespace itemdb
