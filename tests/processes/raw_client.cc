#include "tests/processes/raw_client.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <future>
#include <utility>
#include <vector>

#include "tests/processes/child_process.h"
#include "tests/support/error_details.h"

namespace itemdb::e2e {
namespace {

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string ToString(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(kPatienceMs));
}

RawReply MakeReply(grpc::Status status, const grpc::ByteBuffer& buffer) {
  RawReply reply{.status = std::move(status), .bytes = ToString(buffer), .reason = ""};
  reply.reason = DetailsOf(reply.status).reason;
  return reply;
}

// Sends one message, reads the first reply, then cancels.
class OneExchange : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  OneExchange(grpc::ClientContext* context, const std::string& request)
      : context_(context), request_(ToBuffer(request)) {}

  void Run() {
    StartWrite(&request_);
    StartRead(&answer_);
    StartCall();
  }

  void OnReadDone(bool ok) override {
    answered_ = ok;
    // Without a reply the stream has ended, and its status follows.
    if (ok) context_->TryCancel();
  }

  void OnDone(const grpc::Status& status) override { done_.set_value(answered_ ? grpc::Status::OK : status); }

  RawReply Wait() { return MakeReply(done_.get_future().get(), answer_); }

 private:
  grpc::ClientContext* const context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer answer_;
  bool answered_ = false;
  std::promise<grpc::Status> done_;
};

}  // namespace

RawClient::RawClient(const std::string& endpoint) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  channel_ = grpc::CreateCustomChannel(endpoint, grpc::InsecureChannelCredentials(), arguments);
}

RawReply RawClient::Call(const std::string& method, const std::string& request_bytes) const {
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  SetDeadline(context);
  grpc::ByteBuffer request = ToBuffer(request_bytes);
  grpc::ByteBuffer answer;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, "/" + method, grpc::StubOptions(), &request, &answer,
                 [&done](grpc::Status status) { done.set_value(std::move(status)); });
  return MakeReply(done.get_future().get(), answer);
}

RawReply RawClient::Exchange(const std::string& method, const std::string& request_bytes) const {
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  SetDeadline(context);
  OneExchange exchange(&context, request_bytes);
  stub.PrepareBidiStreamingCall(&context, "/" + method, grpc::StubOptions(), &exchange);
  exchange.Run();
  return exchange.Wait();
}

}  // namespace itemdb::e2e
