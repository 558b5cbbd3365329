// What every stream has in common with every other call: the gate, the memory it takes, its cancellation, the
// log of slow work.
#pragma once

#include <grpcpp/server_context.h>

#include <chrono>
#include <memory>
#include <string_view>

#include "daemon/rpc/raw_call.h"
#include "daemon/serving/call_facts.h"
#include "daemon/serving/calls.h"

namespace itemdb {

class StreamCall {
 public:
  // `context` must outlive this.
  StreamCall(Calls& calls, const grpc::CallbackServerContext& context, std::string_view method,
             size_t request_bytes);

  // OK when the stream may go on: Leave() must follow. Otherwise it ends with this status.
  grpc::Status Enter();
  // Whether its key is still good for it: keys change while streams go on.
  grpc::Status CheckCaller() const;
  // Once, and also when it was not let in.
  void Leave();

  Calls& calls() { return calls_; }
  std::string_view method() const { return method_; }
  // Whether what it does is still wanted; never null.
  const CancellationPtr& cancellation() const { return cancellation_; }
  void Cancel() { caller_left_->Cancel(); }

  // One piece of the stream's work, since `began`.
  void LogIfSlow(std::chrono::steady_clock::time_point began, const CallFacts& facts,
                 const EncodedReply& reply, int64_t items, size_t request_bytes);
  void LogIfSlow(std::chrono::steady_clock::time_point began, const CallFacts& facts,
                 const EncodedReply& reply, int64_t items) {
    LogIfSlow(began, facts, reply, items, request_bytes_);
  }

 private:
  Calls& calls_;
  const grpc::CallbackServerContext& context_;
  const std::string_view method_;
  const size_t request_bytes_;
  // The same object twice.
  const std::shared_ptr<Cancellation> caller_left_;
  const CancellationPtr cancellation_;
  bool entered_ = false;
  size_t reserved_bytes_ = 0;
};

}  // namespace itemdb
