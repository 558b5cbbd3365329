#include "daemon/streams/change_stream.h"

#include <utility>

#include "absl/strings/str_replace.h"
#include "daemon/rpc/raw_call.h"
#include "daemon/streams/reply_stream.h"

namespace itemdb::daemon {
namespace {

constexpr std::string_view kMethod = "itemdb.v1.Changes/Watch";

class ChangeStream final : public ReplyStream {
 public:
  ChangeStream(storage::Database& database, ServingContext& serving, const grpc::ByteBuffer& request,
               grpc::CallbackServerContext& context)
      : ReplyStream(serving, context, kMethod, request.Length()), database_(database) {}

  void Start(const grpc::ByteBuffer& bytes) {
    if (!Enter()) return;
    if (!DecodeRequest(bytes, request_)) return End(UndecodableRequest(kMethod));
    absl::StatusOr<v1::WatchRequest> judged = JudgedRequest();
    if (!judged.ok()) return End(judged.status());
    if (absl::Status allowed = call().CheckRequest(*judged); !allowed.ok()) return End(allowed);
    // A watch without a position begins with the next change.
    if (request_.has_after_sequence()) position_.Behind(request_.after_sequence());
    serving().watches.Add(&position_,
                          {.table_name = std::string(CountedTableName(LogFieldsOf(*judged))),
                           .key_id = call().key_id(),
                           .peer = absl::StrReplaceAll(call().peer(), {{"%5B", "["}, {"%5D", "]"}})});
    MakeNext();
  }

 private:
  ~ChangeStream() override = default;

  // The request by whose table access is decided. With a storage id the database does not look at the name.
  // So the name counts only if the table of this name has this id; otherwise the request may be about any
  // table.
  //
  // UNAVAILABLE: the database is closing or reopening.
  absl::StatusOr<v1::WatchRequest> JudgedRequest() {
    v1::WatchRequest judged = request_;
    if (judged.table_storage_id() == 0) return judged;
    v1::DescribeTableRequest describe;
    describe.set_table_name(judged.table_name());
    const auto described = database_.DescribeTable(describe);
    if (absl::IsUnavailable(described.status())) return described.status();
    if (!described.ok() || described->table().storage_id() != judged.table_storage_id())
      judged.clear_table_name();
    return judged;
  }

  void MakeNext() override {
    // The reply before this one was sent.
    if (has_sent_all_) position_.UpToDate();
    database_.WatchChanges(
        request_, [this](absl::StatusOr<storage::WatchPage> page) { SendPage(std::move(page)); },
        call().cancellation());
  }

  void SendPage(absl::StatusOr<storage::WatchPage> page) {
    if (!page.ok()) return End(page.status());
    const uint64_t sent = request_.after_sequence();
    has_sent_all_ = page->reply.change_sequence() >= page->reply.last_sequence();
    if (!has_sent_all_ || !page->encoded_records.empty()) position_.Behind(sent);
    request_.set_after_sequence(page->reply.change_sequence());
    request_.set_table_storage_id(page->reply.table_storage_id());
    const bool last = page->last;
    // A reply may wait long for its client to read. A stream that is refused memory ends; the client can
    // resume it from its last position.
    CallMemory& memory = *call().memory();
    const size_t bytes = page->encoded_records.size();
    if (bytes > 0 && !memory.TryReserveForLargeReply(bytes)) return EndForMemory();
    EncodedReply reply = EncodeReply(*std::move(page), call().memory(), message());
    // From here on EncodeReply() counts these bytes.
    if (bytes > 0) memory.Release(bytes);
    Send(std::move(reply.status), last);
  }

  void Release() override { serving().watches.Remove(&position_); }

  storage::Database& database_;
  OpenWatches::Position position_;
  // Whether the last reply that was made ends with the last change.
  bool has_sent_all_ = false;
  // The request, with the position from which the next reply continues.
  v1::WatchRequest request_;
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartChangeStream(storage::Database& database,
                                                              ServingContext& serving,
                                                              grpc::CallbackServerContext* context,
                                                              const grpc::ByteBuffer* request) {
  auto* stream = new ChangeStream(database, serving, *request, *context);
  stream->Start(*request);
  return stream;
}

}  // namespace itemdb::daemon
