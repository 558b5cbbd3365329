// One call between its parsed request and its answer, and how operations are put together.
#pragma once

#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "daemon/http/json_api.h"
#include "daemon/http/json_error.h"
#include "daemon/http/json_request.h"
#include "daemon/http/json_writer.h"

namespace itemdb {

// Owes one answer.
class JsonAnswer {
 public:
  explicit JsonAnswer(absl::AnyInvocable<void(JsonReply) &&> done) : done_(std::move(done)) {}

  void set_facts(CallFacts facts) { facts_ = std::move(facts); }

  void Send(JsonReply reply) && {
    reply.facts = std::move(facts_);
    std::move(done_)(std::move(reply));
  }
  void Fail(const absl::Status& status) && { std::move(*this).Send(ErrorReply(status)); }
  void Succeed(std::string body, int64_t items = -1) && {
    std::move(*this).Send({.body = std::move(body), .items = items});
  }

 private:
  CallFacts facts_;
  absl::AnyInvocable<void(JsonReply) &&> done_;
};

struct JsonCall {
  // "PutItem".
  std::string_view operation;
  Database& database;
  const std::string& address;
  // Valid until the database is asked: it may answer at once, and the next request on this thread is parsed
  // into the same memory.
  JsonObject request;
  // What CheckRequest found out of bounds.
  std::string violations;
  CancellationPtr cancellation;
  JsonAnswer answer;
};

// The answer to a call: reads its request by `kRead`, StatusOr<Request>(const JsonObject&), and gives it to
// `kAsk`, void(JsonCall, Request). Errors in the order of SEM-115: JSON types, bounds, everything else.
template <auto kRead, auto kAsk>
void Operate(JsonCall call) {
  auto request = kRead(call.request);
  if (!request.ok() && IsSerializationError(request.status()))
    return std::move(call.answer).Fail(request.status());
  if (!call.violations.empty())
    return std::move(call.answer).Fail(ValidationError("SEM-115", call.violations));
  if (!request.ok()) return std::move(call.answer).Fail(request.status());
  call.answer.set_facts(FactsOf(*request));
  kAsk(std::move(call), *std::move(request));
}

}  // namespace itemdb
