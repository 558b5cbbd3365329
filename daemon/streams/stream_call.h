// The part of a stream that unary calls have too (daemon/rpc/raw_call.h): entering the gate, reserving
// memory, cancellation, the log of slow work.
#pragma once

#include <grpcpp/server_context.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/rpc/raw_call.h"
#include "daemon/serving/call_log_fields.h"
#include "daemon/serving/serving_context.h"

namespace itemdb::daemon {

class StreamCall {
 public:
  // `context` must outlive this object.
  StreamCall(ServingContext& serving, const grpc::CallbackServerContext& context, std::string_view method,
             size_t request_bytes);

  // OK: admitted. Otherwise the stream must end with this status. Leave() must follow in both cases.
  grpc::Status Enter();
  // OK: the caller's key still allows the method, for the tables of CheckRequest(). Keys can change while a
  // stream is open.
  grpc::Status CheckCaller();
  // OK: the caller may make `request`, with which a stream begins. CheckCaller() checks its tables again.
  template <typename Request>
  absl::Status CheckRequest(const Request& request) {
    std::vector<TableUse> uses;
    ITEMDB_RETURN_IF_ERROR(AddTables(request, AccessOfMethod(method_).role, &uses));
    uses_ = std::move(uses);
    return CheckUses(*uses_);
  }
  // OK: the caller of the last CheckCaller() may send `part` of a stream of requests.
  template <typename Request>
  absl::Status CheckPart(const Request& part) {
    if (caller_.grants == nullptr) return absl::OkStatus();
    std::vector<TableUse> uses;
    ITEMDB_RETURN_IF_ERROR(AddTables(part, AccessOfMethod(method_).role, &uses));
    return CheckUses(uses);
  }
  // Parts of a traced stream have the steps of storage in their spans. For streams that make one part at a
  // time.
  void TraceSteps();
  // For streams that make several parts at a time.
  struct Part {
    // Null: the stream is not traced.
    std::shared_ptr<TracedCall> traced;
    // As cancellation(), with the steps of this part.
    storage::CancellationPtr cancellation;
  };
  Part BeginPart() const;
  // Leaves the gate and releases the memory. Called once.
  void Leave();

  ServingContext& serving() { return serving_; }
  // Of the caller. Valid once Enter() has admitted the stream.
  const std::shared_ptr<CallMemory>& memory() const { return memory_; }
  // The bytes of memory() that Enter() reserved until Leave().
  size_t reserved_bytes() const { return reserved_bytes_; }
  std::string_view method() const { return method_; }
  // The other end of the connection, as gRPC writes it.
  std::string peer() const { return context_.peer(); }
  // The access key of the last CheckCaller(); empty where no keys are asked for.
  const std::string& key_id() const { return caller_.key_id; }
  // Cancelled by Cancel() and when the deadline passes; never null.
  const storage::CancellationPtr& cancellation() const { return cancellation_; }
  // The daemon ends the stream.
  void Cancel() { caller_left_->Cancel(); }
  // The caller has cancelled the stream, or is gone.
  void CancelledByCaller() {
    Cancel();
    serving_.guard.CallCancelled(context_.peer(), arrived_);
  }

  // Logs one page or chunk of the stream, begun at `began`, if it was slow, and adds it to the audit log if
  // all calls are audited; Enter() adds the begin of the stream. `part`: what BeginPart() has returned;
  // without, the steps are those since the last part.
  void RecordPart(std::chrono::steady_clock::time_point began, const CallLogFields& log_fields,
                  const EncodedReply& reply, int64_t items, size_t request_bytes, const Part* part = nullptr);
  void RecordPart(std::chrono::steady_clock::time_point began, const CallLogFields& log_fields,
                  const EncodedReply& reply, int64_t items) {
    // The bytes of the one request count once, with the first part.
    RecordPart(began, log_fields, reply, items, std::exchange(unrecorded_request_bytes_, 0));
  }

 private:
  void Audit(const CallLogFields& log_fields, const grpc::Status& status) const;
  absl::Status CheckUses(const std::vector<TableUse>& uses);

  ServingContext& serving_;
  const grpc::CallbackServerContext& context_;
  const std::string_view method_;
  const std::chrono::steady_clock::time_point arrived_ = std::chrono::steady_clock::now();
  const size_t request_bytes_;
  size_t unrecorded_request_bytes_ = request_bytes_;
  // Both point to the same object.
  const std::shared_ptr<storage::Cancellation> caller_left_;
  const storage::CancellationPtr cancellation_;
  // Null: the stream is not traced.
  std::shared_ptr<TracedCall> traced_;
  // As the key was at the last CheckCaller().
  Caller caller_;
  // The tables of the request of a stream, once it is known.
  std::optional<std::vector<TableUse>> uses_;
  bool entered_ = false;
  // Null: the stream was not admitted.
  std::shared_ptr<CallMemory> memory_;
  size_t reserved_bytes_ = 0;
};

}  // namespace itemdb::daemon
