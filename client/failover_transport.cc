#include "client/failover_transport.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "client/errors_internal.h"

namespace itemdb {
namespace {

bool IsRefusalOfWrites(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  return reason == kReasonStandby || reason == kReasonFenced;
}

// The daemon was not reached, or the connection to it was lost.
bool IsLoss(const absl::Status& status) {
  return (absl::IsUnavailable(status) && ReasonOf(status) != kReasonTableMoving) ||
         (absl::IsUnknown(status) && ReasonOf(status) == kReasonWriteOutcomeUnknown);
}

absl::Status WithCode(absl::StatusCode code, const absl::Status& status) {
  absl::Status changed(code, status.message());
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { changed.SetPayload(url, payload); });
  return changed;
}

}  // namespace

class FailoverTransport::Stream : public MessageStream {
 public:
  Stream(FailoverTransport& owner, size_t index, std::unique_ptr<MessageStream> stream)
      : owner_(owner), index_(index), stream_(std::move(stream)) {}

  void Write(std::string message) override { stream_->Write(std::move(message)); }
  void WritesDone() override { stream_->WritesDone(); }
  absl::StatusOr<std::optional<std::string>> Read(absl::Time deadline) override {
    absl::StatusOr<std::optional<std::string>> message = stream_->Read(deadline);
    if (message.ok()) return message;
    if (IsLoss(message.status())) owner_.Leave(index_);
    if (!IsRefusalOfWrites(message.status())) return message;
    owner_.Leave(index_);
    return WithCode(absl::StatusCode::kUnavailable, message.status());
  }
  void Cancel() override { stream_->Cancel(); }

 private:
  FailoverTransport& owner_;
  const size_t index_;
  const std::unique_ptr<MessageStream> stream_;
};

void FailoverTransport::Leave(size_t index) {
  current_.compare_exchange_strong(index, (index + 1) % transports_.size());
}

Transport::Cancel FailoverTransport::Send(OutgoingCall call, Done done) {
  const size_t index = current_;
  return transports_[index]->Send(std::move(call), [this, index, done = std::move(done)](
                                                       absl::Status status, std::string_view reply) mutable {
    const bool is_refusal = IsRefusalOfWrites(status);
    if (is_refusal || IsLoss(status)) Leave(index);
    std::move(done)(is_refusal ? WithCode(absl::StatusCode::kUnavailable, status) : std::move(status), reply);
  });
}

std::unique_ptr<MessageStream> FailoverTransport::OpenStream(const char* method, size_t read_ahead,
                                                             const std::string& traceparent) {
  const size_t index = current_;
  return std::make_unique<Stream>(*this, index,
                                  transports_[index]->OpenStream(method, read_ahead, traceparent));
}

}  // namespace itemdb
