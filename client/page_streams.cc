// Client::QueryStream and ScanStream: ranges over pages that the daemon sends on a stream. When the
// connection breaks, the stream is opened again after the last received page.
#include <utility>

#include "client/decode.h"
#include "client/encode.h"
#include "client/errors_internal.h"
#include "client/resumed_stream.h"
#include "common/status_macros.h"

namespace itemdb {
namespace {

// The client receives one page while the program uses the page before.
constexpr size_t kPagesAhead = 1;

// `Request` is QueryRequest or ScanRequest.
template <typename Request>
class StreamedItems {
 public:
  using Decode = absl::StatusOr<ItemPage> (*)(std::string_view, const std::string&);

  StreamedItems(std::shared_ptr<ClientCore> core, const char* method, Request request,
                const StreamOptions& stream_options, CallOptions options, Decode decode)
      : core_(core),
        stream_(std::move(core), method, request.table_name, kPagesAhead, std::move(options)),
        request_(std::move(request)),
        one_state_(stream_options.one_state),
        decode_(decode) {}

  absl::StatusOr<std::optional<Item>> Next() {
    while (used_ == page_.items.size()) {
      if (last_page_) return std::nullopt;
      ITEMDB_RETURN_IF_ERROR(ReadPage());
    }
    return std::move(page_.items[used_++]);
  }

 private:
  absl::Status ReadPage() {
    ITEMDB_RETURN_IF_ERROR(stream_.CheckUsable());
    while (true) {
      if (!stream_.is_open()) {
        ITEMDB_ASSIGN_OR_RETURN(std::string request, EncodeStream(request_, one_state_));
        stream_.Open();
        stream_.Write(std::move(request));
        stream_.WritesDone();
      }
      absl::StatusOr<std::optional<std::string>> message = stream_.Read();
      if (!message.ok()) {
        if (stream_.gave_up()) return message.status();
        if (one_state_ && pages_ > 0) {
          return MakeError(absl::StatusCode::kAborted, kReasonStateTooOld,
                           "the state that all pages were to be of was lost after " + std::to_string(pages_) +
                               " pages: " + MessageOf(message.status()));
        }
        continue;
      }
      if (!message->has_value()) {
        last_page_ = true;
        return absl::OkStatus();
      }
      return Take(**message);
    }
  }

  absl::Status Take(const std::string& message) {
    ITEMDB_ASSIGN_OR_RETURN(ItemPage page, decode_(message, core_->endpoint()));
    ++pages_;
    page_ = std::move(page);
    used_ = 0;
    last_page_ = !page_.last_evaluated_key.has_value();
    request_.exclusive_start_key = std::move(page_.last_evaluated_key);
    return absl::OkStatus();
  }

  const std::shared_ptr<ClientCore> core_;
  ResumedStream stream_;
  // The request for the pages that are still to come.
  Request request_;
  const bool one_state_;
  const Decode decode_;
  ItemPage page_;
  size_t used_ = 0;
  int64_t pages_ = 0;
  bool last_page_ = false;
};

template <typename Request, typename... Rest>
ItemRange Range(std::shared_ptr<ClientCore> core, const char* method, Request request, Rest... rest) {
  auto items = std::make_unique<StreamedItems<Request>>(std::move(core), method, std::move(request),
                                                        std::move(rest)...);
  return ItemRange([items = std::move(items)] { return items->Next(); });
}

}  // namespace

ItemRange Client::QueryStream(QueryRequest request, StreamOptions stream, CallOptions options) const {
  return Range(core_, "/itemdb.v1.Data/QueryStream", std::move(request), stream, std::move(options),
               &DecodeQuery);
}

ItemRange Client::ScanStream(ScanRequest request, StreamOptions stream, CallOptions options) const {
  return Range(core_, "/itemdb.v1.Data/ScanStream", std::move(request), stream, std::move(options),
               &DecodeScan);
}

}  // namespace itemdb
