// One call between its parsed request and its answer, and how operations are put together.
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

namespace itemdb {

// operations.h
struct JsonOperation;

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
  const JsonOperation& operation;
  Database& database;
  const std::string& address;
  // The request, checked (CheckRequest). Let go of before the database is asked: it takes several times the
  // memory of the message made from it, and the answer may be the next request on this thread.
  std::unique_ptr<JsonDocument> document;
  Caller caller;
  CancellationPtr cancellation;
  JsonAnswer answer;
};

// `error` of reading the request of `call`, unless a value of it has a wrong JSON type: that comes first
// (SEM-115).
absl::Status TypesFirst(const JsonCall& call, absl::Status error);

// The answer to a call: reads its request by `kRead`, StatusOr<Request>(const JsonObject&), and gives it to
// `kAsk`, void(JsonCall, Request).
template <auto kRead, auto kAsk>
void Operate(JsonCall call) {
  auto request = kRead(call.document->root());
  if (!request.ok()) {
    absl::Status error = TypesFirst(call, request.status());
    return std::move(call.answer).Fail(error);
  }
  call.document.reset();
  call.answer.set_facts(FactsOf(*request));
  kAsk(std::move(call), *std::move(request));
}

}  // namespace itemdb
