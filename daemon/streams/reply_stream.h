// A call that sends one reply after another: the base class of QueryStream, ScanStream and Watch.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <string_view>

#include "daemon/streams/stream_call.h"

namespace itemdb::daemon {

// Deletes itself when gRPC is done with it. At any time either one reply is being made, or one is being sent,
// or the stream is over. So only one thread uses the members at a time and they need no lock; `stopping_`,
// which Stop() sets from another thread, is atomic.
class ReplyStream : public grpc::ServerWriteReactor<grpc::ByteBuffer>, public OpenStreams::Stream {
 public:
  void OnWriteDone(bool ok) final;
  void OnCancel() final { call_.CancelledByCaller(); }
  void OnDone() final;

  void Stop() final;
  void Abort() final { context_.TryCancel(); }

 protected:
  ReplyStream(ServingContext& serving, grpc::CallbackServerContext& context, std::string_view method,
              size_t request_bytes)
      : call_(serving, context, method, request_bytes), context_(context) {}
  ~ReplyStream() override = default;

  // True: the stream was admitted. False: it was refused, and is over.
  [[nodiscard]] bool Enter();
  // Makes the next reply, then calls Send() or End(), on any thread. May delete this before it returns.
  virtual void MakeNext() = 0;
  // Releases objects of the database, e.g. a pinned snapshot, at the end, while the database still exists.
  virtual void Release() {}

  StreamCall& call() { return call_; }
  ServingContext& serving() { return call_.serving(); }
  grpc::ByteBuffer* message() { return &message_; }

  // Sends message(). Ends the stream instead if `status` is an error, the caller's key does not allow the
  // method any more, or the daemon stops. With `last` the stream ends after this message.
  void Send(grpc::Status status, bool last);
  // Ends the stream with CALLS_FULL.
  void EndForMemory();
  // Ends the stream with `status`.
  void End(const absl::Status& status);

 private:
  // Ends the stream with `status`, or with UNAVAILABLE if the daemon stops; so do the functions above.
  void EndUnlessStopping(grpc::Status status);

  StreamCall call_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer message_;
  bool last_ = false;
  std::atomic<bool> stopping_ = false;
};

}  // namespace itemdb::daemon
