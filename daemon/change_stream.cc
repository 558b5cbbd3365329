#include "daemon/change_stream.h"

#include <atomic>
#include <utility>

#include "daemon/grpc_status.h"
#include "daemon/raw_call.h"
#include "daemon/stream_call.h"

namespace itemdb {
namespace {

constexpr std::string_view kMethod = "itemdb.v1.Changes/Watch";
constexpr std::string_view kNothingMore = "nothing more was read";

// At any time a reply is waited for or being read, or one is being sent, or the stream is over; so what
// follows needs no lock, but for the wish to stop.
class ChangeStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer>, public OpenStreams::Stream {
 public:
  ChangeStream(Database& database, Calls& calls, const grpc::ByteBuffer& request,
               grpc::CallbackServerContext& context)
      : database_(database), call_(calls, context, kMethod, request.Length()), context_(context) {}

  void Start(const grpc::ByteBuffer& bytes) {
    if (grpc::Status entered = call_.Enter(context_); !entered.ok()) return Finish(std::move(entered));
    call_.calls().streams.Add(this);
    if (!DecodeRequest(bytes, request_)) return End(UndecodableRequest(call_.method()));
    ReadNext();
  }

  void OnWriteDone(bool ok) override {
    message_.Clear();  // Counted until here.
    if (!ok) return End(absl::CancelledError("the client is gone"));
    if (last_) return Finish(grpc::Status::OK);
    ReadNext();
  }

  void OnCancel() override { call_.Cancel(); }

  void OnDone() override {
    call_.calls().streams.Remove(this);
    call_.Leave();
    delete this;
  }

  void Stop() override {
    stopping_ = true;
    call_.Cancel();
  }
  void Cut() override { context_.TryCancel(); }

 private:
  ~ChangeStream() override = default;

  void ReadNext() {
    // The stream may be over before this returns.
    database_.WatchChanges(
        request_, [this](absl::StatusOr<WatchPage> page) { Send(std::move(page)); }, call_.cancellation());
  }

  void Send(absl::StatusOr<WatchPage> page) {
    if (!page.ok()) return End(page.status());
    if (stopping_) return Finish(StoppingReply(kNothingMore));
    request_.set_after_sequence(page->reply.change_sequence());
    request_.set_table_storage_id(page->reply.table_storage_id());
    last_ = page->last;
    // A reply may wait long for its reader. Who is refused goes on later where it was.
    CallMemory& memory = *call_.calls().memory;
    const size_t bytes = page->encoded_records.size();
    if (bytes > 0 && !memory.TryReserveForStream(bytes)) return Finish(CallsFullReply(memory, kNothingMore));
    EncodedReply reply = EncodeReply(*std::move(page), call_.calls().memory, &message_);
    // Counted with the message by now.
    if (bytes > 0) memory.Release(bytes);
    if (!reply.status.ok()) return Finish(std::move(reply.status));
    StartWrite(&message_);
  }

  void End(const absl::Status& status) {
    Finish(stopping_ ? StoppingReply(kNothingMore) : ToGrpcStatus(status));
  }

  Database& database_;
  StreamCall call_;
  grpc::CallbackServerContext& context_;
  // Of what is still to come.
  v1::WatchRequest request_;
  grpc::ByteBuffer message_;
  bool last_ = false;
  std::atomic<bool> stopping_ = false;
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartChangeStream(Database& database, Calls& calls,
                                                              grpc::CallbackServerContext* context,
                                                              const grpc::ByteBuffer* request) {
  auto* stream = new ChangeStream(database, calls, *request, *context);
  stream->Start(*request);
  return stream;
}

}  // namespace itemdb
