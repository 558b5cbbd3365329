// A unary call from request bytes to reply bytes: parse the request, call the database, send its reply or
// status. Every unary method of every service goes through ServeUnary().
//
// The services use gRPC's raw methods for two reasons. The messages parsed here are not always those of the
// published service: itemdb.wire messages carry items as bytes. And gRPC's own parser answers malformed bytes
// with INTERNAL instead of INVALID_ARGUMENT.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "daemon/access/request_access.h"
#include "daemon/access/statement_roles.h"
#include "daemon/serving/call_log_fields.h"
#include "daemon/serving/serving_context.h"
#include "storage/base/cancellation.h"
#include "storage/database.h"

namespace itemdb::daemon {

// False when the bytes are not an encoding of `message`.
bool DecodeRequest(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message);

// The status for bytes that do not decode as a request of `method`, e.g. "itemdb.v1.Data/PutItem".
// INVALID_ARGUMENT.
absl::Status UndecodableRequest(std::string_view method);

// The caller's deadline on storage's clock; max() without a deadline.
storage::Cancellation::Clock::time_point DeadlineOf(const grpc::CallbackServerContext& context);

// The caller, from the metadata of the call; errors as of Authorizer::Check() (daemon/access/authorizer.h).
absl::StatusOr<Caller> CallerOf(const Authorizer& authorizer, const grpc::CallbackServerContext& context,
                                std::string_view method);

// The peer and the claimed key of a call, for records about it.
AuditedCall AuditedCallOf(const grpc::CallbackServerContext& context, std::string_view method);

// Tells `audit` of a call that Authorizer::Check() or a check of its statements refused.
void AuditRefusal(CallAudit& audit, AuditedCall call, const grpc::Status& status);

// The memory of `caller` for calls, whose peer is that of `context`.
std::shared_ptr<CallMemory> MemoryOf(ServingContext& serving, const grpc::CallbackServerContext& context,
                                     const Caller& caller);

// The caller, as of CallerOf(). Tells `serving.guard` that the connection has proven itself, or that a call
// of it was refused.
absl::StatusOr<Caller> CheckCallerOf(ServingContext& serving, const grpc::CallbackServerContext& context,
                                     std::string_view method);

// The status of a call to a daemon that is stopping, and of a call when the memory for calls is used up.
grpc::Status StoppingReply(std::string_view what_was_done = "nothing was done");
grpc::Status CallsFullReply(const CallMemory& memory, std::string_view what_was_done = "nothing was done");

// A request is in memory twice: as bytes and decoded.
inline constexpr size_t kCopiesOfRequest = 2;

// What a call may take of the memory for calls.
enum class MemoryUse {
  kAny,        // more than there is: GetStatus must work on an overloaded daemon
  kSmall,      // all of it
  kLargeReply  // half of it: the reply may have megabytes (CallMemory::TryReserveForLargeReply); a caller who
               // holds little may take of what is set aside for small requests
};

// An encoded reply.
struct EncodedReply {
  grpc::Status status;
  size_t bytes = 0;
};

// The trace that the caller says its call is a part of; nullopt: none.
std::optional<TraceContext> TraceContextOf(const grpc::CallbackServerContext& context);

// Counts a unary call or a part of a stream, logs it if it was slow, and sends its span, from `began` on, if
// it is traced. `outcome` is OutcomeOf() its reply.
void RecordCall(ServingContext& serving, const grpc::CallbackServerContext& context,
                std::chrono::steady_clock::time_point began, const AnsweredCall& call,
                const grpc::Status& status, TracedCall* traced_or_null, std::string_view outcome = "");

// Encodes a reply into `bytes`. A reply above 1 KiB is counted in `memory` until gRPC has sent it.
// RESOURCE_EXHAUSTED, reason LIMIT_EXCEEDED: the reply is longer than storage::kMaxMessageBytes.
EncodedReply EncodeReply(const google::protobuf::MessageLite& reply,
                         const std::shared_ptr<CallMemory>& memory, grpc::ByteBuffer* bytes);
// These move `page.encoded_items` into the reply without copying it.
EncodedReply EncodeReply(storage::Page&& page, const std::shared_ptr<CallMemory>& memory,
                         grpc::ByteBuffer* bytes);
EncodedReply EncodeReply(storage::StatementPage&& page, const std::shared_ptr<CallMemory>& memory,
                         grpc::ByteBuffer* bytes);
// Moves `page.encoded_records` into the reply without copying it.
EncodedReply EncodeReply(storage::WatchPage&& page, const std::shared_ptr<CallMemory>& memory,
                         grpc::ByteBuffer* bytes);

// One unary call from its arrival to its answer. The object deletes itself when gRPC is done with the call.
//
// gRPC's default reactor does not report that the caller has cancelled or that the deadline has passed. gRPC
// runs the callbacks of other reactors on another thread. Ours only set a flag and free memory, so
// InternalInlineable() lets them run in place, and a call costs no more than with the default reactor.
class Call final : public grpc::ServerUnaryReactor {
 public:
  // `reply` belongs to gRPC and stays valid until the call is finished, even if the caller cancels.
  Call(ServingContext& serving, const grpc::CallbackServerContext& context, std::string_view method,
       size_t request_bytes, grpc::ByteBuffer* reply);

  // True: the call was admitted, and Answer() must follow. False: the call was refused and has its status,
  // because the daemon is stopping, the caller's key does not allow the method, or the memory for calls or
  // the caller's share of it is used up.
  [[nodiscard]] bool Enter(const grpc::CallbackServerContext& context, MemoryUse use);

  const Caller& caller() const { return caller_; }

  void set_log_fields(CallLogFields log_fields) { log_fields_ = std::move(log_fields); }
  // Log lines name this table instead of the first one of the request.
  void set_denied_table(std::string table_name) { log_fields_.table_name = std::move(table_name); }

  // Cancelled when the caller cancels or its deadline passes; never null.
  const storage::CancellationPtr& cancellation() const { return cancellation_; }

  // Sends `result`. Called once, from any thread. This object may be deleted afterwards.
  template <typename Reply>
  void Answer(absl::StatusOr<Reply> result) {
    if (!result.ok()) return Complete({ErrorReply(result.status()), 0}, -1);
    const int64_t items = ItemsOf(*result);
    const std::string_view outcome = OutcomeOf(*result);
    is_routine_ = IsRoutine(*result);
    Complete(EncodeReply(*std::move(result), memory_, reply_), items, outcome);
  }

  void OnCancel() override {
    caller_left_->Cancel();
    serving_.guard.CallCancelled(context_.peer(), arrived_);
  }
  void OnDone() override { delete this; }
  bool InternalInlineable() override { return true; }

 private:
  ~Call() override = default;
  static grpc::Status ErrorReply(const absl::Status& status);
  // Reserves memory for the request, and a place among the caller's calls. False: its share is used up.
  bool Reserve(CallMemory& memory, MemoryUse use);
  // `outcome` is OutcomeOf() a reply.
  void Complete(EncodedReply reply, int64_t items, std::string_view outcome = "");
  void Audit(const grpc::Status& status);

  ServingContext& serving_;
  // gRPC keeps it until OnDone().
  const grpc::CallbackServerContext& context_;
  const std::string_view method_;
  const std::chrono::steady_clock::time_point arrived_ = std::chrono::steady_clock::now();
  const size_t request_bytes_;
  grpc::ByteBuffer* const reply_;
  // Both point to the same object.
  const std::shared_ptr<storage::Cancellation> caller_left_;
  const storage::CancellationPtr cancellation_;
  // Null: the call is not traced.
  std::shared_ptr<TracedCall> traced_;
  Caller caller_;
  CallLogFields log_fields_;
  // Not for the audit log, although it has other calls of the method.
  bool is_routine_ = false;
  // Of the caller. Null: the call was refused before it was known.
  std::shared_ptr<CallMemory> memory_;
  size_t reserved_bytes_ = 0;
  // Whether they are reserved by TryReserveSmall().
  bool reserved_small_ = false;
};

template <typename Request, typename Reply>
constexpr MemoryUse MemoryUseOf() {
  if (std::is_same_v<Request, v1::GetStatusRequest>) return MemoryUse::kAny;
  constexpr bool kLarge =
      std::is_same_v<Reply, storage::Page> || std::is_same_v<Reply, storage::StatementPage> ||
      std::is_same_v<Reply, storage::WatchPage> || std::is_same_v<Reply, wire::BatchGetItemReply> ||
      std::is_same_v<Reply, wire::TransactGetItemsReply>;
  return kLarge ? MemoryUse::kLargeReply : MemoryUse::kSmall;
}

// Decodes `bytes` as a Request, checks whether the caller may make it, and runs `operation(Request&&,
// Done<Reply>, CancellationPtr)`, or with the Caller as a fourth parameter. The operation may call its Done
// from any thread, which finishes the call. The call stays inside `serving.gate` until then.
template <typename Request, typename Reply, typename Operation>
grpc::ServerUnaryReactor* ServeUnary(ServingContext& serving, grpc::CallbackServerContext* context,
                                     std::string_view method, const grpc::ByteBuffer* bytes,
                                     grpc::ByteBuffer* reply, Operation&& operation) {
  Call* call = new Call(serving, *context, method, bytes->Length(), reply);
  if (!call->Enter(*context, MemoryUseOf<Request, Reply>())) return call;
  Request request;
  if (DecodeRequest(*bytes, request)) {
    call->set_log_fields(LogFieldsOf(request));
    if (call->caller().grants != nullptr) {
      if (auto denied = CheckTables(call->caller(), method, AccessOfMethod(method), request)) {
        if (!denied->table_name.empty()) call->set_denied_table(std::move(denied->table_name));
        call->Answer(absl::StatusOr<Reply>(std::move(denied->status)));
        return call;
      }
    }
    if constexpr (requires { RefusedStatements(request, call->caller()); }) {
      if (auto refused = RefusedStatements(request, call->caller())) {
        call->Answer(*std::move(refused));
        return call;
      }
    }
    storage::Done<Reply> done = [call](absl::StatusOr<Reply> result) { call->Answer(std::move(result)); };
    if constexpr (requires { operation(std::move(request), std::move(done), nullptr, call->caller()); }) {
      operation(std::move(request), std::move(done), call->cancellation(), call->caller());
    } else {
      operation(std::move(request), std::move(done), call->cancellation());
    }
  } else {
    call->Answer(absl::StatusOr<Reply>(UndecodableRequest(method)));
  }
  return call;
}

}  // namespace itemdb::daemon
