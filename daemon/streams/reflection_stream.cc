#include "daemon/streams/reflection_stream.h"

#include <optional>
#include <utility>

#include "daemon/rpc/grpc_status.h"
#include "daemon/rpc/raw_call.h"
#include "daemon/rpc/reflection.h"
#include "daemon/streams/stream_call.h"
#include "storage/base/mutex.h"

namespace itemdb::daemon {
namespace {

// Reads a request, writes its answer, reads the next: one operation is pending in gRPC at a time. Deletes
// itself when gRPC is done with the stream.
class ReflectionStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                               public OpenStreams::Stream {
 public:
  ReflectionStream(const std::vector<std::string>& services, ServingContext& serving,
                   grpc::CallbackServerContext& context, std::string_view method)
      : services_(services), call_(serving, context, method, /*request_bytes=*/0), context_(context) {}

  void Start() {
    if (grpc::Status entered = call_.Enter(); !entered.ok()) return End(std::move(entered));
    call_.serving().streams.Add(this);
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return End(grpc::Status::OK);
    if (grpc::Status caller = call_.CheckCaller(); !caller.ok()) return End(std::move(caller));
    if (grpc::Status answered = Answer(); !answered.ok()) return End(std::move(answered));
    {
      storage::MutexLock lock(mutex_);
      if (finished_) return;
      writing_ = true;
    }
    StartWrite(&answer_);
  }

  void OnWriteDone(bool ok) override {
    answer_.Clear();
    std::optional<grpc::Status> end;
    {
      storage::MutexLock lock(mutex_);
      writing_ = false;
      end = std::move(end_);
    }
    if (end.has_value()) return End(*std::move(end));
    if (!ok) return End(ToGrpcStatus(absl::CancelledError("the client is gone")));
    StartRead(&request_);
  }

  void OnCancel() override {
    call_.CancelledByCaller();
    End(ToGrpcStatus(absl::CancelledError("the client is gone")));
  }

  void OnDone() override {
    call_.serving().streams.Remove(this);
    call_.Leave();
    delete this;
  }

  void Stop() override { End(StoppingReply()); }
  void Abort() override { context_.TryCancel(); }

 private:
  ~ReflectionStream() override = default;

  // Makes `answer_` from `request_`.
  grpc::Status Answer() {
    const size_t bytes = kCopiesOfRequest * request_.Length();
    if (!call_.memory()->TryReserveForLargeReply(bytes)) return CallsFullReply(*call_.memory());
    grpc::reflection::v1::ServerReflectionRequest request;
    const bool decoded = DecodeRequest(request_, request);
    request_.Clear();
    grpc::Status status =
        decoded ? EncodeReply(AnswerReflection(request, services_), call_.memory(), &answer_).status
                : ToGrpcStatus(UndecodableRequest(call_.method()));
    call_.memory()->Release(bytes);
    return status;
  }

  // Ends the stream, after the answer that is being written. The client gets the status of the first call.
  void End(grpc::Status status) {
    {
      storage::MutexLock lock(mutex_);
      if (finished_) return;
      if (writing_) {
        if (!end_.has_value()) end_ = std::move(status);
        return;
      }
      finished_ = true;
    }
    Finish(std::move(status));
  }

  const std::vector<std::string>& services_;
  StreamCall call_;
  grpc::CallbackServerContext& context_;
  // gRPC uses them while it reads and writes.
  grpc::ByteBuffer request_;
  grpc::ByteBuffer answer_;

  storage::Mutex mutex_;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> end_ ABSL_GUARDED_BY(mutex_);
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartReflectionStream(
    const std::vector<std::string>& services, ServingContext& serving, grpc::CallbackServerContext* context,
    std::string_view method) {
  auto* stream = new ReflectionStream(services, serving, *context, method);
  stream->Start();
  return stream;
}

}  // namespace itemdb::daemon
