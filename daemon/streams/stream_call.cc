#include "daemon/streams/stream_call.h"

#include "daemon/rpc/grpc_status.h"

namespace itemdb::daemon {
namespace {

// The estimated memory of an open stream in gRPC and here, without its messages. The estimate is high: with
// ten thousand streams opened at once the daemon stayed well within --memory (tests/e2e/pressure_test.cc).
constexpr size_t kStreamBytes = 24 << 10;

}  // namespace

StreamCall::StreamCall(ServingContext& serving, const grpc::CallbackServerContext& context,
                       std::string_view method, size_t request_bytes)
    : serving_(serving),
      context_(context),
      method_(method),
      request_bytes_(request_bytes),
      caller_left_(std::make_shared<storage::Cancellation>(DeadlineOf(context))),
      cancellation_(caller_left_) {
  if (serving_.tracer != nullptr) traced_ = serving_.tracer->Begin(TraceContextOf(context));
}

void StreamCall::TraceSteps() {
  if (traced_ != nullptr) caller_left_->set_trace({traced_, &traced_->steps});
}

StreamCall::Part StreamCall::BeginPart() const {
  if (traced_ == nullptr) return {.traced = nullptr, .cancellation = cancellation_};
  std::shared_ptr<TracedCall> part = Tracer::TakePart(*traced_);
  const std::shared_ptr<storage::CallTrace> steps(part, &part->steps);
  return {.traced = std::move(part),
          .cancellation = std::make_shared<const storage::Cancellation>(cancellation_, steps)};
}

grpc::Status StreamCall::Enter() {
  if (!serving_.gate.TryEnter()) return StoppingReply();
  entered_ = true;
  if (grpc::Status caller = CheckCaller(); !caller.ok()) return caller;
  size_t bytes = kStreamBytes + kCopiesOfRequest * request_bytes_;
  std::shared_ptr<CallMemory> memory = MemoryOf(serving_, context_, caller_);
  if (!memory->TryReserveForLargeReply(bytes)) return CallsFullReply(*memory);
  memory_ = std::move(memory);
  reserved_bytes_ = bytes;
  Audit({}, grpc::Status::OK);
  return grpc::Status::OK;
}

grpc::Status StreamCall::CheckCaller() {
  absl::StatusOr<Caller> caller = CheckCallerOf(serving_, context_, method_);
  if (caller.ok()) {
    caller_ = *std::move(caller);
    return uses_.has_value() ? ToGrpcStatus(CheckUses(*uses_)) : grpc::Status::OK;
  }
  traced_ = nullptr;  // Peers without a key must not fill the queue of spans.
  grpc::Status refused = ToGrpcStatus(caller.status());
  AuditRefusal(serving_.audit, AuditedCallOf(context_, method_), refused);
  return refused;
}

absl::Status StreamCall::CheckUses(const std::vector<TableUse>& uses) {
  if (caller_.grants == nullptr) return absl::OkStatus();
  std::optional<TableDenial> denied = CheckTableUses(caller_, method_, AccessOfMethod(method_), uses);
  if (!denied.has_value()) return absl::OkStatus();
  AuditedCall call = AuditedCallOf(context_, method_);
  call.table = std::move(denied->table_name);
  AuditRefusal(serving_.audit, std::move(call), ToGrpcStatus(denied->status));
  return std::move(denied->status);
}

void StreamCall::Leave() {
  if (memory_ != nullptr) memory_->Release(reserved_bytes_);
  if (entered_) serving_.gate.Leave();
}

void StreamCall::Audit(const CallLogFields& log_fields, const grpc::Status& status) const {
  if (serving_.audit.file() == nullptr || !serving_.audit.Wants(RoleOfMethod(method_))) return;
  // CheckUses() has recorded it.
  if (status.error_code() == grpc::StatusCode::PERMISSION_DENIED) return;
  AuditedCall call = AuditedCallOf(context_, method_);
  // Without keys nobody has checked the one that the call claims.
  if (!serving_.authorizer.asks_for_keys()) call.key_id.clear();
  if (!log_fields.table_name.empty()) call.table = LoggedTableName(log_fields);
  call.outcome = absl::StatusCodeToString(static_cast<absl::StatusCode>(status.error_code()));
  serving_.audit.Answered(std::move(call));
}

void StreamCall::RecordPart(std::chrono::steady_clock::time_point began, const CallLogFields& log_fields,
                            const EncodedReply& reply, int64_t items, size_t request_bytes,
                            const Part* part) {
  Audit(log_fields, reply.status);
  std::shared_ptr<TracedCall> traced;
  if (part != nullptr) {
    traced = part->traced;
  } else if (traced_ != nullptr) {
    traced = Tracer::TakePart(*traced_);
  }
  RecordCall(serving_, context_, began,
             {.method = method_,
              .log_fields = log_fields,
              .duration = std::chrono::steady_clock::now() - began,
              .request_bytes = request_bytes,
              .reply_bytes = reply.bytes,
              .items = items,
              .code = {}},
             reply.status, traced.get());
}

}  // namespace itemdb::daemon
