// A call with a parsed and checked request, and HandleOperation(), the common steps of all operations.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "daemon/access/request_access.h"
#include "daemon/access/statement_roles.h"
#include "daemon/http/api/errors.h"
#include "daemon/http/api/json_api.h"
#include "daemon/http/api/json_document.h"
#include "daemon/http/api/request_members.h"
#include "storage/json/json_writer.h"

namespace itemdb::http {

// Defined in operations.h.
struct JsonOperation;

// The answer to one call. Send(), Fail() or Succeed() must be called exactly once.
class JsonAnswer {
 public:
  // `operation`: the name of the operation, which lives as long as the program. `statuses` is borrowed.
  JsonAnswer(std::string_view operation, ShownStatuses& statuses, absl::AnyInvocable<void(JsonReply) &&> done)
      : operation_(operation), statuses_(&statuses), done_(std::move(done)) {}

  void set_log_fields(daemon::CallLogFields log_fields) { log_fields_ = std::move(log_fields); }
  ShownStatuses& statuses() const { return *statuses_; }
  // The first table of the request, as the request names it.
  const std::string& table_name() const { return log_fields_.table_name; }
  // Log lines name this table instead of the first one of the request.
  void set_denied_table(std::string table_name) { log_fields_.table_name = std::move(table_name); }

  void Send(JsonReply reply) && {
    reply.log_fields = std::move(log_fields_);
    std::move(done_)(std::move(reply));
  }
  void Fail(const absl::Status& status) && { std::move(*this).Send(ErrorReply(status, operation_)); }
  void Succeed(std::string body, int64_t items = -1) && {
    std::move(*this).Send({.body = std::move(body), .items = items});
  }

 private:
  std::string_view operation_;
  ShownStatuses* statuses_;
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

// The name of `operation` in DynamoDB's permissions: "dynamodb:PutItem".
std::string ActionOf(const JsonOperation& operation);

// Runs one operation: reads the request with `kRead`, StatusOr<Request>(const JsonObject&), checks whether
// the caller may make it, and passes it to `kExecute`, void(JsonCall, Request), which calls the database and
// answers.
template <auto kRead, auto kExecute>
void HandleOperation(JsonCall call) {
  auto request = kRead(call.document->root());
  if (!request.ok()) {
    absl::Status error = TypesFirst(call, request.status());
    return std::move(call.answer).Fail(error);
  }
  call.document.reset();
  call.answer.set_log_fields(daemon::LogFieldsOf(*request));
  if (call.caller.grants != nullptr) {
    if (auto denied =
            daemon::CheckTables(call.caller, ActionOf(call.operation), AccessOf(call.operation), *request)) {
      if (!denied->table_name.empty()) call.answer.set_denied_table(std::move(denied->table_name));
      return std::move(call.answer).Fail(denied->status);
    }
  }
  kExecute(std::move(call), *std::move(request));
}

// A kExecute that is one call of the database, `kOperation`. kAnswer(JsonAnswer, StatusOr<Reply>) answers.
// Statements that the caller's role does not allow are refused before.
template <auto kOperation, auto kAnswer>
struct DatabaseCall {
  void operator()(JsonCall call, auto request) const {
    storage::Database& database = call.database;
    if constexpr (requires { daemon::RefusedStatements(request, call.caller); }) {
      if (auto refused = daemon::RefusedStatements(request, call.caller))
        return kAnswer(std::move(call.answer), *std::move(refused));
    }
    if constexpr (requires { kAnswer(std::move(call.answer), (database.*kOperation)(request)); }) {
      kAnswer(std::move(call.answer), (database.*kOperation)(request));
    } else {
      auto done = [answer = std::move(call.answer)](auto reply) mutable {
        kAnswer(std::move(answer), std::move(reply));
      };
      if constexpr (requires { (database.*kOperation)(std::move(request), std::move(done), nullptr); }) {
        (database.*kOperation)(std::move(request), std::move(done), std::move(call.cancellation));
      } else {
        (database.*kOperation)(std::move(request), std::move(done));
      }
    }
  }
};
template <auto kOperation, auto kAnswer>
inline constexpr DatabaseCall<kOperation, kAnswer> CallDatabase{};

// A kAnswer: an error, or a JSON object with the members that kWrite(const Reply&, storage::JsonWriter*)
// writes. kWrite may return the number of items in the reply, for the log of slow calls.
template <auto kWrite>
struct ObjectAnswer {
  void operator()(JsonAnswer answer, const auto& reply) const {
    if (!reply.ok()) return std::move(answer).Fail(reply.status());
    std::string body;
    storage::JsonWriter writer(&body);
    writer.BeginObject();
    int64_t items = -1;
    if constexpr (std::is_void_v<decltype(kWrite(*reply, &writer))>) {
      kWrite(*reply, &writer);
    } else {
      items = kWrite(*reply, &writer);
    }
    writer.EndObject();
    std::move(answer).Succeed(std::move(body), items);
  }
};
template <auto kWrite>
inline constexpr ObjectAnswer<kWrite> AnswerObject{};

// Runs an operation that is one call of the database and whose reply is one JSON object.
template <auto kRead, auto kOperation, auto kWrite>
void HandleOperation(JsonCall call) {
  HandleOperation<kRead, CallDatabase<kOperation, AnswerObject<kWrite>>>(std::move(call));
}

}  // namespace itemdb::http
