#include "daemon/streams/page_stream.h"

#include <algorithm>
#include <utility>

#include "daemon/rpc/grpc_status.h"
#include "daemon/rpc/raw_call.h"
#include "daemon/streams/reply_stream.h"
#include "storage/base/limits.h"

namespace itemdb::daemon {
namespace {

// Bytes reserved for a page before it is read. Once it is read, its real size is counted instead.
size_t ExpectedPageBytes(const wire::PageRequest& request) {
  if (request.select() == v1::SELECT_COUNT) return 0;
  if (!request.has_limit() || request.limit() < 1) return storage::kMaxPageBytes;
  return std::min<size_t>(storage::kMaxPageBytes,
                          static_cast<size_t>(request.limit()) * storage::kMaxItemBytes);
}

class PageStream final : public ReplyStream {
 public:
  PageStream(ServingContext& serving, grpc::CallbackServerContext& context, std::string_view method,
             size_t request_bytes)
      : ReplyStream(serving, context, method, request_bytes) {}

  void Start(const grpc::ByteBuffer& bytes,
             const std::function<absl::StatusOr<ReadPageOf>(bool one_state)>& begin) {
    if (!Enter()) return;
    wire::PageStreamRequest request;
    if (!DecodeRequest(bytes, request)) return End(UndecodableRequest(call().method()));
    request_ = std::move(*request.mutable_page());
    log_fields_ = LogFieldsOf(request_);
    if (absl::Status allowed = call().CheckRequest(request_); !allowed.ok()) return End(allowed);
    absl::StatusOr<ReadPageOf> read = begin(request.one_state());
    if (!read.ok()) return End(read.status());
    read_ = *std::move(read);
    call().TraceSteps();
    MakeNext();
  }

 private:
  ~PageStream() override = default;

  void Release() override { read_ = nullptr; }  // Releases the pinned snapshot that it may hold.

  void MakeNext() override {
    expected_bytes_ = ExpectedPageBytes(request_);
    if (!call().memory()->TryReserveForLargeReply(expected_bytes_)) return EndForMemory();
    began_ = std::chrono::steady_clock::now();
    ReadPageOf read = read_;
    read(
        request_, [this](absl::StatusOr<storage::Page> page) { SendPage(std::move(page)); },
        call().cancellation());
  }

  void SendPage(absl::StatusOr<storage::Page> page) {
    call().memory()->Release(expected_bytes_);
    EncodedReply reply;
    int64_t items = -1;
    bool last = false;
    if (page.ok()) {
      items = ItemsOf(*page);
      last = !page->reply.has_last_evaluated_key();
      if (!last) request_.set_exclusive_start_key(page->reply.last_evaluated_key());
      reply = EncodeReply(*std::move(page), call().memory(), message());
    } else {
      reply.status = ToGrpcStatus(page.status());
    }
    // The log of slow calls judges single pages: the client decides how long the stream lasts.
    call().RecordPart(began_, log_fields_, reply, items);
    Send(std::move(reply.status), last);
  }

  wire::PageRequest request_;
  CallLogFields log_fields_;
  ReadPageOf read_;
  std::chrono::steady_clock::time_point began_;
  size_t expected_bytes_ = 0;
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartPageStream(
    ServingContext& serving, grpc::CallbackServerContext* context, std::string_view method,
    const grpc::ByteBuffer* request, const std::function<absl::StatusOr<ReadPageOf>(bool one_state)>& begin) {
  auto* stream = new PageStream(serving, *context, method, request->Length());
  stream->Start(*request, begin);
  return stream;
}

}  // namespace itemdb::daemon
