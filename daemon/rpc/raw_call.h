// One unary call from bytes to bytes: parse the request, ask the database, answer with its reply or status.
// Every method of every service goes through Answer().
//
// The services are registered with gRPC's raw methods because the messages parsed here are not always those
// of the published service (itemdb.wire messages carry items as bytes), and because gRPC's own parser answers
// malformed bytes with INTERNAL.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "daemon/access/statement_roles.h"
#include "daemon/serving/call_facts.h"
#include "daemon/serving/calls.h"
#include "storage/base/cancellation.h"
#include "storage/database.h"

namespace itemdb {

// False when the bytes are not an encoding of `message`.
bool DecodeRequest(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message);

// The status for bytes that do not decode as a request of `method`, e.g. "itemdb.v1.Data/PutItem".
// INVALID_ARGUMENT.
absl::Status UndecodableRequest(std::string_view method);

// The caller's deadline by the clock that storage uses; max() without one.
Cancellation::Clock::time_point DeadlineOf(const grpc::CallbackServerContext& context);

// Whose call this is, or why it is not let in (daemon/access/call_access.h).
absl::StatusOr<Caller> CallerOf(const CallAccess& access, const grpc::CallbackServerContext& context,
                                std::string_view method);

// What a call hears from a daemon that is stopping; and from one whose calls take all the memory they may.
grpc::Status StoppingReply(std::string_view what_was_done = "nothing was done");
grpc::Status CallsFullReply(const CallMemory& memory, std::string_view what_was_done = "nothing was done");

// A request is there twice, as bytes and decoded.
inline constexpr size_t kCopiesOfRequest = 2;

// An encoded reply.
struct EncodedReply {
  grpc::Status status;
  size_t bytes = 0;
};

// Encodes a reply into `bytes`; what is long is counted in `memory` until gRPC has sent it. LIMIT_EXCEEDED
// when it is longer than a message may be.
EncodedReply EncodeReply(const google::protobuf::MessageLite& reply,
                         const std::shared_ptr<CallMemory>& memory, grpc::ByteBuffer* bytes);
// Hand over `page.encoded_items` without copying it.
EncodedReply EncodeReply(Page&& page, const std::shared_ptr<CallMemory>& memory, grpc::ByteBuffer* bytes);
EncodedReply EncodeReply(StatementPage&& page, const std::shared_ptr<CallMemory>& memory,
                         grpc::ByteBuffer* bytes);
// The same with `page.encoded_records`.
EncodedReply EncodeReply(WatchPage&& page, const std::shared_ptr<CallMemory>& memory,
                         grpc::ByteBuffer* bytes);

// One call that has arrived, from there to its answer; it ends itself.
//
// The reactor is one of ours because gRPC's own does not tell when the caller cancels or its deadline passes.
// gRPC would hand the reactions of such a reactor to another thread; as ours only set a flag and free memory,
// they may run in place (InternalInlineable), which makes it as cheap as gRPC's own.
class Call final : public grpc::ServerUnaryReactor {
 public:
  // `reply` belongs to gRPC and stays valid until the call is finished, also when the caller has left.
  Call(Calls& calls, const grpc::CallbackServerContext& context, std::string_view method,
       size_t request_bytes, grpc::ByteBuffer* reply);

  // True when the call may go on: Answer() must follow. Otherwise it was answered: the daemon is stopping,
  // the caller may not call this, or requests in flight take all the memory they may (which is not asked of a
  // call with `any_memory`).
  [[nodiscard]] bool Enter(const grpc::CallbackServerContext& context, bool any_memory);

  const Caller& caller() const { return caller_; }

  void set_facts(CallFacts facts) { facts_ = std::move(facts); }

  // Whether the answer is still wanted; never null.
  const CancellationPtr& cancellation() const { return cancellation_; }

  // Answers with `result`, from any thread, once. This object may be gone afterwards.
  template <typename Reply>
  void Answer(absl::StatusOr<Reply> result) {
    if (!result.ok()) return Complete({ErrorReply(result.status()), 0}, -1);
    int64_t items = ItemsOf(*result);
    Complete(EncodeReply(*std::move(result), calls_.memory, reply_), items);
  }

  void OnCancel() override { caller_left_->Cancel(); }
  void OnDone() override { delete this; }
  bool InternalInlineable() override { return true; }

 private:
  ~Call() override = default;
  static grpc::Status ErrorReply(const absl::Status& status);
  void Complete(EncodedReply reply, int64_t items);

  Calls& calls_;
  const std::string_view method_;
  const std::chrono::steady_clock::time_point arrived_ = std::chrono::steady_clock::now();
  const size_t request_bytes_;
  grpc::ByteBuffer* const reply_;
  // The same object twice.
  const std::shared_ptr<Cancellation> caller_left_;
  const CancellationPtr cancellation_;
  Caller caller_;
  CallFacts facts_;
  size_t reserved_bytes_ = 0;
};

// Requests that are answered whatever memory others take: an overloaded daemon must be able to say so.
template <typename Request>
inline constexpr bool kTakesAnyMemory = std::is_same_v<Request, v1::GetStatusRequest>;

// Decodes `bytes` as a Request and runs `operation(Request&&, Done<Reply>, CancellationPtr)`; `done` finishes
// the call from whatever thread it runs on. The call stays inside `calls.gate` until then.
template <typename Request, typename Reply, typename Operation>
grpc::ServerUnaryReactor* Answer(Calls& calls, grpc::CallbackServerContext* context, std::string_view method,
                                 const grpc::ByteBuffer* bytes, grpc::ByteBuffer* reply,
                                 Operation&& operation) {
  Call* call = new Call(calls, *context, method, bytes->Length(), reply);
  if (!call->Enter(*context, kTakesAnyMemory<Request>)) return call;
  Request request;
  if (DecodeRequest(*bytes, request)) {
    call->set_facts(FactsOf(request));
    if constexpr (requires { RefusedStatements(request, call->caller()); }) {
      if (auto refused = RefusedStatements(request, call->caller())) {
        call->Answer(*std::move(refused));
        return call;
      }
    }
    auto done = [call](absl::StatusOr<Reply> result) { call->Answer(std::move(result)); };
    operation(std::move(request), Done<Reply>(std::move(done)), call->cancellation());
  } else {
    call->Answer(absl::StatusOr<Reply>(UndecodableRequest(method)));
  }
  return call;
}

}  // namespace itemdb
