// Streams over gRPC. A generic stub knows only streams with messages both ways; to the daemon they look the
// same as a stream of pages that was opened by its own stub.
#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_callback.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "client/call_metadata.h"
#include "client/errors_internal.h"
#include "client/grpc_transport.h"
#include "common/status_macros.h"

namespace itemdb {
namespace {

// How often a stream polls while the channel is connecting.
constexpr std::chrono::milliseconds kConnectPause(2);

// The gRPC call. It owns itself through self_ until OnDone. It starts reads and writes under mutex_, and none
// after reading has ended; AddHold keeps the call open until then.
class StreamCall : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit StreamCall(size_t read_ahead) : read_ahead_(read_ahead) {}

  grpc::ClientContext& context() { return context_; }

  void Start(std::shared_ptr<StreamCall> self) {
    std::lock_guard<std::mutex> lock(mutex_);
    self_ = std::move(self);
    started_ = true;
    AddHold();
    reading_ = true;
    StartRead(&incoming_);
    WriteNext();
    StartCall();
  }

  void Write(std::string message) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (writing_ended_) return;
    outgoing_.push_back(std::move(message));
    if (started_) WriteNext();
  }

  void WritesDone() {
    std::lock_guard<std::mutex> lock(mutex_);
    no_more_writes_ = true;
    if (started_) WriteNext();
  }

  // The next message. Nothing if the stream has ended (`*ended` is true) or `deadline` passed.
  std::optional<std::string> Read(absl::Time deadline, bool* ended) {
    std::unique_lock<std::mutex> lock(mutex_);
    const absl::Duration left = deadline - absl::Now();
    const auto arrived = [this] { return !received_.empty() || done_; };
    if (left < absl::Hours(24 * 365)) {
      changed_.wait_for(lock, absl::ToChronoNanoseconds(std::max(left, absl::ZeroDuration())), arrived);
    } else {
      changed_.wait(lock, arrived);
    }
    *ended = done_ && received_.empty();
    if (received_.empty()) return std::nullopt;
    std::string message = std::move(received_.front());
    received_.pop_front();
    ReadNext();
    return message;
  }

  // Valid after the call has ended.
  const grpc::Status& status() const { return status_; }

  // No Read will follow.
  void Abandon() {
    context_.TryCancel();
    std::lock_guard<std::mutex> lock(mutex_);
    abandoned_ = true;
    if (started_ && !reading_) EndReading();
  }

  void OnReadDone(bool ok) override {
    std::lock_guard<std::mutex> lock(mutex_);
    reading_ = false;
    if (!ok || abandoned_) return EndReading();
    grpc::Slice slice;
    if (incoming_.TrySingleSlice(&slice).ok() || incoming_.DumpToSingleSlice(&slice).ok()) {
      received_.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
    incoming_.Clear();
    ReadNext();
    changed_.notify_all();
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard<std::mutex> lock(mutex_);
    writing_ = false;
    if (!ok) {
      // Later messages must not be sent without the lost one; Read returns the error.
      writing_ended_ = true;
      outgoing_.clear();
    }
    WriteNext();
  }

  void OnDone(const grpc::Status& status) override {
    std::shared_ptr<StreamCall> self;
    std::lock_guard<std::mutex> lock(mutex_);
    status_ = status;
    done_ = true;
    self = std::move(self_);  // Destroyed after the lock is released, unless Stream still owns the call.
    changed_.notify_all();
  }

 private:
  void ReadNext() {
    if (reading_ || reading_ended_ || received_.size() >= read_ahead_) return;
    reading_ = true;
    StartRead(&incoming_);
  }

  void EndReading() {
    if (std::exchange(reading_ended_, true)) return;
    RemoveHold();
  }

  void WriteNext() {
    if (writing_ || writing_ended_ || reading_ended_) return;
    if (!outgoing_.empty()) {
      auto message = std::make_unique<std::string>(std::move(outgoing_.front()));
      outgoing_.pop_front();
      char* bytes = message->data();
      const size_t size = message->size();
      const grpc::Slice slice(
          bytes, size, [](void* owned) { delete static_cast<std::string*>(owned); }, message.release());
      sent_ = grpc::ByteBuffer(&slice, 1);
      writing_ = true;
      StartWrite(&sent_);
    } else if (no_more_writes_ && !std::exchange(told_no_more_, true)) {
      StartWritesDone();
    }
  }

  const size_t read_ahead_;
  grpc::ClientContext context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_; gRPC uses the two buffers while a read or a write is under way.
  std::shared_ptr<StreamCall> self_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer sent_;
  std::deque<std::string> outgoing_;
  std::deque<std::string> received_;
  bool started_ = false;
  bool reading_ = false;
  bool reading_ended_ = false;
  bool writing_ = false;
  bool writing_ended_ = false;  // A write failed.
  bool no_more_writes_ = false;
  bool told_no_more_ = false;
  bool abandoned_ = false;
  bool done_ = false;
  grpc::Status status_;
};

}  // namespace

class GrpcTransport::Stream : public MessageStream {
 public:
  Stream(GrpcTransport& transport, const char* method, size_t read_ahead, const std::string& traceparent)
      : transport_(transport), method_(method), call_(std::make_shared<StreamCall>(read_ahead)) {
    if (!traceparent.empty()) call_->context().AddMetadata(kTraceparent, traceparent);
  }

  ~Stream() override { call_->Abandon(); }

  void Write(std::string message) override { call_->Write(std::move(message)); }
  void WritesDone() override { call_->WritesDone(); }

  absl::StatusOr<std::optional<std::string>> Read(absl::Time deadline) override {
    ITEMDB_RETURN_IF_ERROR(SendWhenConnected(deadline));
    bool ended = false;
    std::optional<std::string> message = call_->Read(deadline, &ended);
    if (message.has_value()) return message;
    if (!ended) {
      call_->context().TryCancel();
      return MakeError(absl::StatusCode::kDeadlineExceeded, kReasonDeadlineExceeded,
                       "nothing came from " + transport_.endpoint_ + " before the deadline");
    }
    if (call_->status().ok()) return std::nullopt;
    return transport_.ToStatus(call_->status(), CallKind::kRead, cancelled_, /*request_bytes=*/0);
  }

  void Cancel() override {
    cancelled_ = true;
    call_->context().TryCancel();
  }

 private:
  // As GrpcTransport::SendWhenConnected: starts on a channel that is connected, or failed and reports why.
  absl::Status SendWhenConnected(absl::Time deadline) {
    while (!sent_) {
      const grpc_connectivity_state state = transport_.channel_->GetState(/*try_to_connect=*/true);
      if (state == GRPC_CHANNEL_READY || state == GRPC_CHANNEL_TRANSIENT_FAILURE) {
        sent_ = true;
        for (const auto& [key, value] : transport_.metadata_) call_->context().AddMetadata(key, value);
        transport_.stub_.PrepareBidiStreamingCall(&call_->context(), method_, grpc::StubOptions(),
                                                  call_.get());
        call_->Start(call_);
        break;
      }
      if (cancelled_) {
        return MakeError(absl::StatusCode::kCancelled, kReasonCancelled, "the stream was cancelled");
      }
      if (absl::Now() >= deadline || state == GRPC_CHANNEL_SHUTDOWN) {
        return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                         "no daemon answers at " + transport_.endpoint_ +
                             ": the connection was not established before the deadline");
      }
      std::this_thread::sleep_for(kConnectPause);
    }
    return absl::OkStatus();
  }

  GrpcTransport& transport_;
  const char* const method_;
  const std::shared_ptr<StreamCall> call_;
  bool sent_ = false;
  std::atomic<bool> cancelled_ = false;
};

std::unique_ptr<MessageStream> GrpcTransport::OpenStream(const char* method, size_t read_ahead,
                                                         const std::string& traceparent) {
  return std::make_unique<Stream>(*this, method, read_ahead, traceparent);
}

}  // namespace itemdb
