// A call with a parsed and checked request, and HandleOperation(), the common steps of all operations.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "daemon/http/api/errors.h"
#include "daemon/http/api/json_api.h"
#include "daemon/http/api/json_document.h"
#include "daemon/http/api/json_writer.h"
#include "daemon/http/api/request_members.h"

namespace itemdb::http {

// Defined in operations.h.
struct JsonOperation;

// The answer to one call. Send(), Fail() or Succeed() must be called exactly once.
class JsonAnswer {
 public:
  explicit JsonAnswer(absl::AnyInvocable<void(JsonReply) &&> done) : done_(std::move(done)) {}

  void set_log_fields(daemon::CallLogFields log_fields) { log_fields_ = std::move(log_fields); }

  void Send(JsonReply reply) && {
    reply.log_fields = std::move(log_fields_);
    std::move(done_)(std::move(reply));
  }
  void Fail(const absl::Status& status) && { std::move(*this).Send(ErrorReply(status)); }
  void Succeed(std::string body, int64_t items = -1) && {
    std::move(*this).Send({.body = std::move(body), .items = items});
  }

 private:
  daemon::CallLogFields log_fields_;
  absl::AnyInvocable<void(JsonReply) &&> done_;
};

struct JsonCall {
  const JsonOperation& operation;
  storage::Database& database;
  const std::string& address;
  // The request, which CheckRequest() has accepted. HandleOperation() frees it before it calls the database,
  // for two reasons: it takes several times the memory of the message made from it, and a short document is
  // only valid until the thread parses the next request, which may happen inside the answer.
  std::unique_ptr<JsonDocument> document;
  daemon::Caller caller;
  storage::CancellationPtr cancellation;
  JsonAnswer answer;
};

// The error to answer when reading a request failed with `error`: a wrong JSON type in an attribute value if
// there is one, because JSON types come before all other errors (SEM-115); otherwise `error`.
absl::Status TypesFirst(const JsonCall& call, absl::Status error);

// Runs one operation: reads the request with `kRead`, StatusOr<Request>(const JsonObject&), and passes it to
// `kExecute`, void(JsonCall, Request), which calls the database and answers.
template <auto kRead, auto kExecute>
void HandleOperation(JsonCall call) {
  auto request = kRead(call.document->root());
  if (!request.ok()) {
    absl::Status error = TypesFirst(call, request.status());
    return std::move(call.answer).Fail(error);
  }
  call.document.reset();
  call.answer.set_log_fields(daemon::LogFieldsOf(*request));
  kExecute(std::move(call), *std::move(request));
}

// A callback for the database that passes the reply on: kAnswer(answer, reply), where the reply is a
// StatusOr.
template <auto kAnswer>
auto ReplyTo(JsonAnswer answer) {
  return [answer = std::move(answer)](auto reply) mutable { kAnswer(std::move(answer), std::move(reply)); };
}

}  // namespace itemdb::http
