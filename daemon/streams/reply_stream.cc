#include "daemon/streams/reply_stream.h"

#include <utility>

#include "daemon/rpc/grpc_status.h"

namespace itemdb::daemon {
namespace {

constexpr std::string_view kNothingMore = "nothing more was read";

}  // namespace

bool ReplyStream::Enter() {
  if (grpc::Status entered = call_.Enter(); !entered.ok()) {
    Finish(std::move(entered));
    return false;
  }
  serving().streams.Add(this);
  return true;
}

void ReplyStream::OnWriteDone(bool ok) {
  message_.Clear();  // Its bytes were counted in CallMemory until here.
  if (!ok) return End(absl::CancelledError("the client is gone"));
  if (last_) return Finish(grpc::Status::OK);
  MakeNext();
}

void ReplyStream::OnDone() {
  Release();
  serving().streams.Remove(this);
  call_.Leave();
  delete this;
}

void ReplyStream::Stop() {
  stopping_ = true;
  call_.Cancel();
}

void ReplyStream::Send(grpc::Status status, bool last) {
  if (status.ok()) status = call_.CheckCaller();
  if (stopping_ || !status.ok()) return EndUnlessStopping(std::move(status));
  last_ = last;
  StartWrite(&message_);
}

void ReplyStream::EndForMemory() { EndUnlessStopping(CallsFullReply(*call_.memory(), kNothingMore)); }
void ReplyStream::End(const absl::Status& status) { EndUnlessStopping(ToGrpcStatus(status)); }

void ReplyStream::EndUnlessStopping(grpc::Status status) {
  Finish(stopping_ ? StoppingReply(kNothingMore) : std::move(status));
}

}  // namespace itemdb::daemon
