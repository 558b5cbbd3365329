// Clients that ask for signs of life.
#include <chrono>
#include <future>

#include "tests/daemon/server_fixture.h"

namespace itemdb::daemon {
namespace {

using grpc::ByteBuffer;

// A watch of the server's health: one message comes, and then none while the server lives.
class QuietStream : public grpc::ClientBidiReactor<ByteBuffer, ByteBuffer> {
 public:
  QuietStream(grpc::GenericStub& stub, std::chrono::milliseconds deadline) {
    context_.set_deadline(std::chrono::system_clock::now() + deadline);
    stub.PrepareBidiStreamingCall(&context_, "/grpc.health.v1.Health/Watch", {}, this);
    StartWriteLast(&request_, {});
    StartRead(&reply_);
    StartCall();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    ++messages_;
    StartRead(&reply_);
  }
  void OnDone(const grpc::Status& status) override { done_.set_value(status); }

  grpc::Status Wait() { return done_.get_future().get(); }
  // After Wait().
  int messages() const { return messages_; }

 private:
  grpc::ClientContext context_;
  grpc::Slice empty_;
  ByteBuffer request_{&empty_, 1};
  ByteBuffer reply_;
  int messages_ = 0;
  std::promise<grpc::Status> done_;
};

// gRPC's default is to disconnect clients that ping more often than every five minutes. Our own pings every
// ten seconds, or every two if a program says so (KeepaliveOptions).
TEST_F(ServerTest, ToleratesAPingASecondWhileItSendsNothing) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 1'200);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  grpc::GenericStub stub(
      grpc::CreateCustomChannel(server_->addresses()[0], grpc::InsecureChannelCredentials(), arguments));
  // The third ping too many ends the connection, and the stream with it.
  QuietStream stream(stub, std::chrono::seconds(6));
  const grpc::Status status = stream.Wait();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << status.error_message();
  EXPECT_EQ(stream.messages(), 1);
}

}  // namespace
}  // namespace itemdb::daemon
