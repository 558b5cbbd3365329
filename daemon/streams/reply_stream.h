// A call that is answered by one reply after another: what QueryStream, ScanStream and Watch have in common.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <string_view>

#include "daemon/streams/stream_call.h"

namespace itemdb {

// Deletes itself when gRPC is done with it. At any time a reply is being made, or one is being sent, or the
// stream is over; so what follows needs no lock, but for the wish to stop.
class ReplyStream : public grpc::ServerWriteReactor<grpc::ByteBuffer>, public OpenStreams::Stream {
 public:
  void OnWriteDone(bool ok) final;
  void OnCancel() final { call_.Cancel(); }
  void OnDone() final;

  void Stop() final;
  void Cut() final { context_.TryCancel(); }

 protected:
  ReplyStream(Calls& calls, grpc::CallbackServerContext& context, std::string_view method,
              size_t request_bytes)
      : call_(calls, context, method, request_bytes), context_(context) {}
  ~ReplyStream() override = default;

  // True when the stream may go on; otherwise it is over.
  [[nodiscard]] bool Enter();
  // Makes the next reply and Sends it, or Ends. The stream may be over before this returns.
  virtual void MakeNext() = 0;
  // Gives back what is held of the database, while that is there.
  virtual void LetGo() {}

  StreamCall& call() { return call_; }
  Calls& calls() { return call_.calls(); }
  grpc::ByteBuffer* message() { return &message_; }

  // Sends message(), unless `status` says that there is none, the caller's key is not good for it any more,
  // or the daemon stops. After the `last` one the stream is over.
  void Send(grpc::Status status, bool last);
  // Ends because calls take all their memory, or because the daemon stops.
  void EndForMemory();
  void End(const absl::Status& status);

 private:
  // Of a status that is not sent when the daemon stops.
  void EndUnlessStopping(grpc::Status status);

  StreamCall call_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer message_;
  bool last_ = false;
  std::atomic<bool> stopping_ = false;
};

}  // namespace itemdb
