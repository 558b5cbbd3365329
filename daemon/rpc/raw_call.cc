#include "daemon/rpc/raw_call.h"

#include <iterator>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "daemon/process/listen_address.h"
#include "daemon/rpc/grpc_status.h"
#include "storage/base/limits.h"

namespace itemdb::daemon {
namespace {

grpc::Status TooLong(size_t reply_bytes) {
  return ToGrpcStatus(
      storage::MakeError(absl::StatusCode::kResourceExhausted, storage::kReasonLimitExceeded,
                         absl::StrFormat("the reply takes %d bytes; a message takes at most %d bytes",
                                         reply_bytes, storage::kMaxMessageBytes)));
}

// Shorter replies are not counted: a thousand of them take only a megabyte.
constexpr size_t kShortReplyBytes = 1'024;

// A text that gRPC sends; its bytes are counted in CallMemory while it exists.
class CountedText {
 public:
  CountedText(std::string text, std::shared_ptr<CallMemory> memory)
      : text_(std::move(text)), memory_(std::move(memory)) {
    memory_->Add(text_.capacity());
  }
  ~CountedText() { memory_->Release(text_.capacity()); }
  CountedText(const CountedText&) = delete;
  CountedText& operator=(const CountedText&) = delete;

  std::string& text() { return text_; }

 private:
  std::string text_;
  const std::shared_ptr<CallMemory> memory_;
};

// A slice that owns `text`.
grpc::Slice ToSlice(std::string&& text, const std::shared_ptr<CallMemory>& memory) {
  auto owner = std::make_unique<CountedText>(std::move(text), memory);
  std::string& owned = owner->text();
  return grpc::Slice(
      owned.data(), owned.size(), [](void* counted) { delete static_cast<CountedText*>(counted); },
      owner.release());
}

grpc::Slice Encode(const google::protobuf::MessageLite& message, size_t message_bytes,
                   const std::shared_ptr<CallMemory>& memory) {
  if (message_bytes > kShortReplyBytes) return ToSlice(message.SerializeAsString(), memory);
  grpc::Slice slice(message_bytes);
  message.SerializeWithCachedSizesToArray(const_cast<uint8_t*>(slice.begin()));
  return slice;
}

// Encodes `reply` and appends `encoded_items` as a slice of its own, without copying them.
EncodedReply EncodeWithItems(const google::protobuf::MessageLite& reply, std::string&& encoded_items,
                             const std::shared_ptr<CallMemory>& memory, grpc::ByteBuffer* bytes) {
  size_t head_bytes = reply.ByteSizeLong();
  size_t reply_bytes = head_bytes + encoded_items.size();
  if (reply_bytes > storage::kMaxMessageBytes) return {TooLong(reply_bytes), 0};
  grpc::Slice slices[] = {Encode(reply, head_bytes, memory), ToSlice(std::move(encoded_items), memory)};
  grpc::ByteBuffer(slices, 2).Swap(bytes);
  return {grpc::Status::OK, reply_bytes};
}

}  // namespace

storage::Cancellation::Clock::time_point DeadlineOf(const grpc::CallbackServerContext& context) {
  auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max())
    return storage::Cancellation::Clock::time_point::max();
  auto left = deadline - std::chrono::system_clock::now();
  // The sum below would overflow for a deadline that is centuries away.
  if (left > std::chrono::hours(24 * 365)) return storage::Cancellation::Clock::time_point::max();
  return storage::Cancellation::Clock::now() + left;
}

absl::StatusOr<Caller> CallerOf(const Authorizer& authorizer, const grpc::CallbackServerContext& context,
                                std::string_view method) {
  if (!authorizer.asks_for_keys()) return Caller();
  const auto [first, end] = context.client_metadata().equal_range("authorization");
  if (first == end) return authorizer.Check(method, std::nullopt);
  // Two values are refused like a malformed one.
  if (std::next(first) != end) return authorizer.Check(method, "");
  return authorizer.Check(method, std::string_view(first->second.data(), first->second.size()));
}

std::shared_ptr<CallMemory> MemoryOf(ServingContext& serving, const grpc::CallbackServerContext& context,
                                     const Caller& caller) {
  return serving.shares.Of(caller.key_id, AddressOfPeer(context.peer()));
}

absl::StatusOr<Caller> CheckCallerOf(ServingContext& serving, const grpc::CallbackServerContext& context,
                                     std::string_view method) {
  absl::StatusOr<Caller> caller = CallerOf(serving.authorizer, context, method);
  if (absl::IsUnauthenticated(caller.status())) {
    serving.guard.CallRefused(context.peer());
  } else if (serving.guard.awaits_proof()) {
    // Also when the key's role is too low: its owner is known.
    serving.guard.CallAdmitted(context.peer());
  }
  return caller;
}

std::optional<TraceContext> TraceContextOf(const grpc::CallbackServerContext& context) {
  const auto find = [&metadata = context.client_metadata()](const char* name) {
    const auto [first, end] = metadata.equal_range(name);
    if (first == end || std::next(first) != end) return std::optional<std::string_view>();
    return std::optional<std::string_view>(std::string_view(first->second.data(), first->second.size()));
  };
  return ReadTraceContext(find("traceparent"), find("x-amzn-trace-id"));
}

AuditedCall AuditedCallOf(const grpc::CallbackServerContext& context, std::string_view method) {
  const auto& metadata = context.client_metadata();
  const auto sent = metadata.find("authorization");
  AuditedCall call;
  if (sent != metadata.end())
    call.key_id = ClaimedKeyId(std::string_view(sent->second.data(), sent->second.size()));
  call.peer = context.peer();
  call.operation = method;
  if (const std::optional<TraceContext> trace = TraceContextOf(context))
    call.trace_id = ToText(trace->trace_id);
  return call;
}

void AuditRefusal(CallAudit& audit, AuditedCall call, const grpc::Status& status) {
  call.outcome = absl::StatusCodeToString(static_cast<absl::StatusCode>(status.error_code()));
  call.reason = status.error_message();
  audit.Refused(std::move(call), status.error_code() == grpc::StatusCode::UNAUTHENTICATED);
}

grpc::Status StoppingReply(std::string_view what_was_done) {
  return ToGrpcStatus(StoppingError(what_was_done));
}

grpc::Status CallsFullReply(const CallMemory& memory, std::string_view what_was_done) {
  return ToGrpcStatus(CallsFullError(memory, what_was_done));
}

bool DecodeRequest(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message) {
  // The reader only takes references to the slices; it is not const because it may decompress them.
  grpc::ProtoBufferReader reader(const_cast<grpc::ByteBuffer*>(&bytes));
  return reader.status().ok() && message.ParseFromZeroCopyStream(&reader);
}

absl::Status UndecodableRequest(std::string_view method) {
  return storage::ValidationError(absl::StrFormat("the bytes sent are not a request message of %s", method));
}

EncodedReply EncodeReply(const google::protobuf::MessageLite& reply,
                         const std::shared_ptr<CallMemory>& memory, grpc::ByteBuffer* bytes) {
  size_t reply_bytes = reply.ByteSizeLong();
  if (reply_bytes > storage::kMaxMessageBytes) return {TooLong(reply_bytes), 0};
  grpc::Slice slice = Encode(reply, reply_bytes, memory);
  grpc::ByteBuffer(&slice, 1).Swap(bytes);
  return {grpc::Status::OK, reply_bytes};
}

EncodedReply EncodeReply(storage::Page&& page, const std::shared_ptr<CallMemory>& memory,
                         grpc::ByteBuffer* bytes) {
  return EncodeWithItems(page.reply, std::move(page.encoded_items), memory, bytes);
}

EncodedReply EncodeReply(storage::StatementPage&& page, const std::shared_ptr<CallMemory>& memory,
                         grpc::ByteBuffer* bytes) {
  return EncodeWithItems(page.reply, std::move(page.encoded_items), memory, bytes);
}

EncodedReply EncodeReply(storage::WatchPage&& page, const std::shared_ptr<CallMemory>& memory,
                         grpc::ByteBuffer* bytes) {
  return EncodeWithItems(page.reply, std::move(page.encoded_records), memory, bytes);
}

namespace {

CallGate::CallKind GateKindOf(std::string_view method) {
  return method.starts_with("itemdb.v1.Replication/") ? CallGate::CallKind::kStandby
                                                      : CallGate::CallKind::kClient;
}

}  // namespace

Call::Call(ServingContext& serving, const grpc::CallbackServerContext& context, std::string_view method,
           size_t request_bytes, grpc::ByteBuffer* reply)
    : serving_(serving),
      context_(context),
      method_(method),
      request_bytes_(request_bytes),
      reply_(reply),
      caller_left_(std::make_shared<storage::Cancellation>(DeadlineOf(context))),
      cancellation_(caller_left_) {
  if (serving_.tracer == nullptr) return;
  traced_ = serving_.tracer->Begin(TraceContextOf(context));
  if (traced_ != nullptr) caller_left_->set_trace({traced_, &traced_->steps});
}

bool Call::Enter(const grpc::CallbackServerContext& context, MemoryUse use) {
  if (!serving_.gate.TryEnter(GateKindOf(method_))) {
    Finish(StoppingReply());
    return false;
  }
  absl::StatusOr<Caller> caller = CheckCallerOf(serving_, context, method_);
  if (!caller.ok()) {
    traced_ = nullptr;  // Peers without a key must not fill the queue of spans.
    Complete({ErrorReply(caller.status()), 0}, -1);
    return false;
  }
  caller_ = *std::move(caller);
  std::shared_ptr<CallMemory> memory = MemoryOf(serving_, context, caller_);
  if (!Reserve(*memory, use)) {
    Complete({CallsFullReply(*memory), 0}, -1);
    return false;
  }
  memory_ = std::move(memory);
  return true;
}

bool Call::Reserve(CallMemory& memory, MemoryUse use) {
  const size_t bytes = kCopiesOfRequest * request_bytes_;
  reserved_bytes_ = bytes;
  if (use == MemoryUse::kAny) {
    memory.BeginCall();
    memory.Add(bytes);
    return true;
  }
  if (!memory.TryBeginCall()) return false;
  if (use == MemoryUse::kSmall) {
    reserved_small_ = memory.TryReserveSmall(bytes);
    if (reserved_small_ || memory.TryReserve(bytes)) return true;
  } else {
    if (memory.TryReserveForLargeReply(bytes)) return true;
    reserved_small_ = memory.TryReserveSmallForLargeReply(bytes);
    if (reserved_small_) return true;
  }
  memory.EndCall();
  return false;
}

grpc::Status Call::ErrorReply(const absl::Status& status) { return ToGrpcStatus(status); }

void RecordCall(ServingContext& serving, const grpc::CallbackServerContext& context,
                std::chrono::steady_clock::time_point began, const AnsweredCall& call,
                const grpc::Status& status, TracedCall* traced_or_null, std::string_view outcome) {
  const std::string error = ReasonOf(status);
  serving.metrics.Count({.protocol = Protocol::kGrpc,
                         .operation = call.method.substr(call.method.rfind('/') + 1),
                         .table = CountedTableName(call.log_fields),
                         .reason = status.ok() ? outcome : std::string_view(error),
                         .duration = call.duration,
                         .request_bytes = call.request_bytes,
                         .reply_bytes = call.reply_bytes,
                         .items = call.items});
  const bool slow = serving.slow_log.IsSlow(call.duration);
  if (!slow && traced_or_null == nullptr) return;
  std::string code = absl::StatusCodeToString(static_cast<absl::StatusCode>(status.error_code()));
  if (slow) {
    AnsweredCall logged = call;
    logged.code = code;
    if (traced_or_null != nullptr) {
      logged.trace_id = ToText(traced_or_null->trace_id);
    } else if (const std::optional<TraceContext> trace = TraceContextOf(context)) {
      logged.trace_id = ToText(trace->trace_id);
    }
    serving.slow_log.Log(logged);
  }
  if (traced_or_null == nullptr) return;
  serving.tracer->Finish(*traced_or_null,
                         {.operation = call.method.substr(call.method.rfind('/') + 1),
                          .protocol = "grpc",
                          .table = std::string(CountedTableName(call.log_fields)),
                          .code = std::move(code),
                          .reason = std::string(status.ok() ? outcome : std::string_view(error)),
                          .begin = began,
                          .end = began + call.duration,
                          .request_bytes = call.request_bytes,
                          .reply_bytes = call.reply_bytes,
                          .items = call.items < 0 ? call.log_fields.items : call.items});
}

void Call::Audit(const grpc::Status& status) {
  const bool refused = status.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
                       status.error_code() == grpc::StatusCode::PERMISSION_DENIED;
  if (!refused) {
    // The roles are look-ups that most calls need not pay for.
    if (serving_.audit.file() == nullptr) return;
    if (!serving_.audit.Wants(is_routine_ ? RoleOfMethod(method_) : AuditedRoleOfMethod(method_))) return;
  }
  AuditedCall call = AuditedCallOf(context_, method_);
  if (!log_fields_.table_name.empty()) call.table = LoggedTableName(log_fields_);
  if (refused) return AuditRefusal(serving_.audit, std::move(call), status);
  call.key_id = caller_.key_id;
  call.outcome = absl::StatusCodeToString(static_cast<absl::StatusCode>(status.error_code()));
  serving_.audit.Answered(std::move(call));
}

void Call::Complete(EncodedReply reply, int64_t items, std::string_view outcome) {
  RecordCall(serving_, context_, arrived_,
             {.method = method_,
              .log_fields = log_fields_,
              .duration = std::chrono::steady_clock::now() - arrived_,
              .request_bytes = request_bytes_,
              .reply_bytes = reply.bytes,
              .items = items,
              .code = {}},
             reply.status, traced_.get(), outcome);
  Audit(reply.status);
  if (memory_ != nullptr) {
    memory_->EndCall();
    reserved_small_ ? memory_->ReleaseSmall(reserved_bytes_) : memory_->Release(reserved_bytes_);
  }
  // Finish() may delete this object.
  CallGate& gate = serving_.gate;
  const CallGate::CallKind kind = GateKindOf(method_);
  Finish(std::move(reply.status));
  gate.Leave(kind);
}

}  // namespace itemdb::daemon
