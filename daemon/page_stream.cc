#include "daemon/page_stream.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "daemon/grpc_status.h"
#include "daemon/raw_call.h"
#include "daemon/stream_call.h"
#include "storage/base/limits.h"

namespace itemdb {
namespace {

constexpr std::string_view kNothingMore = "nothing more was read";

// Bytes set aside for a page before it is read. What it takes is counted once it is there.
size_t ExpectedPageBytes(const wire::PageRequest& request) {
  if (request.select() == v1::SELECT_COUNT) return 0;
  if (!request.has_limit() || request.limit() < 1) return kMaxPageBytes;
  return std::min<size_t>(kMaxPageBytes, static_cast<size_t>(request.limit()) * kMaxItemBytes);
}

// At any time a page is being read, or one is being sent, or the stream is over; so what follows needs no
// lock, but for the wish to stop.
class PageStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer>, public OpenStreams::Stream {
 public:
  PageStream(Calls& calls, grpc::CallbackServerContext& context, std::string_view method,
             size_t request_bytes)
      : call_(calls, context, method, request_bytes), context_(context) {}

  void Start(const grpc::ByteBuffer& bytes,
             const std::function<absl::StatusOr<ReadPageOf>(bool one_state)>& begin) {
    if (grpc::Status entered = call_.Enter(context_); !entered.ok()) return Finish(std::move(entered));
    call_.calls().streams.Add(this);
    wire::PageStreamRequest request;
    if (!DecodeRequest(bytes, request)) return End(UndecodableRequest(call_.method()));
    request_ = std::move(*request.mutable_page());
    facts_ = FactsOf(request_);
    absl::StatusOr<ReadPageOf> read = begin(request.one_state());
    if (!read.ok()) return End(read.status());
    read_ = *std::move(read);
    ReadNextPage();
  }

  void OnWriteDone(bool ok) override {
    message_.Clear();  // Counted until here.
    if (!ok) return End(absl::CancelledError("the client is gone"));
    if (last_) return Finish(grpc::Status::OK);
    ReadNextPage();
  }

  void OnCancel() override { call_.Cancel(); }

  void OnDone() override {
    read_ = nullptr;  // With the state it may hold, while the database is there.
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
  ~PageStream() override = default;

  static grpc::Status Stopping() { return StoppingReply(kNothingMore); }

  void ReadNextPage() {
    expected_bytes_ = ExpectedPageBytes(request_);
    if (!call_.calls().memory->TryReserveForStream(expected_bytes_)) {
      return Finish(stopping_ ? Stopping() : CallsFullReply(*call_.calls().memory, kNothingMore));
    }
    began_ = std::chrono::steady_clock::now();
    // The stream may be over before this returns.
    ReadPageOf read = read_;
    read(
        request_, [this](absl::StatusOr<Page> page) { SendPage(std::move(page)); }, call_.cancellation());
  }

  void SendPage(absl::StatusOr<Page> page) {
    Calls& calls = call_.calls();
    calls.memory->Release(expected_bytes_);
    EncodedReply reply;
    int64_t items = -1;
    if (page.ok()) {
      items = ItemsOf(*page);
      last_ = !page->reply.has_last_evaluated_key();
      if (!last_) request_.set_exclusive_start_key(page->reply.last_evaluated_key());
      reply = EncodeReply(*std::move(page), calls.memory, &message_);
    } else {
      reply.status = ToGrpcStatus(page.status());
    }
    // A stream lasts as long as its client likes; what may be slow is a page.
    call_.LogIfSlow(began_, facts_, reply, items);
    if (stopping_) return Finish(Stopping());
    if (!reply.status.ok()) return Finish(std::move(reply.status));
    StartWrite(&message_);
  }

  void End(const absl::Status& status) { Finish(stopping_ ? Stopping() : ToGrpcStatus(status)); }

  StreamCall call_;
  grpc::CallbackServerContext& context_;
  wire::PageRequest request_;
  CallFacts facts_;
  ReadPageOf read_;
  grpc::ByteBuffer message_;
  std::chrono::steady_clock::time_point began_;
  size_t expected_bytes_ = 0;
  bool last_ = false;
  std::atomic<bool> stopping_ = false;
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartPageStream(
    Calls& calls, grpc::CallbackServerContext* context, std::string_view method,
    const grpc::ByteBuffer* request, const std::function<absl::StatusOr<ReadPageOf>(bool one_state)>& begin) {
  auto* stream = new PageStream(calls, *context, method, request->Length());
  stream->Start(*request, begin);
  return stream;
}

}  // namespace itemdb
