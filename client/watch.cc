// Client::Watch: change records from a stream that is opened again where it broke.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "client/convert.h"
#include "client/errors_internal.h"
#include "client/resumed_stream.h"
#include "common/status_macros.h"

namespace itemdb {
namespace {

// The client receives one reply while the program uses the reply before.
constexpr size_t kRepliesAhead = 1;

// The daemon sends four replies within the client's timeout; the bounds are those that the daemon accepts.
absl::Duration ProgressInterval(absl::Duration timeout) {
  return std::clamp(timeout / 4, absl::Milliseconds(10), absl::Seconds(5));
}

class WatchedChanges {
 public:
  WatchedChanges(std::shared_ptr<ClientCore> core, const WatchRequest& request, CallOptions options)
      : core_(core),
        on_progress_(request.on_progress),
        own_retries_(options.retry.has_value()),
        stream_(std::move(core), "/itemdb.v1.Changes/Watch", request.table_name, kRepliesAhead, options) {
    if (request.after_sequence.has_value()) request_.set_after_sequence(*request.after_sequence);
    request_.set_table_name(request.table_name);
    request_.set_table_storage_id(request.table_storage_id);
    request_.set_progress_interval_ms(
        static_cast<int32_t>(absl::ToInt64Milliseconds(ProgressInterval(core_->timeout_of(options)))));
  }

  absl::StatusOr<std::optional<ChangeRecord>> Next() {
    while (used_ == records_.size()) {
      if (ended_) return std::nullopt;
      TellPosition();
      ITEMDB_RETURN_IF_ERROR(ReadReply());
    }
    return std::move(records_[used_++]);
  }

 private:
  void TellPosition() {
    if (!std::exchange(moved_, false) || !on_progress_) return;
    on_progress_(
        {.change_sequence = request_.after_sequence(), .table_storage_id = request_.table_storage_id()});
  }

  absl::Status ReadReply() {
    ITEMDB_RETURN_IF_ERROR(stream_.CheckUsable());
    while (true) {
      if (!stream_.is_open()) {
        stream_.Open();
        stream_.Write(request_.SerializeAsString());
        stream_.WritesDone();
      }
      absl::StatusOr<std::optional<std::string>> message = stream_.Read();
      if (message.ok() && !message->has_value()) {
        ended_ = true;
        return absl::OkStatus();
      }
      if (message.ok()) return Take(**message);
      if (stream_.gave_up()) return message.status();
    }
  }

  absl::Status Take(const std::string& message) {
    v1::WatchReply reply;
    if (!reply.ParseFromString(message)) {
      return MakeError(absl::StatusCode::kDataLoss, "DATA_LOSS",
                       "the reply from " + core_->endpoint() + " does not decode");
    }
    records_.clear();
    used_ = 0;
    for (const v1::ChangeRecord& record : reply.records()) {
      ITEMDB_ASSIGN_OR_RETURN(ChangeRecord converted, FromProto(record));
      records_.push_back(std::move(converted));
    }
    request_.set_after_sequence(reply.change_sequence());
    request_.set_table_storage_id(reply.table_storage_id());
    moved_ = true;
    if (!own_retries_) stream_.KeepTrying();
    return absl::OkStatus();
  }

  const std::shared_ptr<ClientCore> core_;
  const std::function<void(const WatchPosition&)> on_progress_;
  const bool own_retries_;
  ResumedStream stream_;
  // The request for the changes that are still to come.
  v1::WatchRequest request_;
  std::vector<ChangeRecord> records_;
  size_t used_ = 0;
  // True if the position has moved since on_progress_ was called.
  bool moved_ = false;
  bool ended_ = false;
};

}  // namespace

ChangeRange Client::Watch(const WatchRequest& request, CallOptions options) const {
  auto changes = std::make_unique<WatchedChanges>(core_, request, std::move(options));
  return ChangeRange([changes = std::move(changes)] { return changes->Next(); });
}

}  // namespace itemdb
